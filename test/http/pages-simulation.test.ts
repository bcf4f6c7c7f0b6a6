import { beforeEach, describe, expect, it } from 'vitest';
import { ServiceError } from '../../src/payment/errors.ts';
import type { Outcome } from '../../src/payment/test-payments.ts';
import { checkoutStates, createCheckoutPages } from '../support/checkout-pages.ts';

const played: [string, Outcome][] = [];
const pages = createCheckoutPages({
  isTestMode: true,
  simulateOutcome: async ({ id }, outcome) => {
    if (outcome === 'slow-chain') throw new ServiceError('chain_unreachable');
    played.push([id, outcome]);
  },
});
const live = createCheckoutPages();
beforeEach(() => {
  played.length = 0;
});

type State = keyof typeof checkoutStates;
const put = (state: State = 'choose', of = pages) => of.put(checkoutStates[state]());
const press = (id: string, outcome: string, headers: Record<string, string> = {}, of = pages) =>
  of.server.inject({
    method: 'POST',
    url: `/pay/${id}/outcomes/${outcome}`,
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
  });
const buttonsOf = (body: string) =>
  [...body.matchAll(/formaction="\/pay\/[^"]*\/outcomes\/([\w-]+)"/g)].map(([, name]) => name);

describe('the panel of outcomes', () => {
  it('has a button for each while the payment can be paid, and is a plain form', async () => {
    const { body } = await pages.server.inject(`/pay/${put()}`);
    expect(buttonsOf(body)).toEqual(['paid', 'declined', 'too-little', 'late', 'twice', 'slow-chain']);
    const single = await pages.server.inject(`/pay/${put('choose-single')}`);
    expect(buttonsOf(single.body), 'paying twice takes two providers').not.toContain('twice');
    const paid = await pages.server.inject(`/pay/${put('paid')}`);
    expect(buttonsOf(paid.body)).toEqual([]);
  });

  it('plays what was pressed and leads back to the checkout', async () => {
    const id = put();
    const answer = await press(id, 'too-little');
    expect([answer.statusCode, answer.headers.location]).toEqual([303, `/pay/${id}`]);
    expect(played).toEqual([[id, 'too-little']]);
  });

  it('says so on the page when something cannot be played', async () => {
    const answer = await press(put(), 'slow-chain');
    expect(answer.statusCode).toBe(503);
    expect(answer.body).toContain('The payment network cannot be reached');
  });

  it('plays nothing for another site, for a payment that is over, unknown ones and unknown outcomes', async () => {
    expect((await press(put(), 'paid', { 'sec-fetch-site': 'cross-site' })).statusCode).toBe(400);
    expect((await press(put(), 'paid', { origin: 'https://evil.example' })).statusCode).toBe(400);
    expect((await press(put('paid'), 'paid')).statusCode).toBe(303);
    expect((await press('unknown', 'paid')).statusCode).toBe(404);
    for (const outcome of ['refund', 'toString', '__proto__'])
      expect((await press(put(), outcome)).statusCode).toBe(404);
    expect((await press(put('choose-single'), 'twice')).statusCode).toBe(404);
    expect((await pages.server.inject(`/pay/${put()}/outcomes/paid`)).statusCode, 'by a link').toBe(405);
    expect(played).toEqual([]);
  });

  it('does not exist in live mode: no button on any page, no address', async () => {
    for (const state of Object.keys(checkoutStates) as State[]) {
      const id = put(state, live);
      const { body } = await live.server.inject(`/pay/${id}`);
      expect(body).not.toMatch(/\/outcomes\/|simulate an outcome/);
      expect((await press(id, 'paid', {}, live)).statusCode).toBe(404);
    }
  });
});
