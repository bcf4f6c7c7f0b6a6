import fc from 'fast-check';
import { expect, it } from 'vitest';
import { newAccount } from '../../test/store/fixtures.ts';
import { createPayment } from '../payment/create-payment.ts';
import { USD_RATE_ONE } from '../payment/money.ts';
import type { ChainObservations, Deposit, Payment } from '../payment/payment.ts';
import { createPaymentIdGenerator } from '../payment/payment-id.ts';
import type { Decide, PaymentStore } from '../payment/payment-store.ts';
import { type ExpirePaymentsContext, expirePayments } from './expire-payments.ts';
import type { ObservationStore } from './settlement-store.ts';

const START_MS = Date.UTC(2026, 10, 20);
const EXPIRY_MS = 10;
const ADDRESS = '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359';

const account = newAccount({ createdAtMs: START_MS });

/** Creates an in-memory store of payments, deposits and the expiry watermark. */
function createWorld(nowMs: () => number) {
  const payments = new Map<string, Payment>();
  const visits = new Map<string, number>();
  const deposits = new Map<string, ChainObservations['deposits']>();
  let watermark = '';
  let cursorMs = START_MS;
  let rescannedMs = Number.POSITIVE_INFINITY;
  const newPaymentId = createPaymentIdGenerator(nowMs);
  const revisited: string[] = [];
  const observationsOf = (id: string): ChainObservations => ({
    deposits: deposits.get(id) ?? [],
    releases: [],
    finalBlock: 1,
  });
  const context: ExpirePaymentsContext = {
    sweep: async (addresses) => addresses.map(() => 0n),
    rescannedTo: () => ({ number: 1, hash: '0x1', timestampMs: rescannedMs }),
    payments: {
      viewPayment: async (id: string) => ({
        payment: payments.get(id) as Payment,
        observations: observationsOf(id),
        sessions: [],
      }),
      listPastDeadline: async () => [],
      listPaymentIds: async (after: string, below: string, limit: number) =>
        [...payments.keys()]
          .filter((id) => id > after && id < below)
          .sort()
          .slice(0, limit),
    } as unknown as PaymentStore,
    observations: {
      readCursor: async () => ({ number: 1, hash: '0x1', timestampMs: cursorMs }),
      readExpiryWatermark: async () => watermark,
      async advanceExpiryWatermark(ids: readonly string[], { to }: { to: string }, decide: Decide) {
        for (const id of ids) {
          const payment = payments.get(id) as Payment;
          const decision = decide({
            payment,
            observations: observationsOf(id),
            sessions: [],
          });
          if (decision?.revisitExpiry === true) revisited.push(id);
          payments.set(id, { ...payment, ...decision?.change });
          visits.set(id, (visits.get(id) ?? 0) + 1);
        }
        watermark = to;
      },
    } as unknown as ObservationStore,
    nowMs,
    expiryMs: EXPIRY_MS,
  };
  return {
    payments,
    deposits,
    revisited,
    visits,
    context,
    setCursor: (timestampMs: number) => {
      cursorMs = timestampMs;
    },
    setRescanned: (timestampMs: number) => {
      rescannedMs = timestampMs;
    },
    create: () =>
      createPayment(
        {
          payments: {
            async createPayment(payment: Payment) {
              payments.set(payment.id, payment);
              return { kind: 'created', row: null };
            },
          } as unknown as PaymentStore,
          providers: {} as never,
          rates: { usdRate: async () => USD_RATE_ONE },
          settlement: {
            chainId: 137,
            factory: ADDRESS,
            feeWallet: ADDRESS,
            depositAddressOf: () => ADDRESS,
            reservedAddresses: new Set(),
          },
          nowMs,
          newPaymentId,
          tokenFingerprint: 'abcdef',
          thresholdDefaults: { toleranceBasisPoints: 200, maxProviderFeeBasisPoints: 3_000 },
        },
        account,
        {
          payoutAddress: ADDRESS,
          callbackUrl: 'https://shop.example.com/hook',
          amountCents: 10_000,
          currency: 'USD',
          passFeeToCustomer: false,
          provider: 'multi',
          email: null,
          note: null,
          idempotencyKey: null,
        },
      ),
  };
}

