import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMemoryStore, type FulfilmentStore, fulfilOnce } from './fulfil-once.ts';
import type { PaymentStatus } from './wire.ts';

const paid = {
  payment_id: '01a1fbd7-b7b3-7002-be38-5df3e4ebf9f4',
  status: 'paid',
  amount: '25.00',
  currency: 'USD',
} as PaymentStatus;

function clientOf(payment: PaymentStatus) {
  return { payments: { retrieve: async () => payment } };
}

/** Creates a minimal database whose writes become visible on commit. A crash is simulated as an error. */
function createDatabase() {
  const fulfilled: string[] = [];
  const marks = new Set<string>();
  let last: Promise<unknown> = Promise.resolve();
  let crashAt: 'never' | 'before' | 'within' | 'commit' = 'never';
  const crash = (moment: typeof crashAt) => {
    if (crashAt !== moment) return;
    crashAt = 'never';
    throw new Error(`crashed ${moment}`);
  };
  async function transaction(
    paymentId: string,
    work: (write: (text: string) => void) => Promise<void> | void,
  ) {
    crash('before');
    if (marks.has(paymentId)) return false;
    const written: string[] = [];
    await work((text) => {
      written.push(text);
      crash('within');
    });
    crash('commit');
    marks.add(paymentId);
    fulfilled.push(...written);
    return true;
  }
  const store: FulfilmentStore<(text: string) => void> = {
    runOnce(paymentId, work) {
      const next = last.then(() => transaction(paymentId, work));
      last = next.catch(() => {});
      return next;
    },
  };
  return {
    store,
    fulfilled,
    crashNext(moment: typeof crashAt) {
      crashAt = moment;
    },
  };
}

describe('fulfilOnce', () => {
  const fulfil = (write: (text: string) => void, payment: PaymentStatus) => write(payment.payment_id);

  it('fulfils once, however many calls come at the same time and wherever some of them crash', async () => {
    const moments = fc.constantFrom(
      'never' as const,
      'before' as const,
      'within' as const,
      'commit' as const,
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(moments, { minLength: 1, maxLength: 4 }), { maxLength: 6 }),
        async (rounds) => {
          const { store, fulfilled, crashNext } = createDatabase();
          const options = { client: clientOf(paid), payment: paid.payment_id, fulfil };
          const outcomes: string[] = [];
          for (const round of rounds) {
            const calls = round.map((moment) => {
              crashNext(moment);
              return fulfilOnce(store, options).then(
                ({ outcome }) => void outcomes.push(outcome),
                () => {},
              );
            });
            await Promise.all(calls);
          }
          crashNext('never');
          outcomes.push((await fulfilOnce(store, options)).outcome);
          expect(fulfilled).toEqual([paid.payment_id]);
          expect(outcomes.filter((outcome) => outcome === 'fulfilled')).toHaveLength(1);
        },
      ),
    );
  });

  it.each(['unpaid', 'canceled'] as const)('does nothing while the service says %s', async (status) => {
    const { store, fulfilled } = createDatabase();
    const client = clientOf({ ...paid, status });
    const { outcome } = await fulfilOnce(store, { client, payment: paid.payment_id, fulfil });
    expect(outcome).toBe('not_paid');
    expect(fulfilled).toEqual([]);
  });

  it('fulfils nothing for another amount than the order asks for, and takes 25 for 25.00', async () => {
    const { store, fulfilled } = createDatabase();
    const attempt = (expected: { amount?: string; currency?: string }) =>
      fulfilOnce(store, { client: clientOf(paid), payment: paid.payment_id, expected, fulfil });
    for (const expected of [{ amount: '2.50' }, { amount: '250' }, { currency: 'EUR' }, { amount: 'much' }]) {
      await expect(attempt(expected)).rejects.toThrow();
    }
    expect(fulfilled).toEqual([]);
    expect((await attempt({ amount: '25', currency: 'USD' })).outcome).toBe('fulfilled');
  });

  it('fulfils nothing when the service cannot be asked', async () => {
    const { store, fulfilled } = createDatabase();
    const client = { payments: { retrieve: () => Promise.reject(new Error('down')) } };
    await expect(fulfilOnce(store, { client, payment: paid.payment_id, fulfil })).rejects.toThrow('down');
    expect(fulfilled).toEqual([]);
  });
});

describe('the memory store', () => {
  it('lets one of many run, and another one after a failure', async () => {
    const store = createMemoryStore();
    let runs = 0;
    const fail = store.runOnce('a', () => Promise.reject(new Error('first')));
    const others = [1, 2, 3].map(() => store.runOnce('a', () => void runs++));
    await expect(fail).rejects.toThrow('first');
    expect((await Promise.all(others)).filter((hasRun) => hasRun)).toHaveLength(1);
    expect(runs).toBe(1);
  });

  it('refuses more payments than it may hold rather than forgetting one', async () => {
    const store = createMemoryStore(1);
    expect(await store.runOnce('a', () => {})).toBe(true);
    await expect(store.runOnce('b', () => {})).rejects.toThrow('holds 1 payments');
    expect(await store.runOnce('a', () => {})).toBe(false);
  });
});
