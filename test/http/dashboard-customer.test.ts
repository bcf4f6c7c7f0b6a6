import { expect, it, vi } from 'vitest';
import { newPayment } from '../store/fixtures.ts';
import { PASSWORD } from '../support/dashboard.ts';
import { type TestShop, useShop } from '../support/dashboard-shop.ts';
import { textOf } from '../support/page-text.ts';

const PAGE = '/dashboard/settings/customers';
let { dashboard, account, browser } = {} as TestShop;
useShop((shop) => ({ dashboard, account, browser } = shop));

const give = async (email: string | null, accountId = account.id) => {
  const payment = newPayment(accountId, { email, note: `order for ${email}` });
  await dashboard.store.payments.createPayment(payment, null);
  return payment;
};
const emailOf = async ({ id }: { id: string }) =>
  (await dashboard.store.payments.findPaymentById(id as never))?.email;
const send = (action: 'export' | 'erase', email: string, password = PASSWORD, from = browser) =>
  from.post(`${PAGE}/${action}`, { email, password });

it('exports and erases one customer’s address in all payments of the account, and in no other', async () => {
  const { store, nowMs, giveAccount, logLines } = dashboard;
  const other = await giveAccount();
  const [first, second] = [await give('Jane@Example.com'), await give('jane@example.com')];
  const kept = [
    await give('jane@example.community'),
    await give('mary-jane@example.com'),
    await give('jane@example.com', other.id),
  ];
  const asked = await give(null);
  const askedElsewhere = newPayment(other.id, { email: null });
  await store.payments.createPayment(askedElsewhere, null);
  for (const { id } of [asked, askedElsewhere])
    await store.receipts.askForReceipt(id, { email: 'JANE@example.com', language: 'en' }, nowMs());

  const file = await send('export', ' jane@EXAMPLE.com ');
  expect(file.headers['content-disposition']).toBe('attachment; filename="customer.json"');
  const { payments, is_complete } = JSON.parse(file.payload);
  expect([payments.map((each: { payment_id: string }) => each.payment_id), is_complete]).toEqual([
    [second.id, first.id],
    true,
  ]);
  expect(payments[1]).toMatchObject({
    email: 'Jane@Example.com',
    note: 'order for Jane@Example.com',
    page_answer: null,
    sessions: [],
  });
  expect(file.payload).not.toMatch(/ipn_|community|mary/);
  const older = { email: 'jane@example.com', before: second.id };
  const rest = (await browser.post(`${PAGE}/export`, older)).json();
  expect(rest).toMatchObject({ payments: [{ payment_id: first.id }], is_complete: true });

  const refused = await send('erase', 'jane@example.com', 'wrong');
  expect([refused.statusCode, textOf(refused.payload)]).toEqual([
    400,
    expect.stringContaining('This is incorrect.'),
  ]);
  expect(await emailOf(first)).toBe('Jane@Example.com');
  expect((await send('erase', 'jane@example.com')).headers['location']).toBe(`${PAGE}?flash=erased`);
  expect(await Promise.all([first, second].map(emailOf))).toEqual([null, null]);
  expect(await Promise.all(kept.map(emailOf))).toEqual(kept.map(({ email }) => email));
  const claimed = await store.receipts.eraseAddresses(nowMs(), nowMs() + 1_000, nowMs() + 1_000, 10);
  expect([await store.receipts.findReceiptStatus(asked.id), claimed]).toEqual(['failed', 1]);

  expect(textOf((await send('export', 'jane@example.com')).payload)).toContain(
    'is in no payment of this account',
  );
  const entries = (await store.audit.listEntries(account.id, null, 10)).filter(({ action }) =>
    action.startsWith('customer.'),
  );
  expect(entries).toMatchObject([
    { action: 'customer.erased', target: '2 payments' },
    { action: 'customer.exported', target: '1 payment' },
    { action: 'customer.exported', target: '2 payments' },
  ]);
  expect(`${JSON.stringify(entries)}${logLines.join('')}`.toLowerCase()).not.toContain('jane@');
});

it('finds an address that looks like a link to a payment', async () => {
  const { id } = await give('somebody@example.com');
  const email = `j/pay/${id}?@example.com`;
  const own = await give(email);
  expect((await send('export', email)).payload).toContain(own.id);
  expect((await send('erase', email)).headers['location']).toBe(`${PAGE}?flash=erased`);
  expect(await emailOf(own)).toBeNull();
});

it.each([
  [1_000, true, 'erased'],
  [1_001, false, 'more'],
])('says of %d payments whether all are exported and erased: %s', async (total, is_complete, flash) => {
  const payment = await give('jane@example.com');
  let left = total;
  vi.spyOn(dashboard.store.search, 'searchPayments').mockImplementation(async (_query, _before, limit) => {
    left -= limit;
    return { payments: Array(limit).fill(payment), next: left > 0 ? payment.id : null };
  });
  const file = (await send('export', 'jane@example.com')).json();
  expect(file).toMatchObject({ is_complete, next: is_complete ? null : payment.id });
  expect(file.payments).toHaveLength(1_000);
  left = total;
  expect((await send('erase', 'jane@example.com')).headers['location']).toBe(`${PAGE}?flash=${flash}`);
});

it('asks for one address, and is for owners alone', async () => {
  for (const email of ['', 'jane', 'a@b c@d', `${'x'.repeat(250)}@y.zz`])
    expect((await send('export', email)).statusCode, email).toBe(400);
  const user = await dashboard.giveUser({ accountId: account.id, role: 'developer' });
  const developer = await dashboard.signIn(user);
  expect((await developer.get(PAGE)).statusCode).toBe(403);
});
