import { describe, expect, it } from 'vitest';
import { createPasswordLink } from '../../src/accounts/password-links.ts';
import { PASSWORD } from '../support/dashboard.ts';
import { type TestShop, useShop } from '../support/dashboard-shop.ts';
import { textOf } from '../support/page-text.ts';
import { CUSTOMER_ADDRESS, payWithDeposit } from '../support/refunds.ts';

let { dashboard, user, browser, give } = {} as TestShop;
useShop((shop) => ({ dashboard, user, browser, give } = shop));

/** The wrong fields of a page: each is marked, is described by its error and is linked from the summary; the first has the focus. */
function wrongFieldsIn(page: string): Record<string, string> {
  const marked = [
    ...page.matchAll(/<(?:input|textarea|select|fieldset)[^>]* id="([\w-]+)"[^>]*aria-invalid="true"[^>]*>/g),
  ];
  const [summary = ''] = /<p class="banner bad" role="alert">.*?<\/p>/.exec(page) ?? [];
  expect(marked.map(([field]) => field.includes(' autofocus'))).toEqual(
    marked.map((_, index) => index === 0),
  );
  return Object.fromEntries(
    marked.map(([field, id = '']) => {
      expect(field).toMatch(new RegExp(`aria-describedby="${id}-error\\b`));
      expect(summary).toContain(`href="#${id}"`);
      return [id, new RegExp(`<p class="error" id="${id}-error">([^<]+)`).exec(page)?.[1] ?? ''];
    }),
  );
}

/** A form: its page, what it is sent to below that, its fields, the wrong one with its error, and what stays in it. */
const forms: readonly (readonly [
  page: string,
  action: string,
  fields: Readonly<Record<string, string>>,
  wrong: readonly [id: string, error: string],
  kept: readonly string[],
])[] = [
  [
    '/links',
    '',
    {
      amount: '10000.01',
      currency: 'EUR',
      provider: 'stripe',
      email: 'a@b.example',
      note: 'Table 7',
      address: '0x12',
    },
    ['amount', 'Must be an amount in EUR from 0.01 to 10000.00.'],
    [
      'value="10000.01"',
      '<option selected>EUR',
      'value="stripe" selected',
      'a@b.example',
      'Table 7',
      'value="0x12"',
    ],
  ],
  [
    '/links/direct',
    '',
    { amount: '5', currency: 'USD', note: 'x'.repeat(501), address: CUSTOMER_ADDRESS },
    ['note', 'Must be at most 500 characters long.'],
    ['value="5"', 'x'.repeat(501), CUSTOMER_ADDRESS],
  ],
  [
    '/keys',
    '',
    { name: '', read: '1', password: PASSWORD },
    ['name', 'Must not be empty.'],
    ['name="read" type="checkbox" value="1" checked'],
  ],
  [
    '/keys',
    '',
    { name: 'Till', password: PASSWORD },
    ['scopes', 'Must contain at least one.'],
    ['value="Till"'],
  ],
  [
    '/people',
    '/invite',
    { email: 'no address', role: 'owner', password: PASSWORD },
    ['email', 'This is not valid.'],
    ['value="no address"', 'value="owner" selected'],
  ],
  [
    '/people',
    '/invite',
    { email: 'new@shop.example', role: 'king', password: PASSWORD },
    ['role', 'Does not exist.'],
    ['value="new@shop.example"'],
  ],
  [
    '/security',
    '/passkeys',
    { password: 'wrong', name: 'Laptop', response: '{}' },
    ['password-for-passkey', 'This is incorrect.'],
    ['value="Laptop"'],
  ],
  [
    '/security',
    '/password',
    { password: PASSWORD, new_password: 'short' },
    ['new_password', 'Must have 12 to 200 characters.'],
    [],
  ],
  [
    '/security',
    '/password',
    { password: 'wrong', new_password: 'a new password 1' },
    ['password', 'This is incorrect.'],
    [],
  ],
  [
    '/security',
    '/second-factor',
    { password: 'wrong', code: '123456', sealed: 'x' },
    ['password', 'This is incorrect.'],
    [],
  ],
];

