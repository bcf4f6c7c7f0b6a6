import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../../src/app/store/store.ts';
import {
  type Discrepancy,
  type DiscrepancyKind,
  discrepancyKinds,
} from '../../src/cli/verify/discrepancies.ts';
import { verifyPayments } from '../../src/cli/verify/verify-payments.ts';
import { type RefundDiscrepancy, refundDiscrepancies } from '../../src/features/refunds/refund.ts';
import type { Payment } from '../../src/payment/payment.ts';
import { stateOf } from '../../src/payment/payment-states.ts';
import { hashOfEntry } from '../../src/settlement/journal.ts';
import { type OpenedStore, storeEngines } from '../store/engines.ts';
import { DAY_MS, failedResult, leave, NOW_MS, webhook } from '../store/fixtures.ts';
import { readJournal } from '../store/journal.ts';
import { claimOldest } from '../support/claim-oldest.ts';
import { startPostgres } from '../support/postgres.ts';
import { CUSTOMER_ADDRESS, giveRefund, newRefund } from '../support/refunds.ts';
import { openWorld, type PaymentName, type SimulatedWorld } from './simulated-world.ts';

const postgres = await startPostgres();
afterAll(() => postgres.stop());

let opened: OpenedStore;
let store: Store;
let world: SimulatedWorld;

type Kind = DiscrepancyKind | RefundDiscrepancy;

/** Something wrong, and all that is to be found because of it: nothing more, and of nobody else. */
interface Planted {
  readonly what: string;
  readonly at: PaymentName | null;
  readonly finds: readonly Kind[];
  plant(payment: Payment): Promise<unknown> | unknown;
}

const change = (sql: string) => opened.change(sql);

/** Changes an entry of the book as somebody does who has the database; with `isCunning`, who knows how it is hashed. */
async function forge(
  number: number,
  set: Readonly<Record<string, string>>,
  isCunning: boolean,
): Promise<void> {
  const entry = (await readJournal(store))[number - 1];
  if (entry === undefined) throw new Error(`there is no entry ${number}`);
  const assignments = Object.entries(set).map(([column, value]) => `${column} = '${value}'`);
  if (isCunning) {
    const forged = {
      ...entry,
      units: BigInt(set['units'] ?? entry.units),
      paymentId: set['payment_id'] ?? entry.paymentId,
    };
    assignments.push(`hash = '${hashOfEntry(forged)}'`);
  }
  await change(`${opened.unguardBook} UPDATE journal SET ${assignments.join(', ')} WHERE number = ${number}`);
}

const lastEntry = async () => (await readJournal(store)).length;
const numberOf = async (payment: Payment) =>
  (await store.observations.listEntriesOf(payment.id))[0]?.number as number;
const SOMEBODY = '0x52908400098527886E0F7030069857D2E4169EE7';
const NOBODY = '019a0000-0000-7000-8000-000000000000';

const refundPlace = { transactionHash: `0x${'5b'.repeat(32)}`, logIndex: 4, blockNumber: 15 };
const paidRefund = (payment: Payment, units: bigint) =>
  newRefund(payment, {
    status: 'paid',
    units,
    paidAtMs: Date.now(),
    sender: CUSTOMER_ADDRESS,
    ...refundPlace,
  });
const refundTransfer = (units: bigint) => ({ recipient: CUSTOMER_ADDRESS, units, ...refundPlace }) as const;

