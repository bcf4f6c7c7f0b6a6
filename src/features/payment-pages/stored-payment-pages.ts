import { PAGE_ID_PREFIX, type Payment } from '../../payment/payment.ts';
import { countableUnits } from '../../payment/payment-statistics.ts';
import type { Table } from '../../store/columns.ts';
import { insertPayment, selectPayments } from '../../store/payments.ts';
import {
  countOf,
  type Fragment,
  lock,
  raw,
  run,
  type Script,
  type Scripts,
  sql,
  tablesIn,
} from '../../store/scripts.ts';
import type { MovedPayment, StoredFeature } from '../../store/stored-feature.ts';
import {
  MAXIMUM_PAGES,
  type PageOfPayment,
  type PagePayment,
  type PaymentPage,
  type PaymentPageStore,
  type UsedPage,
} from './payment-page.ts';

const tables: Table[] = [];
const table = tablesIn(tables);

const paymentPageTable = table<PaymentPage>('reusable_pages', ['id'])(
  {
    text: [
      'id',
      'accountId',
      'slug',
      'title',
      'orderLine',
      'currency',
      'payoutAddress',
      'callbackUrl',
      'question',
    ],
    integer: ['amountCents', 'minimumCents', 'maximumCents', 'endsAtMs', 'stock', 'createdAtMs'],
    flag: ['passFeeToCustomer', 'isAnswerRequired', 'isPaused'],
  },
  {
    renamed: { isAnswerRequired: 'answer_required', isPaused: 'paused' },
    others: { paid: 'integer', received_units: 'integer' },
  },
);

const pagePaymentTable = table<PagePayment>('page_payments', ['payment_id'])({
  text: ['paymentId', 'pageId', 'submission', 'answer'],
  integer: ['heldUntilMs'],
});

export function createPaymentPageStore({ read, write }: Scripts): PaymentPageStore {
  return {
    createPage: write(createPage),
    changePage: write(changePage),
    findPage: read((accountId, id, nowMs) =>
      firstUsed(sql`WHERE account_id = ${accountId} AND id = ${id}`, nowMs),
    ),
    findPageBySlug: read((slug, nowMs) => firstUsed(sql`WHERE slug = ${slug}`, nowMs)),
    listPages: read((accountId, nowMs) =>
      selectUsed(sql`WHERE account_id = ${accountId} ORDER BY created_at_ms DESC, id`, nowMs),
    ),
    createPagePayment: write(createPagePayment),
    findSubmission: read(findSubmission),
    listPagesOf: read(function* (accountId, paymentIds) {
      const rows = yield* run`
        SELECT payment_id AS "paymentId", page_id AS "pageId", slug, title, answer
        FROM page_payments JOIN reusable_pages ON reusable_pages.id = page_id
        WHERE reusable_pages.account_id = ${accountId} AND payment_id = ANY(${paymentIds})`;
      const found = rows as unknown as readonly (PageOfPayment & { readonly paymentId: string })[];
      return new Map(found.map(({ paymentId, ...page }) => [paymentId, page]));
    }),
  };
}

/** Reads pages and their counts in one statement, so that a payment that becomes paid counts only once. */
function* selectUsed(rest: Fragment, nowMs: number): Script<UsedPage[]> {
  const rows = yield* run`
    SELECT ${raw(paymentPageTable.qualifiedNames)}, paid, received_units, (
      SELECT count(*) FROM page_payments
      WHERE page_id = reusable_pages.id AND held_until_ms > ${nowMs}) AS held
    FROM reusable_pages ${rest}`;
  return rows.map((row) => ({
    page: paymentPageTable.ofRow(row),
    paid: Number(row['paid']),
    receivedUnits: BigInt(row['received_units'] as number),
    held: Number(row['held']),
  }));
}

function* firstUsed(rest: Fragment, nowMs: number): Script<UsedPage | null> {
  return (yield* selectUsed(rest, nowMs))[0] ?? null;
}

function* createPage(page: PaymentPage): Script<'created' | 'slug_taken' | 'too_many'> {
  yield* lock(`pages of ${page.accountId}`);
  const pages = yield* countOf`reusable_pages WHERE account_id = ${page.accountId}`;
  if (pages >= MAXIMUM_PAGES) return 'too_many';
  const made = yield* paymentPageTable.insert(page, 'ON CONFLICT (slug) DO NOTHING RETURNING id');
  return made.length === 1 ? 'created' : 'slug_taken';
}

function* changePage(
  accountId: string,
  id: string,
  change: Partial<PaymentPage>,
): Script<PaymentPage | null> {
  yield* lock(pageLock(id));
  const page = yield* paymentPageTable.selectOne`WHERE account_id = ${accountId} AND id = ${id}`;
  if (page === null) return null;
  const changed = { ...page, ...change };
  yield* paymentPageTable.update(changed);
  return changed;
}

const pageLock = (id: string) => `page ${id}`;

function* createPagePayment(
  payment: Payment,
  pagePayment: PagePayment,
  requireOpen: (used: UsedPage) => void,
): Script<Payment | null> {
  const { pageId } = pagePayment;
  yield* lock(pageLock(pageId));
  const earlier = yield* findSubmission(pagePayment);
  if (earlier !== null) return earlier;
  const used = yield* firstUsed(sql`WHERE id = ${pageId}`, payment.createdAtMs);
  if (used === null) throw new Error(`there is no page ${pageId}`);
  requireOpen(used);
  if (!(yield* insertPayment(payment))) return null;
  yield* pagePaymentTable.insert(pagePayment);
  return payment;
}

function* findSubmission({
  pageId,
  submission,
}: Pick<PagePayment, 'pageId' | 'submission'>): Script<Payment | null> {
  const [payment] = yield* selectPayments`
    FROM page_payments JOIN payments ON payments.id = payment_id
    WHERE page_id = ${pageId} AND submission = ${submission}`;
  return payment ?? null;
}

/** Ends the holds of payments that are no longer unpaid, and adds paid payments to the sums of their pages. */
function* endHolds(changes: readonly MovedPayment[]): Script<void> {
  const ended = changes
    .filter(({ before, after }) => before.status === 'unpaid' && after.status !== 'unpaid')
    .flatMap(({ after }) => (after.origin?.startsWith(PAGE_ID_PREFIX) === true ? after : []));
  for (const { id } of ended)
    yield* run`UPDATE page_payments SET held_until_ms = NULL WHERE payment_id = ${id}`;
  const paid = Map.groupBy(
    ended.filter(({ status }) => status === 'paid'),
    ({ origin }) => origin ?? '',
  );
  // Updates pages in id order, so that concurrent transactions cannot deadlock.
  for (const [pageId, payments] of [...paid].sort(([one], [other]) => (one < other ? -1 : 1))) {
    const units = payments.reduce((sum, { receivedUnits }) => sum + countableUnits(receivedUnits), 0);
    yield* run`
      UPDATE reusable_pages SET paid = paid + ${payments.length},
        received_units = received_units + ${countableUnits(units)}
      WHERE id = ${pageId}`;
  }
}

export const storedPaymentPages: StoredFeature = {
  schema: new URL('schema.sql', import.meta.url),
  tables,
  paymentsMoved: endHolds,
  personal: { table: pagePaymentTable, column: 'answer' },
};
