import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ExternalServices } from '../../src/app/external-services.ts';
import { createLog } from '../../src/app/log.ts';
import { createMetrics } from '../../src/app/metrics.ts';
import { createWorkerTasks } from '../../src/app/worker-tasks.ts';
import { createChainReader } from '../../src/chain/create-chain-reader.ts';
import { createRelayer } from '../../src/chain/relayer.ts';
import { createTokenReader } from '../../src/chain/token-reader.ts';
import { paymentReference } from '../../src/domain/deposit-address.ts';
import { createIpnTokens } from '../../src/domain/ipn-token.ts';
import { type Payment, termsOf } from '../../src/domain/payment.ts';
import { createPaymentIdGenerator } from '../../src/domain/payment-id.ts';
import { createKnownAddresses } from '../../src/payments/known-addresses.ts';
import { openSqliteStore } from '../../src/store/sqlite/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { startWorker, type WorkerTask } from '../../src/worker.ts';
import { type LocalChain, startLocalChain } from '../../test/chain/local-chain.ts';
import { anvilKeys } from '../../test/support/anvil.ts';
import { benchAccount, benchPayment } from '../bench-payment.ts';
import { countedAddress } from '../counted-address.ts';
import { benchSecret, createStubWorld } from '../servers/stub-world.ts';
import type { Measurement } from './measurement.ts';

/** As on Polygon; the newest final block is two below the newest. */
const BLOCK_SECONDS = 2;
const DEPOSIT_UNITS = 12_000_000n;
const PATIENCE_MS = 180_000;

/**
 * The worker's own watcher and sender against a real node: payments whose deposits are all there at once are released
 * by one key in batches, and are paid when the releases are final. While the sender is not in one of its steps, it
 * waits for the chain; what it asks the node within a step counts as its own time.
 */
export const settlement: Measurement = {
  name: 'settlement',
  title: `Settlement by one relayer key on a local chain with a block every ${BLOCK_SECONDS} s`,
  async measure({ extent, folder }) {
    const chain = await startLocalChain();
    const store = await openSqliteStore({ file: join(folder, 'settlement.sqlite') });
    try {
      await store.accounts.createAccount(benchAccount());
      const external = worldOf(chain);
      const { tasks, busyMs } = settlementTasks(store, external);
      // Sets the cursor before anything is paid.
      await tasks[0]?.run(new AbortController().signal);
      await payAll(chain, await createPayments(chain, store, extent.settledPayments));
      await chain.anvil.rpc('evm_setAutomine', [false]);
      await chain.anvil.rpc('evm_setIntervalMining', [BLOCK_SECONDS]);

      const startMs = performance.now();
      const worker = startWorker(tasks, (name, error) => {
        process.stderr.write(`${name}: ${String(error)}\n`);
      });
      await untilAllPaid(store, startMs + PATIENCE_MS).finally(() => worker.stop());
      const durationMs = performance.now() - startMs;
      return [
        {
          name: 'settled',
          unit: 'payments a second',
          values: [(extent.settledPayments * 1000) / durationMs],
        },
        { name: 'sender idle', unit: 'of the time', values: [1 - busyMs() / durationMs] },
      ];
    } finally {
      await store.close();
      await chain.stop();
    }
  },
};

function worldOf({ endpoints, anvil, token, factory, implementation }: LocalChain): ExternalServices {
  const stub = createStubWorld();
  return {
    ...stub,
    chainId: anvil.chainId,
    settlements: [{ ...stub.settlements[0], chainId: anvil.chainId, token, factory, implementation }],
    chain: createChainReader({ endpoints, sources: { token, factories: [factory] } }),
    token: createTokenReader({ endpoints, token }),
    relayer: createRelayer({ endpoints, chainId: anvil.chainId, privateKey: anvilKeys[1] }),
  };
}

/** The worker's own watcher and sender, and how long the sender has been at work. */
function settlementTasks(
  store: Store,
  external: ExternalServices,
): { tasks: readonly WorkerTask[]; busyMs: () => number } {
  const { watching, sending } = createWorkerTasks({
    store,
    external,
    known: createKnownAddresses(store.payments, store.addressPages),
    tokens: createIpnTokens(benchSecret),
    mailer: null,
    baseUrl: 'http://localhost',
    deliver: () => Promise.reject(new Error('no webhook is sent here')),
    nowMs: Date.now,
    monotonicMs: () => performance.now(),
    expiryMs: 168 * 3_600_000,
    wake: () => {},
    withRelayerLease: (_relayer, follow) => follow(),
    log: createLog('silent'),
    metrics: createMetrics(),
  });
  let busyMs = 0;
  const timed = sending.map(
    (task): WorkerTask => ({
      ...task,
      async run(signal) {
        const startMs = performance.now();
        return task.run(signal).finally(() => {
          busyMs += performance.now() - startMs;
        });
      },
    }),
  );
  return { tasks: [...watching.filter(({ name }) => name === 'watch'), ...timed], busyMs: () => busyMs };
}

async function createPayments(chain: LocalChain, store: Store, count: number): Promise<readonly Payment[]> {
  const newPaymentId = createPaymentIdGenerator(Date.now);
  const payments = Array.from({ length: count }, (_, index) => {
    const paymentId = newPaymentId();
    const payoutAddress = countedAddress(index);
    const payment = benchPayment({
      paymentId,
      payoutAddress,
      depositAddress: payoutAddress,
      callbackUrl: 'https://shop.example.com/hook',
      email: 'customer@mail.example.com',
    });
    const own = { ...payment, chainId: chain.anvil.chainId, factory: chain.factory };
    return { ...own, depositAddress: chain.depositOf(termsOf(own, paymentReference(paymentId))) };
  });
  await Promise.all(payments.map((payment) => store.payments.createPayment(payment, null)));
  return payments;
}

async function payAll(chain: LocalChain, payments: readonly Payment[]): Promise<void> {
  for (const { depositAddress } of payments) {
    await chain.callToken({ name: 'mint', to: depositAddress, units: DEPOSIT_UNITS });
  }
}

async function untilAllPaid(store: Store, deadlineMs: number): Promise<void> {
  while ((await store.payments.listPayments({ status: 'unpaid' }, null, 1)).length > 0) {
    if (performance.now() > deadlineMs) throw new Error('not all payments were settled in time');
    await delay(100);
  }
}
