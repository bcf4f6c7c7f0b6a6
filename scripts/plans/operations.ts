import type { Payment } from '../../src/domain/payment.ts';
import { firstIdAtMs } from '../../src/domain/payment-id.ts';
import type { Decide, IdempotencyRecord } from '../../src/domain/ports/payment-store.ts';
import type { BlockReference } from '../../src/domain/ports/settlement-store.ts';
import { settle } from '../../src/domain/settle.ts';
import type { Store } from '../../src/store/store.ts';
import { EXPIRY_MS, OPEN_BATCH_RELAYER, pageOf, SYNTHETIC_NOW_MS } from './fill-payments.ts';
import type { Sample } from './synthetic-sample.ts';

/** Something the service asks of its store again and again. */
export interface HotOperation {
  readonly name: string;
  /** How often it is asked. */
  readonly when: string;
  run(store: Store, sample: Sample): Promise<unknown>;
}

const DAY_MS = 24 * 3_600_000;
const decide: Decide = (view) => settle(view, { nowMs: SYNTHETIC_NOW_MS });
const expire: Decide = (view) =>
  settle(view, { nowMs: SYNTHETIC_NOW_MS, expiredBeforeMs: SYNTHETIC_NOW_MS - EXPIRY_MS + DAY_MS });

/** Everything that is asked per request or in each turn of a loop. Groups of 64 are what a busy instance asks at once. */
export const hotOperations: readonly HotOperation[] = [
  ...requestOperations(),
  ...eventOperations(),
  ...pageOperations(),
  ...watcherOperations(),
  ...senderOperations(),
  ...webhookOperations(),
  ...expiryOperations(),
];

function requestOperations(): HotOperation[] {
  return [
    {
      name: 'the accounts of 64 API keys',
      when: 'each request',
      run: ({ accounts }, { keyHashes }) =>
        all(keyHashes, async (hash) => present(await accounts.findActiveKey(hash))),
    },
    {
      name: 'rate limits of 64 keys',
      when: 'each request',
      run: ({ shared }, { keyHashes }) => {
        const limiter = shared?.createRateLimiter('plans', 60);
        return all(keyHashes, async (hash) => limiter?.take(hash));
      },
    },
    {
      name: 'settings of a provider',
      when: 'each create',
      run: async ({ providers }) => providers.readProviderSettings('moonpay'),
    },
    {
      name: '64 creates',
      when: 'each create',
      run: ({ payments }, { fresh }) => all(fresh, (payment) => payments.createPayment(payment, null)),
    },
    {
      name: '64 creates with an Idempotency-Key',
      when: 'each such create',
      run: ({ payments }, { fresh }) =>
        all(fresh, (payment) => payments.createPayment(payment, recordFor(payment.accountId, payment.id))),
    },
    {
      name: '64 Idempotency-Keys that were used before',
      when: 'each such create',
      run: ({ payments }, { keyed, payments: count }) =>
        all(keyed, async ({ accountId }, index) =>
          present(await payments.findIdempotent(accountId, `order-${count - 2 * index}`, 0)),
        ),
    },
    {
      name: 'the status of 64 payments, by payment_id or token',
      when: 'each status read',
      run: ({ payments }, { spread }) =>
        all(spread, async ({ accountId, id }) => present(await payments.findPayment(accountId, id))),
    },
  ];
}

function eventOperations(): HotOperation[] {
  return [
    {
      name: 'the next 100 events of 64 accounts',
      when: 'each read of events',
      run: ({ events }, { spread }) => all(spread, ({ accountId }) => events.listEvents(accountId, 5, 100)),
    },
    {
      name: 'refunds that wait for a transfer',
      when: 'every half minute',
      run: ({ refunds }) => refunds.listWatchedRefunds(0, 500),
    },
    {
      name: 'events without a number',
      when: 'every half second',
      run: ({ events }) => events.numberEvents(100),
    },
  ];
}