it('expires every payment past its deadline and none before, though the clock moves while one is created', async () => {
  // Time in ms by which the clock advances at each read.
  const ticks = fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 10, maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(ticks, async (moves) => {
      let currentMs = START_MS;
      let look = 0;
      const nowMs = () => {
        const readMs = currentMs;
        currentMs += moves[look++ % moves.length] as number;
        return readMs;
      };
      const world = createWorld(nowMs);
      for (let index = 0; index < 10; index++) await world.create();
      const lastMs = Math.max(...[...world.payments.values()].map(({ createdAtMs }) => createdAtMs));
      currentMs = lastMs + 100 * EXPIRY_MS;
      for (let cursorMs = START_MS; cursorMs <= lastMs + EXPIRY_MS + 1; cursorMs++) {
        world.setCursor(cursorMs);
        await expirePayments(world.context);
        for (const { status, createdAtMs } of world.payments.values()) {
          if (status === 'canceled') expect(createdAtMs + EXPIRY_MS).toBeLessThan(cursorMs);
        }
      }
      // The time in an id may be a few milliseconds after the payment's creation, never before.
      world.setCursor(lastMs + EXPIRY_MS + 60);
      await expirePayments(world.context);
      for (const payment of world.payments.values()) {
        expect(payment).toMatchObject({ status: 'canceled', cancelReason: 'expired' });
        expect(world.visits.get(payment.id)).toBe(1);
      }
    }),
    { numRuns: 200 },
  );
});

it('takes a large crowd in portions, each payment once', async () => {
  let currentMs = START_MS;
  const world = createWorld(() => currentMs);
  for (let index = 0; index < 1_200; index++) await world.create();
  currentMs += 1_000;
  world.setCursor(currentMs);
  const portions: number[] = [];
  for (let pass = 0; pass < 4; pass++) portions.push((await expirePayments(world.context)).checked);
  expect(portions).toEqual([500, 500, 200, 0]);
  expect([...world.visits.values()].every((count) => count === 1)).toBe(true);
});

it('expires nothing before the first scan', async () => {
  const world = createWorld(() => START_MS + 1_000);
  await world.create();
  const observations = { ...world.context.observations, readCursor: async () => null };
  expect(await expirePayments({ ...world.context, observations })).toEqual({ checked: 0, unexplained: [] });
  expect(world.visits.size).toBe(0);
});

it('expires nothing whose deadline lies in blocks that were read once only', async () => {
  const world = createWorld(() => START_MS + 10_000);
  const payment = await world.create();
  const deadlineMs = payment.createdAtMs + EXPIRY_MS;
  const context = { ...world.context, nowMs: () => deadlineMs + 10_000 };
  world.setCursor(deadlineMs + 10_000);
  expect(await expirePayments({ ...context, rescannedTo: () => null })).toMatchObject({ checked: 0 });
  world.setRescanned(deadlineMs - 1);
  expect(await expirePayments(context)).toMatchObject({ checked: 0 });
  world.setRescanned(deadlineMs + 1_000);
  expect(await expirePayments(context)).toMatchObject({ checked: 1 });
  expect(world.payments.get(payment.id)).toMatchObject({ status: 'canceled', cancelReason: 'expired' });
});

it('looks again at a payment whose deposit was recorded while the chain was asked for its balance', async () => {
  const world = createWorld(() => START_MS + 1_000);
  const [known, unknown] = [await world.create(), await world.create()];
  const deposit = { blockNumber: 1, logIndex: 0, transactionHash: '0x1', units: 5n } as Deposit;
  world.setCursor(START_MS + 10_000);
  const context = {
    ...world.context,
    nowMs: () => START_MS + 10_000,
    async sweep(addresses: readonly string[]) {
      world.deposits.set(known.id, [deposit]);
      return addresses.map(() => 5n);
    },
  };
  expect(await expirePayments(context)).toEqual({ checked: 2, unexplained: [known.id, unknown.id] });
  expect(world.revisited).toEqual([known.id]);
  expect([...world.payments.values()].map(({ status }) => status)).toEqual(['unpaid', 'unpaid']);
});