/** Rows of one payment that were changed by hand, and what is found of that. */
const changed: readonly (readonly [at: PaymentName, sql: string, ...finds: Kind[]])[] = [
  ['ready', 'DELETE FROM deposits', 'amounts', 'held', 'journal_unfounded', 'state', 'transactions'],
  ['ready', "UPDATE deposits SET units = '200000001'", 'amounts', 'chain_amount', 'held', 'journal_amount'],
  // A fee that is one unit too high.
  [
    'paid',
    "UPDATE releases SET fee_units = '5000001', to_merchant_units = '194999999'",
    ...(['chain_amount', 'fee', 'journal_amount'] as const),
  ],
  // More is released than was deposited.
  [
    'releasedAfterCancel',
    "UPDATE deposits SET units = '199999999'",
    ...(['chain_amount', 'held', 'journal_amount', 'released_too_much'] as const),
  ],
  ['paid', "UPDATE payments SET txid_out = 'release 18'", 'transactions', 'webhook_contents'],
  [
    'untouched',
    "UPDATE payments SET status = 'paid', forward_status = 'completed', paid_at_ms = 1",
    ...(['amounts', 'transactions', 'webhook_missing'] as const),
  ],
  [
    'paid',
    "UPDATE payments SET status = 'unpaid', forward_status = 'pending', paid_at_ms = NULL",
    ...(['amounts', 'state', 'webhook_unfounded'] as const),
  ],
  ['ready', 'UPDATE payments SET release_due_at_ms = NULL', 'release_plan'],
  ['carried', 'UPDATE payments SET relay_batch_id = 999', 'relay_batch'],
  ['ready', `UPDATE payments SET payout_address = '${SOMEBODY}'`, 'deposit_address'],
  ['untouched', "UPDATE payments SET status = 'refunded'", 'unreadable'],
  ['untouched', 'UPDATE payments SET paid_threshold_units = 1', 'terms'],
  // A webhook that was sent is made to wait again.
  ['paid', 'UPDATE webhooks SET claimed_at_ms = 1', 'webhook_status'],
  ['paid', 'DELETE FROM webhooks', 'webhook_missing'],
];

const planted: readonly Planted[] = [
  ...changed.map(([at, sql, ...finds]) => ({
    what: `somebody did ${sql} at the payment ${at}`,
    at,
    finds,
    plant: ({ id }: Payment) =>
      change(`${sql} WHERE ${sql.includes(' payments ') ? 'id' : 'payment_id'} = '${id}'`),
  })),
  {
    what: 'an entry of the book was taken out',
    at: 'ready',
    finds: ['journal_chain', 'journal_missing', 'journal_number'],
    async plant(payment) {
      await change(`${opened.unguardBook} DELETE FROM journal WHERE payment_id = '${payment.id}'`);
    },
  },
  {
    what: 'the amount of an entry was changed',
    at: 'surplus',
    finds: ['journal_amount', 'journal_hash'],
    plant: async (payment) => forge(await numberOf(payment), { units: '1' }, false),
  },
  {
    what: 'the amount of an entry was changed, and its hash with it',
    at: 'surplus',
    finds: ['journal_amount', 'journal_chain'],
    plant: async (payment) => forge(await numberOf(payment), { units: '1' }, true),
  },
  {
    what: 'the last entry was made another amount, hash and all',
    at: 'releasedAfterCancel',
    finds: ['amounts', 'journal_amount'],
    plant: async () => forge(await lastEntry(), { units: '1' }, true),
  },
  {
    what: 'the last entry was given to a payment that does not exist, hash and all',
    at: 'releasedAfterCancel',
    finds: ['amounts', 'journal_missing', 'journal_orphan'],
    plant: async () => forge(await lastEntry(), { payment_id: NOBODY }, true),
  },
  {
    what: 'a payment is gone, and its history is not',
    at: 'untouched',
    finds: ['payment_missing'],
    plant: () =>
      change(`INSERT INTO state_changes (payment_id, at_ms, state) VALUES ('${NOBODY}', 1, 'unpaid/ready')`),
  },
  {
    what: 'the webhook says another amount than the payment',
    at: 'surplus',
    finds: ['webhook_contents'],
    async plant({ id }) {
      const [webhook] = await store.webhooks.listWebhooks(id);
      const fields = JSON.stringify({ ...webhook?.fields, forwardedAmount: '196.000000' });
      await change(
        `UPDATE webhooks SET fields = '${fields.replaceAll("'", "''")}' WHERE payment_id = '${id}'`,
      );
    },
  },
  {
    what: 'a payment that is not paid has a webhook',
    at: 'ready',
    finds: ['webhook_unfounded'],
    plant: (payment) => store.payments.decidePayment(payment.id, () => ({ change: {}, webhooks: [webhook] })),
  },
  {
    what: 'the chain has another final block',
    at: null,
    finds: ['final_block'],
    plant() {
      world.chain.fork = ' of another chain';
    },
  },
  {
    what: 'a recorded release is not on the chain',
    at: 'paid',
    finds: ['held', 'not_on_chain'],
    plant: () => void world.chain.forwarded.splice(0, 1),
  },
  {
    what: 'a deposit that was released again is recorded neither way',
    at: 'paid',
    finds: ['not_recorded'],
    plant({ depositAddress }) {
      const at = { blockNumber: 12, logIndex: 8, transactionHash: 'unseen' };
      world.chain.transfers.push({ recipient: depositAddress, units: 10n, ...at });
      world.chain.forwarded.push({ deposit: depositAddress, toMerchantUnits: 10n, feeUnits: 0n, ...at });
    },
  },
  {
    what: 'what was rescued has another amount on the chain',
    at: 'expired',
    finds: ['chain_amount'],
    plant() {
      const [rescue] = world.chain.rescued.splice(0, 1) as [(typeof world.chain.rescued)[number]];
      world.chain.rescued.push({ ...rescue, units: 4n });
    },
  },
  {
    what: 'a refund is paid that the chain does not know',
    at: 'paid',
    finds: ['refund_not_on_chain'],
    plant: (payment) => giveRefund(store, paidRefund(payment, 100_000_000n)),
  },
  {
    what: 'the amount of a paid refund was changed',
    at: 'paid',
    finds: ['refund_not_on_chain'],
    async plant(payment) {
      await giveRefund(store, paidRefund(payment, 100_000_000n));
      world.chain.transfers.push(refundTransfer(99_999_999n));
    },
  },
  {
    what: 'more is refunded than was received',
    at: 'paid',
    finds: ['refunded_too_much'],
    async plant(payment) {
      await giveRefund(store, paidRefund(payment, 200_000_001n));
      world.chain.transfers.push(refundTransfer(200_000_001n));
    },
  },
  {
    what: 'an address holds more than is recorded',
    at: 'untouched',
    finds: ['held'],
    plant: ({ depositAddress }) => void world.chain.unexplained.set(depositAddress, 1n),
  },
];