function pageOperations(): HotOperation[] {
  const pagePaymentOf = ({ accountId, id }: Payment) => ({
    accountId,
    paymentId: id,
    pageId: pageOf(accountId),
    submission: id,
    answer: null,
    heldUntilMs: SYNTHETIC_NOW_MS + DAY_MS,
  });
  return [
    {
      name: '64 reusable pages, with what their stock holds',
      when: 'each such page',
      run: ({ reusablePages }, { spread }) =>
        all(spread, async ({ accountId }) =>
          present(await reusablePages.findPageBySlug(pageOf(accountId), SYNTHETIC_NOW_MS)),
        ),
    },
    {
      name: '64 submissions of reusable pages',
      when: 'each submission',
      run: ({ reusablePages }, { fresh }) =>
        all(fresh, async (payment) => {
          await reusablePages.findSubmission(pagePaymentOf(payment));
          return reusablePages.createPagePayment(payment, pagePaymentOf(payment), () => {});
        }),
    },
    {
      name: 'the pages that 64 payments of a list were made on',
      when: 'each list of the dashboard',
      run: ({ reusablePages }, { spread }) =>
        all(spread, ({ accountId, id }) => reusablePages.listPagesOf(accountId, [id])),
    },
    {
      name: 'the first opening of 64 checkouts',
      when: 'every second',
      run: ({ records }, { fresh }) =>
        records.addRecords(
          fresh.map(({ accountId, id }) => ({
            accountId,
            kind: 'opened' as const,
            name: id,
            texts: [],
            atMs: SYNTHETIC_NOW_MS,
          })),
        ),
    },
    {
      name: 'who opened 64 checkouts',
      when: 'each overview and payment of the dashboard',
      run: ({ records }, { spread }) =>
        all(spread, ({ accountId, id }) => records.listRecords(accountId, 'opened', [id])),
    },
    {
      name: 'a checkout page or short link',
      when: 'each page',
      run: async ({ payments, accounts }, { open: [payment] }) => {
        const view = present(await payments.viewPayment(present(payment).id));
        return accounts.findAccount(view.payment.accountId);
      },
    },
    {
      name: 'a visit to a provider',
      when: 'each click',
      run: async ({ payments }, { open: [payment] }) => {
        const asked = present(payment);
        await payments.viewPayment(asked.id);
        const session = {
          id: 'session',
          paymentId: asked.id,
          provider: 'moonpay' as const,
          redirectUrl: 'https://provider.example.com',
          providerReference: 'reference',
          chargedCents: 100,
          receivedUnits: 0n,
          quotedUnits: 1n,
          createdAtMs: SYNTHETIC_NOW_MS,
          expiresAtMs: SYNTHETIC_NOW_MS + DAY_MS,
          progress: null,
          progressAtMs: null,
          language: null,
          hasEmail: false,
          customerIpHash: null,
          customerCountry: null,
        };
        return payments.addSession(session, (view) =>
          settle(view, { nowMs: SYNTHETIC_NOW_MS }, { paidThresholdUnits: 1n }),
        );
      },
    },
    {
      name: 'a notice of a provider',
      when: 'a few times for each visit',
      run: ({ payments }, { open: [payment] }) =>
        payments.recordSessionProgress(present(payment).id, 'session', 'delivering', SYNTHETIC_NOW_MS),
    },
  ];
}

