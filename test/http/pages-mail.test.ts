import { describe, expect, it } from 'vitest';
import { checkoutUrl } from '../../src/payment/checkout-url.ts';
import { languages } from '../../src/web/checkout-layout/languages.ts';
import { type CheckoutPages, checkoutStates, usePages } from '../support/checkout-pages.ts';
import { textOf } from '../support/page-text.ts';

let pages: CheckoutPages;
const open = usePages((opened) => (pages = opened), { hasMail: true });

const email = 'jane.doe@example.com';
const put = (state: keyof typeof checkoutStates, own: string | null = null) => {
  const view = checkoutStates[state]();
  return pages.put({ ...view, payment: { ...view.payment, email: own } });
};
const bodyOf = async (id: string) => (await pages.server.inject({ url: `/pay/${id}` })).body;
const give = (id: string, fields: string | Record<string, string>, headers: Record<string, string> = {}) =>
  pages.server.inject({
    method: 'POST',
    url: `/pay/${id}/email`,
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    payload: new URLSearchParams(fields).toString(),
  });

describe('a mail when the payment is done', () => {
  it.each(['taken-by-provider', 'at-provider', 'seen', 'sending', 'delayed', 'paid'] as const)(
    'is offered where the customer has paid: %s, asked for without a script, and confirmed without the address',
    async (state) => {
      const id = put(state);
      expect(await bodyOf(id)).toContain(`action="/pay/${id}/email"`);
      const answer = await give(id, { email: ` ${email.toUpperCase()} ` }, { 'accept-language': 'de' });
      expect([answer.statusCode, answer.headers.location]).toEqual([303, `/pay/${id}#mail`]);
      expect(pages.mails.get(id)).toEqual({ email, language: 'de' });
      const confirmed = await bodyOf(id);
      const words = languages[0]?.words.mail;
      expect(textOf(confirmed)).toContain(state === 'paid' ? words?.coming : words?.told);
      const status = await pages.server.inject({ url: `/pay/${id}/status` });
      for (const seen of [confirmed, status.body, ...pages.logLines])
        expect(seen.toLowerCase()).not.toContain('jane');
      expect(pages.view(id).payment.email).toBeNull();
      expect(checkoutUrl('', pages.view(id).payment)).not.toContain('email');
    },
  );

  it('is offered in no other state, nor without a mail server, nor beside an address of the payment', async () => {
    for (const state of [
      'choose',
      'visit-ended',
      'refused-by-provider',
      'underpaid',
      'canceled',
      'expired',
    ] as const) {
      const id = put(state);
      expect(await bodyOf(id), state).not.toContain('/email"');
      await give(id, { email });
    }
    const own = put('taken-by-provider', 'shop.customer@example.com');
    expect(await bodyOf(own)).not.toContain('/email"');
    expect(textOf(await bodyOf(own))).toContain('Your receipt comes by email.');
    await give(own, { email });
    expect(pages.mails.size).toBe(0);
    await open({});
    expect(await bodyOf(put('taken-by-provider'))).not.toContain('/email"');
    expect((await give(put('taken-by-provider'), { email })).statusCode).toBe(303);
  });

  it.each(['sent', 'failed'] as const)('is neither offered nor announced once it was %s', async (status) => {
    for (const state of ['paid', 'delayed'] as const) {
      const id = put(state);
      pages.mails.set(id, { email, language: 'en', status });
      const body = await bodyOf(id);
      expect(body).not.toContain('/email"');
      expect(textOf(body)).not.toMatch(/by email|email you/);
    }
  });

  it.each([
    '',
    'jane',
    'root@localhost',
    'a@127.0.0.1',
    'a@printer.local',
    'a@b@c',
    'a@example.com,b@example.com',
    'a@example.com\r\nBcc: b@example.com',
    `${'x'.repeat(250)}@x.y`,
  ])('is refused for %j, and for a form of another site', async (typed) => {
    const id = put('taken-by-provider');
    const refused = await give(id, { email: typed });
    expect(refused.statusCode).toBe(400);
    expect(textOf(refused.body)).toContain('Enter an email address such as name@example.com.');
    expect((await give(id, { email }, { 'sec-fetch-site': 'cross-site' })).statusCode).toBe(403);
    expect(pages.mails.size).toBe(0);
  });

  it('is asked for at most five times an hour for a payment, and ten times a day for an address', async () => {
    const id = put('taken-by-provider');
    for (let count = 0; count < 5; count++)
      expect((await give(id, { email: `${count}@example.com` })).statusCode).toBe(303);
    const refused = await give(id, { email: 'last@example.com' });
    expect([refused.statusCode, Number(refused.headers['retry-after'])]).toEqual([429, 3_600]);
    expect(textOf(refused.body)).toContain('Please try again later.');
    expect(pages.mails.get(id)?.email).toBe('4@example.com');
    const others = [];
    for (let count = 0; count < 11; count++)
      others.push((await give(put('taken-by-provider'), { email: `jane+${count}@example.com` })).statusCode);
    expect(others).toEqual([...Array(10).fill(303), 429]);
  });
});
