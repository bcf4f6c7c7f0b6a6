import { describe, expect, it } from 'vitest';
import { ApiError } from './errors.ts';
import { type OpenOrder, pollIntervalMs, type ReconcileOptions, reconcile } from './reconcile.ts';
import type { PaymentStatus } from './wire.ts';

const minuteMs = 60_000;
const startMs = 1_800_000_000_000;

/** Runs `reconcile` for `durationMs` on a simulated clock, with orders created at the start. */
async function run(
  durationMs: number,
  orders: OpenOrder[],
  answer: (paymentId: string, atMs: number) => Partial<PaymentStatus>,
  more: Partial<ReconcileOptions> = {},
) {
  const asked: { paymentId: string; atMs: number }[] = [];
  const errors: unknown[] = [];
  const abort = new AbortController();
  let nowMs = startMs;
  await reconcile({
    listOpenOrders: () => orders,
    onPaid: ({ payment_id }) => {
      orders.splice(
        orders.findIndex(({ paymentId }) => paymentId === payment_id),
        1,
      );
    },
    onError: (error) => void errors.push(error),
    client: {
      payments: {
        retrieve: async (query) => {
          const paymentId = query as string;
          asked.push({ paymentId, atMs: nowMs - startMs });
          return { payment_id: paymentId, ...answer(paymentId, nowMs - startMs) } as PaymentStatus;
        },
      },
    },
    signal: abort.signal,
    nowMs: () => nowMs,
    random: () => 0.5,
    wait: async (ms) => {
      nowMs += ms;
      if (nowMs - startMs >= durationMs) abort.abort();
    },
    ...more,
  });
  return { asked, errors };
}

const order = (paymentId: string): OpenOrder => ({ paymentId, createdAt: new Date(startMs) });

describe('reconcile', () => {
  it('asks every few minutes in the first hour, and seldom after it', async () => {
    const { asked } = await run(24 * 60 * minuteMs, [order('a')], () => ({ status: 'unpaid' }));
    const inFirstHour = asked.filter(({ atMs }) => atMs < 60 * minuteMs).length;
    expect(inFirstHour).toBeGreaterThanOrEqual(12);
    expect(inFirstHour).toBeLessThanOrEqual(20);
    expect(asked.length - inFirstHour).toBeGreaterThan(30);
    expect(asked.length - inFirstHour).toBeLessThanOrEqual(46);
    expect(pollIntervalMs(48 * 60 * minuteMs)).toBe(6 * 60 * minuteMs);
  });

  it('finds a payment whose webhook was missed within minutes, once', async () => {
    const paidFromMs = 10 * minuteMs;
    const { asked } = await run(60 * minuteMs, [order('a')], (_, atMs) => ({
      status: atMs >= paidFromMs ? 'paid' : 'unpaid',
    }));
    const late = asked.filter(({ atMs }) => atMs >= paidFromMs);
    expect(late).toHaveLength(1);
    expect(late[0]?.atMs).toBeLessThan(paidFromMs + 5 * minuteMs);
  });

  it('leaves most of the rate limit to others', async () => {
    const orders = Array.from({ length: 500 }, (_, index) => order(String(index)));
    const { asked } = await run(30 * minuteMs, orders, () => ({ status: 'unpaid' }));
    expect(asked.length).toBeGreaterThan(400);
    for (let minute = 0; minute < 30; minute++) {
      const within = asked.filter(({ atMs }) => Math.floor(atMs / minuteMs) === minute);
      expect(within.length).toBeLessThanOrEqual(30);
    }
  });

  it('goes on when an order, the list or the service fails, and waits as long as it is asked to', async () => {
    let lists = 0;
    const { asked, errors } = await run(
      20 * minuteMs,
      [order('a'), order('b')],
      (paymentId) => {
        if (paymentId === 'a') {
          throw new ApiError('', { status: 429, code: null, retryAfter: 60, requestId: null });
        }
        return { status: 'unpaid' };
      },
      {
        listOpenOrders: () => {
          if (lists++ % 2 === 1) throw new Error('the database is away');
          return [order('a'), order('b')];
        },
      },
    );
    expect(asked.filter(({ paymentId }) => paymentId === 'b').length).toBeGreaterThan(3);
    expect((asked[1]?.atMs ?? 0) - (asked[0]?.atMs ?? 0)).toBeGreaterThanOrEqual(minuteMs);
    expect(errors.some((error) => error instanceof ApiError)).toBe(true);
    expect(errors.some((error) => error instanceof Error && /database/.test(error.message))).toBe(true);
  });

  it('tells of canceled payments', async () => {
    const canceled: string[] = [];
    await run(minuteMs, [order('a')], () => ({ status: 'canceled' }), {
      onCanceled: ({ payment_id }) => void canceled.push(payment_id),
    });
    expect(canceled).toEqual(['a']);
  });

  it('ends at once when it is told to, also while it waits', async () => {
    const abort = new AbortController();
    const running = reconcile({
      client: { payments: { retrieve: () => Promise.reject(new Error('not asked')) } },
      listOpenOrders: () => [],
      onPaid: () => {},
      signal: abort.signal,
    });
    abort.abort();
    await running;
  });
});