function watcherOperations(): HotOperation[] {
  return [
    {
      name: 'new deposit addresses for the table in memory, 1,000 rows',
      when: 'each pass of the watcher; each second while payments are created',
      run: ({ payments }, { payments: count }) => payments.listDepositAddresses(count - 1_000, 10_000),
    },
    {
      name: 'all deposit addresses at the start, a page of 10,000',
      when: 'each start, one page after the other',
      run: ({ payments }, { payments: count }) =>
        payments.listDepositAddresses(Math.floor(count / 2), 10_000),
    },
    {
      name: 'the payment of a deposit address',
      when: 'each transfer to one of our addresses',
      run: ({ payments }, { open: [payment], payments: count }) => {
        present(payment);
        return payments.findPaymentsByRow([Math.floor(count / 2)]);
      },
    },
    {
      name: 'a pass that finds 50 deposits and 100 releases',
      when: 'each pass of the watcher',
      run: async ({ observations }, sample) => {
        const from = present(await observations.readCursor());
        const final = blockAfter(from, 10);
        const scan = {
          from,
          final,
          scannedTo: final.number + 50,
          ...foundIn(sample, final.number),
        };
        await observations.listVanished(scan);
        await observations.recordScan(scan, decide);
      },
    },
    {
      name: 'a pass over final blocks again',
      when: 'every five minutes',
      run: async ({ observations }, sample) => {
        const from = present(await observations.readCursor());
        const found = foundIn(sample, from.number - 1);
        await observations.listMissing(found);
        await observations.recordMissed({ from, ...found }, decide);
      },
    },
    {
      name: 'the watcher’s lease',
      when: 'every two seconds, each worker',
      run: async ({ shared }) => shared?.leases.takeLease('watcher', 'holder', 6_000),
    },
  ];
}

function senderOperations(): HotOperation[] {
  return [
    {
      name: 'releases that are due',
      when: 'each second, each sender',
      run: async ({ relay }) => {
        requireRows(await relay.claimDueReleases('another relayer', SYNTHETIC_NOW_MS, 100, 60_000));
        await relay.dropClaims('another relayer');
      },
    },
    {
      name: 'open batches',
      when: 'each second, each sender',
      run: async ({ relay }) => {
        present((await relay.listOpenBatchesOf(OPEN_BATCH_RELAYER))[0]);
        await relay.listRelayersInFlight();
        return relay.listOpenBatches(10);
      },
    },
    {
      name: 'the nonce of the next batch',
      when: 'each batch',
      run: ({ relay }) => relay.findNextNonce(OPEN_BATCH_RELAYER),
    },
    {
      name: 'a payment of a batch',
      when: 'each batch',
      run: async ({ payments }, { carried: [payment] }) => payments.findPaymentById(present(payment).id),
    },
    {
      name: 'a release that is put off',
      when: 'each release that cannot be sent',
      run: ({ payments }, { carried: [payment] }) =>
        payments.decidePayment(present(payment).id, () => ({ change: { releaseRefusals: 1 } })),
    },
    {
      name: 'a batch of 50 payments is opened',
      when: 'each batch',
      run: async ({ relay }) => {
        const due = requireRows(
          await relay.claimDueReleases('another relayer', SYNTHETIC_NOW_MS, 50, 60_000),
        );
        const attempt = {
          hash: 'hash',
          rawTransaction: '0x',
          signedAtMs: SYNTHETIC_NOW_MS,
          maxFeePerGas: 1n,
          maxPriorityFeePerGas: 1n,
        };
        const batch = await relay.openBatch(
          {
            relayer: 'another relayer',
            nonce: 1,
            kind: 'forward',
            rescueToken: null,
            gasLimit: 1n,
            paymentIds: due.map(({ id }) => id),
            attempts: [attempt],
            createdAtMs: SYNTHETIC_NOW_MS,
          },
          decide,
        );
        await relay.addAttempt(batch.id, { ...attempt, hash: 'another hash' });
      },
    },
    {
      name: 'a batch of 100 payments is replaced by one of 50',
      when: 'each batch that every node refuses',
      run: async ({ relay }, { openBatchId }) => {
        const { id, ...batch } = present((await relay.listOpenBatchesOf(OPEN_BATCH_RELAYER))[0]);
        const attempts = batch.attempts.map((attempt) => ({ ...attempt, hash: 'hash of the replacement' }));
        const replacement = { ...batch, attempts, paymentIds: batch.paymentIds.slice(0, 50) };
        if (id !== openBatchId) throw new Error('the sample has another open batch');
        await relay.replaceBatch(id, replacement, SYNTHETIC_NOW_MS, decide);
      },
    },
    {
      name: 'a batch of 100 payments is closed',
      when: 'each batch',
      run: ({ relay }, { openBatchId }) =>
        relay.closeBatch(openBatchId, 'resolved', SYNTHETIC_NOW_MS, () => ({
          change: { releaseDueAtMs: SYNTHETIC_NOW_MS },
        })),
    },
  ];
}

