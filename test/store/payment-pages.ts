import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  HOLD_MS,
  MAXIMUM_PAGES,
  type PagePayment,
  type PaymentPage,
  type UsedPage,
} from '../../src/features/payment-pages/payment-page.ts';
import type { Payment } from '../../src/payment/payment.ts';
import { parsePaymentSearch } from '../../src/payment/payment-search.ts';
import { atOnce, DAY_MS, giveAccount, NOW_MS, newPayment, pay, type StoreContext } from './fixtures.ts';

let made = 0;

/** A page with every field filled in. */
export function newPage(accountId: string, change: Partial<PaymentPage> = {}): PaymentPage {
  made++;
  return {
    id: `page_${made}`,
    accountId,
    slug: `tea-${made}`,
    title: 'Tea “tasting”',
    orderLine: 'One place',
    currency: 'EUR',
    amountCents: null,
    minimumCents: 500,
    maximumCents: 5_000,
    passFeeToCustomer: true,
    payoutAddress: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    callbackUrl: 'https://shop.example.com/hook',
    endsAtMs: NOW_MS + DAY_MS,
    stock: 3,
    question: 'Which tea?',
    isAnswerRequired: true,
    isPaused: false,
    createdAtMs: NOW_MS + made,
    ...change,
  };
}

export function paymentPagePromises(context: StoreContext): void {
  const { store } = context;
  const pagesOf = () => store.paymentPages;

  async function givePage(change: Partial<PaymentPage> = {}): Promise<PaymentPage> {
    const account = await giveAccount(context.store);
    const page = newPage(account.id, change);
    expect(await pagesOf().createPage(page)).toBe('created');
    return page;
  }

  const paymentOf = (page: PaymentPage, change: Partial<Payment> = {}) =>
    newPayment(page.accountId, { origin: page.id, email: null, ...change });

  const submissionOf = (
    page: PaymentPage,
    payment: Payment,
    change: Partial<PagePayment> = {},
  ): PagePayment => ({
    paymentId: payment.id,
    pageId: page.id,
    submission: `submission ${payment.id}`,
    answer: 'Sencha, to Jane Doe',
    heldUntilMs: payment.createdAtMs + HOLD_MS,
    ...change,
  });

  const withinStock = ({ page, paid, held }: UsedPage) => {
    if (page.stock !== null && paid + held >= page.stock) throw new Error('no place is left');
  };

  const submit = async (page: PaymentPage, payment = paymentOf(page), change: Partial<PagePayment> = {}) =>
    (await pagesOf().createPagePayment(payment, submissionOf(page, payment, change), withinStock)) as Payment;

  const used = async (page: PaymentPage, nowMs = NOW_MS) => {
    const { paid, held } = (await pagesOf().findPage(page.accountId, page.id, nowMs)) as UsedPage;
    return { paid, held };
  };

  it('are kept with all their fields, and found by account and id, and by slug', async () => {
    const page = await givePage();
    await context.reopen();
    const stored = { page, paid: 0, receivedUnits: 0n, held: 0 };
    expect(await pagesOf().findPage(page.accountId, page.id, NOW_MS)).toEqual(stored);
    expect(await pagesOf().findPage('another account', page.id, NOW_MS)).toBeNull();
    expect(await pagesOf().findPageBySlug(page.slug, NOW_MS)).toEqual(stored);
    expect(await pagesOf().findPageBySlug('another', NOW_MS)).toBeNull();
    const newer = newPage(page.accountId);
    await pagesOf().createPage(newer);
    const listed = await pagesOf().listPages(page.accountId, NOW_MS);
    expect(listed.map(({ page: { id } }) => id)).toEqual([newer.id, page.id]);
  });

  it('have a slug that no other page of any account has, also when both are created at once', async () => {
    const [one, other] = [await givePage(), await givePage()];
    const outcomes = await Promise.all(
      [one, other, one, other].map(({ accountId }) =>
        pagesOf().createPage(newPage(accountId, { slug: 'the-same' })),
      ),
    );
    expect(outcomes.toSorted()).toEqual(['created', 'slug_taken', 'slug_taken', 'slug_taken']);
  });

  it('are a bounded number in each account, also when many are created at once', async () => {
    const { accountId } = await givePage();
    const outcomes = await atOnce(MAXIMUM_PAGES + 5, () => pagesOf().createPage(newPage(accountId)));
    expect(outcomes.filter((outcome) => outcome === 'created')).toHaveLength(MAXIMUM_PAGES - 1);
    expect(await pagesOf().listPages(accountId, NOW_MS)).toHaveLength(MAXIMUM_PAGES);
  });

  it('change without losing their takings or what another change wrote', async () => {
    const page = await givePage();
    await store.payments.decidePayment((await submit(page)).id, pay);
    await Promise.all([
      pagesOf().changePage(page.accountId, page.id, { isPaused: true }),
      pagesOf().changePage(page.accountId, page.id, { title: 'Another', stock: null }),
    ]);
    expect(await pagesOf().changePage('another account', page.id, { title: 'No' })).toBeNull();
    expect(await pagesOf().findPage(page.accountId, page.id, NOW_MS)).toMatchObject({
      page: { ...page, isPaused: true, title: 'Another', stock: null },
      paid: 1,
    });
  });

  it('make one payment of one submission, however often it is sent at once', async () => {
    const page = await givePage();
    const stored = await atOnce(8, () => submit(page, paymentOf(page), { submission: 'the same form' }));
    expect(new Set(stored.map(({ id }) => id)).size).toBe(1);
    expect(await used(page)).toEqual({ paid: 0, held: 1 });
    const key = { accountId: page.accountId, pageId: page.id, submission: 'the same form' };
    expect((await pagesOf().findSubmission(key))?.id).toBe(stored[0]?.id);
    expect(await pagesOf().findSubmission({ ...key, pageId: 'page_another' })).toBeNull();
    expect(await store.payments.listByOrigin(page.accountId, page.id, 10)).toHaveLength(1);
    const [slot] = await store.search.listSlots(page.accountId, NOW_MS - DAY_MS, NOW_MS + DAY_MS, DAY_MS);
    expect(slot).toMatchObject({ created: 1 });
    const search = parsePaymentSearch('102.57');
    const query = { accountId: page.accountId, ...(search === null ? {} : { search }) };
    expect((await store.search.searchPayments(query, null, 10)).payments).toHaveLength(1);
  });

  it('never hold and sell more than their stock, however many submissions, payments and cancellations meet', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 5 }),
        fc.array(fc.constantFrom('submit', 'submit', 'pay', 'cancel'), { minLength: 5, maxLength: 25 }),
        async (stock, actions) => {
          const page = await givePage({ stock });
          const submitted: Promise<Payment | null>[] = [];
          const seen: number[] = [];
          await Promise.all(
            actions.map(async (action) => {
              if (action === 'submit') {
                const made = submit(page).catch(() => null);
                submitted.push(made);
                await made;
              } else {
                // Of a submission that is still under way.
                const payment = (await submitted.pop()) ?? null;
                if (payment === null) return;
                await store.payments.decidePayment(payment.id, (view) =>
                  action === 'pay'
                    ? pay(view)
                    : { change: { status: 'canceled', forwardStatus: 'canceled', cancelReason: 'merchant' } },
                );
              }
              const { paid, held } = await used(page);
              seen.push(paid + held);
            }),
          );
          expect(Math.max(0, ...seen)).toBeLessThanOrEqual(stock);
          const payments = await store.payments.listByOrigin(page.accountId, page.id, 100);
          const count = (status: string) => payments.filter((payment) => payment.status === status).length;
          expect(await used(page)).toEqual({ paid: count('paid'), held: count('unpaid') });
        },
      ),
      { numRuns: 15 },
    );
  });

  it('sum what their payments received, once for each payment, whatever a token moved', async () => {
    const page = await givePage({ stock: null });
    const [one, two] = [await submit(page), await submit(page)];
    const payWith = (payment: Payment, receivedUnits: bigint) =>
      store.payments.decidePayment(payment.id, () => ({
        change: { status: 'paid', forwardStatus: 'completed', paidAtMs: NOW_MS, receivedUnits },
      }));
    for (const payment of [one, one, two]) await payWith(payment, 2_000_000n);
    expect((await pagesOf().findPage(page.accountId, page.id, NOW_MS))?.receivedUnits).toBe(4_000_000n);
    await payWith(await submit(page), 2n ** 256n - 1n);
    expect(await used(page)).toEqual({ paid: 3, held: 0 });
  });

  it('are named for those payments of an account that were made on them, with the answer', async () => {
    const page = await givePage();
    const payment = await submit(page);
    const other = paymentOf(page, { origin: null });
    await store.payments.createPayment(other, null);
    const ids = [payment.id, other.id];
    const { id: pageId, slug, title } = page;
    expect([...(await pagesOf().listPagesOf(page.accountId, ids))]).toEqual([
      [payment.id, { pageId, slug, title, answer: 'Sencha, to Jane Doe' }],
    ]);
    expect((await pagesOf().listPagesOf('another account', ids)).size).toBe(0);
  });
}