describe('a form with a wrong field', () => {
  it.each(forms)(
    'of %s%s says so at the field, and keeps the rest but secrets: %j',
    async (at, action, fields, [id, error], kept) => {
      const answer = await browser.post(`/dashboard${at}${action}`, fields);
      expect([answer.statusCode, wrongFieldsIn(answer.payload)]).toEqual([400, { [id]: error }]);
      for (const text of kept) expect(answer.payload).toContain(text);
      for (const secret of ['password', 'new_password', 'code'])
        if (fields[secret]) expect(answer.payload).not.toContain(`value="${fields[secret]}"`);
    },
  );

  it('of a refund stays open on the payment’s page', async () => {
    const payment = await give();
    await payWithDeposit(dashboard.store, payment, 25_000_000n);
    const page = `/dashboard/payments/${payment.id}`;
    const open = (fields: Record<string, string>) =>
      browser.post(`${page}/refunds`, { ...fields, password: PASSWORD });
    const typed = { amount: 'all', reason: 'Wrong size', destination: '0x12' };
    const answer = await open(typed);
    expect(wrongFieldsIn(answer.payload)).toEqual({
      destination: 'Must be a Polygon address: 0x and 40 hex digits, with a correct checksum.',
    });
    for (const value of Object.values(typed)) expect(answer.payload).toContain(`value="${value}"`);
    expect(answer.payload).toContain('<details open><summary>Open a refund');
    expect(answer.payload).not.toContain('<details open><summary>Cancel');
    const { payload } = await open({ amount: '1.234567891', destination: CUSTOMER_ADDRESS });
    expect(Object.keys(wrongFieldsIn(payload))).toEqual(['amount']);
  });

  it('of the transaction of a refund keeps the hash that was typed', async () => {
    const payment = await give();
    await payWithDeposit(dashboard.store, payment, 25_000_000n);
    const page = `/dashboard/payments/${payment.id}`;
    const refund = { amount: 'all', destination: CUSTOMER_ADDRESS, password: PASSWORD };
    await browser.post(`${page}/refunds`, refund);
    const [, path = ''] = /action="(\S+\/transaction)"/.exec((await browser.get(page)).payload) ?? [];
    const { payload } = await browser.post(path, { transaction: '0x12' });
    const [wrong] = Object.entries(wrongFieldsIn(payload));
    expect(wrong).toEqual([
      expect.stringMatching(/^transaction-/),
      'Must be a transaction hash: 0x and 64 hex digits.',
    ]);
    expect(payload).toContain('name="transaction" type="text" value="0x12"');
  });

  it.each(['note', 'settlement'])('of a payment’s %s keeps the note that was typed', async (kind) => {
    const payment = await give({ note: 'stored' });
    await payWithDeposit(dashboard.store, payment, 1_000_000n, {
      status: 'unpaid',
      forwardStatus: 'pending',
      paidAtMs: null,
      amountMismatch: 'partially_paid',
    });
    const page = `/dashboard/payments/${payment.id}`;
    const { payload } = await browser.post(`${page}/${kind}`, { note: 'y'.repeat(501) });
    const id = kind === 'note' ? 'note' : 'settlement-note';
    expect(wrongFieldsIn(payload)).toEqual({ [id]: 'Must be at most 500 characters long.' });
    expect(payload).toContain('y'.repeat(501));
  });

  it('that changes second factors opens at the password or the code that is wrong', async () => {
    const page = '/dashboard/security';
    const [, sealed = ''] =
      /name="sealed" value="([^"]+)"/.exec((await browser.get(`${page}/second-factor`)).payload) ?? [];
    const fields = { sealed, code: '000000', password: PASSWORD };
    const refused = await browser.post(`${page}/second-factor`, fields);
    expect(wrongFieldsIn(refused.payload)).toEqual({
      code: 'This is wrong. Check that the clock of your device is correct.',
    });
    const totpSecret = dashboard.context.secondFactor.box.seal('JBSWY3DPEHPK3PXP', user.id);
    await dashboard.store.people.updateUser(user.id, { totpSecret });
    for (const path of ['recovery-codes', 'remove-second-factor']) {
      for (const [fields, wrong] of [
        [{ password: 'wrong', code: '123456' }, `password-for-${path}`],
        [{ password: PASSWORD, code: '000000' }, `code-to-confirm-for-${path}`],
      ] as const) {
        const answer = await browser.post(`${page}/${path}`, fields);
        expect([answer.statusCode, Object.keys(wrongFieldsIn(answer.payload))]).toEqual([400, [wrong]]);
        expect(answer.payload.match(/<details open>/g)).toHaveLength(1);
      }
    }
    const question = dashboard.newBrowser();
    const signIn = { email: user.email, password: PASSWORD };
    await question.post('/dashboard/sign-in', signIn);
    const asked = await question.post('/dashboard/second-factor', { code: '000000' });
    const error = 'The code is wrong or was already used. Wait for the next one.';
    expect([asked.statusCode, textOf(asked.payload).split(error).length]).toEqual([401, 2]);
    expect(asked.payload).toContain('aria-describedby="code-error');
  });

  it('that signs in keeps the address, and not the password', async () => {
    const fields = { email: 'nobody@shop.example', password: 'a password 123' };
    const { statusCode, payload } = await dashboard.newBrowser().post('/dashboard/sign-in', fields);
    expect([statusCode, textOf(payload).includes('Incorrect email or password.')]).toEqual([401, true]);
    expect(payload).toContain(`value="${fields.email}"`);
    expect(payload).not.toContain(fields.password);
  });

  it('that filters the payments or picks a month keeps what was typed', async () => {
    const filtered = await browser.get('/dashboard/payments?q=two+cakes&currency=EUR&from=yesterday');
    expect(filtered.statusCode).toBe(400);
    expect(textOf(filtered.payload)).toMatch(
      /Created from must be a date like 2026-11-21.*Must be a date like 2026-11-21\./,
    );
    expect(filtered.payload).toMatch(/<input id="from"[^>]*value="yesterday"[^>]*aria-invalid="true"/);
    for (const kept of ['value="two cakes"', '<option value="EUR" selected>', '<details open>'])
      expect(filtered.payload).toContain(kept);
    const month = await browser.get('/dashboard/statement?month=2026-13');
    expect(month.statusCode).toBe(400);
    expect(month.payload).toMatch(/<input id="month"[^>]*value="2026-13"[^>]*aria-invalid="true"/);
    expect(textOf(month.payload)).toContain('The month must be a month like 2026-11.');
    expect((await browser.get('/dashboard/journal.csv?month=2026-13')).statusCode).toBe(400);
  });

  it('of a link to set a password, and of one that fits no field, says why', async () => {
    const link = `/dashboard/password/${await createPasswordLink(dashboard.context, user, 'forgotten')}`;
    const poor = await dashboard.newBrowser().post(link, { new_password: 'short' });
    expect(wrongFieldsIn(poor.payload)).toEqual({ new_password: 'Must have 12 to 200 characters.' });
    const last = await browser.post(`/dashboard/people/${user.id}`, { role: 'none', password: PASSWORD });
    expect(wrongFieldsIn(last.payload)).toEqual({});
    expect(textOf(last.payload)).toContain('The account needs an owner');
  });
});