function webhookOperations(): HotOperation[] {
  return [
    {
      name: 'claims 50 webhooks and records a result',
      when: 'each second, each worker',
      run: async ({ webhooks }) => {
        const waiting = requireRows(await webhooks.listWaitingWebhooks(100, ['full.example.com']));
        const ids = waiting.slice(0, 50).map(({ id }) => id);
        const claimable = { fingerprints: ['known0', 'known1'], anyCreatedBeforeMs: SYNTHETIC_NOW_MS };
        const [webhook] = requireRows(await webhooks.claimWebhooks(ids, SYNTHETIC_NOW_MS, claimable));
        await webhooks.recordWebhookResult(present(webhook), {
          outcome: 'delivered',
          httpStatus: 200,
          reason: null,
          durationMs: 100,
          responseExcerpt: 'ok',
          body: '{}',
          signature: 'signature',
          finishedAtMs: SYNTHETIC_NOW_MS,
        });
      },
    },
    {
      name: 'webhooks that were cut off',
      when: 'every 30 seconds, each worker',
      run: ({ webhooks }) => webhooks.abandonStaleWebhooks(SYNTHETIC_NOW_MS),
    },
  ];
}

function expiryOperations(): HotOperation[] {
  return [
    {
      name: 'expires up to 500 payments',
      when: 'every ten seconds, the watcher',
      run: async ({ observations, payments }) => {
        const from = await observations.readExpiryWatermark();
        const below = firstIdAtMs(SYNTHETIC_NOW_MS - EXPIRY_MS + DAY_MS);
        const ids = requireRows(await payments.listPaymentIds(from, below, 500));
        await observations.advanceExpiryWatermark(ids, { from, to: present(ids.at(-1)) }, expire);
      },
    },
    {
      name: 'indexes 50 payments and folds 50 changes',
      when: 'twice a second while payments are created or paid, the watcher',
      run: async ({ search }) => {
        present((await search.indexPayments(50)) || null);
        present((await search.foldStatistics(50)) || null);
      },
    },
    {
      name: '100 payments of the sweep',
      when: 'each second, the watcher',
      run: async ({ observations, payments }) => {
        const from = await observations.readExpiryWatermark();
        const ids = requireRows(await payments.listPaymentIds(from, firstIdAtMs(SYNTHETIC_NOW_MS), 100));
        return all(ids, (id) => payments.viewPayment(id));
      },
    },
  ];
}

/** New deposits of open payments, and the releases of those that the open batch carries. */
function foundIn({ open, carried }: Sample, blockNumber: number) {
  const rowOf = ({ id: paymentId, accountId }: Payment, logIndex: number) => ({
    blockNumber,
    transactionHash: `found in ${blockNumber}`,
    logIndex,
    paymentId,
    accountId,
  });
  return {
    deposits: open.map((payment, index) => ({ ...rowOf(payment, index), units: payment.paidThresholdUnits })),
    releases: carried.map((payment, index) => ({
      ...rowOf(payment, 1_000 + index),
      toMerchantUnits: payment.paidThresholdUnits,
      feeUnits: 1n,
    })),
  };
}

function blockAfter({ number, timestampMs }: BlockReference, blocks: number): BlockReference {
  return { number: number + blocks, hash: 'a later block', timestampMs: timestampMs + 2_000 * blocks };
}

function recordFor(accountId: string, key: string): IdempotencyRecord {
  return { accountId, key, fingerprint: 'fingerprint', createdAtMs: SYNTHETIC_NOW_MS };
}

function all<Item, Result>(
  items: readonly Item[],
  ask: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> {
  return Promise.all(requireRows(items).map(ask));
}

/** An operation that finds nothing measures nothing. */
function present<Value>(value: Value | null | undefined): Value {
  if (value === null || value === undefined) throw new Error('what was to be measured does not exist');
  return value;
}

function requireRows<Row>(rows: readonly Row[]): readonly Row[] {
  present(rows[0]);
  return rows;
}