it('every kind of discrepancy is planted at least once', () => {
  const kinds = new Set(planted.flatMap(({ finds }) => finds));
  expect([...kinds].sort()).toEqual(Object.keys({ ...discrepancyKinds, ...refundDiscrepancies }).sort());
});

const kindsOf = (found: readonly Discrepancy[]) => [...new Set(found.map(({ kind }) => kind))].sort();

for (const [engine, open] of Object.entries(storeEngines(postgres))) {
  describe(`verify with ${engine}`, () => {
    beforeEach(async () => {
      opened = await open();
      store = opened.store;
      world = await openWorld(store);
    });
    afterEach(() => opened.dispose());

    it('finds nothing wrong with payments in all kinds of states, and adds up what they hold to the unit', async () => {
      const states = await Promise.all(
        Object.values(world.payments).map(async ({ id }) =>
          stateOf((await store.payments.findPaymentById(id)) as Payment),
        ),
      );
      expect(states).toEqual([
        'unpaid/pending',
        'paid/completed',
        'paid/completed',
        'unpaid/ready',
        'unpaid/processing',
        'canceled/canceled',
        'canceled/completed',
        'unpaid/ready',
      ]);
      const report = await verifyPayments(world.context);
      expect(report.discrepancies).toEqual([]);
      const { deposits, released } = { deposits: 5n * 200_000_000n + 7n, released: 3n };
      expect(report).toMatchObject({
        payments: 8,
        finalBlock: 20,
        isChainChecked: true,
        discrepancyCount: 0,
        totals: {
          depositedUnits: deposits,
          forwardedUnits: released * 195_000_000n,
          feeUnits: released * 5_000_000n,
          heldUnits: deposits - released * 200_000_000n,
        },
      });
      const journal = await readJournal(store);
      expect(report.journal).toEqual({ number: journal.length, hash: journal.at(-1)?.hash });
    });

    it('finds nothing wrong with a refund whose transfer is on the chain', async () => {
      await giveRefund(store, paidRefund(world.payments.paid, 200_000_000n));
      world.chain.transfers.push(refundTransfer(200_000_000n));
      expect((await verifyPayments(world.context)).discrepancies).toEqual([]);
    });

    it('finds nothing wrong once everything that names customers was erased', async () => {
      for (const webhook of await claimOldest(store.webhooks, 100, 1))
        await store.webhooks.recordWebhookResult(webhook, failedResult);
      const step = await store.emails.eraseEmailsBefore(null, NOW_MS + DAY_MS, 100);
      expect(step).toEqual({ erased: 8, hasMore: false, stoppedBy: null });
      expect((await verifyPayments(world.context)).discrepancies).toEqual([]);
    });

    it.each(planted)('finds it when $what', async ({ at, finds, plant }) => {
      const payment = at === null ? world.payments.untouched : world.payments[at];
      await plant(payment);
      const report = await verifyPayments(world.context);
      const found = report.discrepancies;
      expect(kindsOf(found)).toEqual([...finds].sort());
      expect(report.discrepancyCount).toBe(found.length);
      // A broken link shows at the entry after it, whoever's that is.
      const others = found.filter(({ paymentId }) => paymentId !== (at === null ? null : payment.id));
      expect(
        others.filter(({ kind }) => !/^(journal_(chain|number|orphan)|payment_missing)$/.test(kind)),
      ).toEqual([]);
    });

    it('finds every state that does not exist, also that of the newest payment', async () => {
      await change("UPDATE payments SET status = 'refunded'");
      const report = await verifyPayments(world.context);
      // Two of them were paid, and are not any more.
      expect(kindsOf(report.discrepancies)).toEqual(['state', 'unreadable']);
      expect(report.discrepancyCount).toBe(2 + Object.keys(world.payments).length);
    });

    it('without a chain finds only what the database says of itself', async () => {
      world.chain.fork = ' of another chain';
      world.chain.transfers.splice(0);
      expect(await verifyPayments({ ...world.context, chain: null })).toMatchObject({
        isChainChecked: false,
        discrepancies: [],
      });
    });

    it('looks again at what changes under its eyes, and then finds nothing', async () => {
      const { id } = world.payments.paid;
      let looks = 0;
      const webhooks: typeof world.context.webhooks = {
        listWebhooks: async (payment) =>
          payment === id && ++looks < 4 ? [] : store.webhooks.listWebhooks(payment),
      };
      let pauses = 0;
      const pause = async () => void pauses++;
      const report = await verifyPayments({ ...world.context, webhooks, pause });
      expect(report.discrepancies).toEqual([]);
      expect(pauses).toBe(3);
    });

    it('does not call a chain that does not answer a discrepancy', async () => {
      const failing = {
        ...world.chain.verified,
        sweepBalances: () => Promise.reject(new Error('no answer')),
      };
      await expect(verifyPayments({ ...world.context, chain: failing })).rejects.toThrow('no answer');
    });

    it('counts all discrepancies and lists the first thousand', async () => {
      const { id: paymentId, accountId } = world.payments.untouched;
      const position = { paymentId, accountId, blockNumber: 14, transactionHash: 'dust' };
      const deposits = Array.from({ length: 1_100 }, (_, logIndex) => ({ ...position, logIndex, units: 1n }));
      await store.observations.recordMissed({ from: world.chain.block(20), deposits, releases: [] }, leave);
      await opened.change(`${opened.unguardBook} DELETE FROM journal`);
      const report = await verifyPayments({ ...world.context, chain: null });
      expect(report.discrepancyCount).toBeGreaterThan(1_100);
      expect(report.discrepancies).toHaveLength(1_000);
    });
  });
}
