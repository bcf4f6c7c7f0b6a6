import type { Store } from '../../src/app/store/store.ts';
import type { VerifyContext } from '../../src/cli/verify/verify-context.ts';
import { type Address, createDepositAddressCalculator, termsOf } from '../../src/payment/address.ts';
import type { Payment } from '../../src/payment/payment.ts';
import { type SettleContext, settle } from '../../src/payment/settle.ts';
import type { ChainView, ForwardedLog, RescuedLog, TransferLog } from '../../src/settlement/chain/chain.ts';
import type { BlockReference } from '../../src/settlement/settlement-store.ts';
import { ADDRESS, NOW_MS, newAccount, newBatch, newPayment } from '../store/fixtures.ts';

const DEPOSIT_UNITS = 200_000_000n;
const FEE_UNITS = 5_000_000n;
/** Of a payment of 111.801300 USD, less the tolerance of 2 %. */
const THRESHOLD_UNITS = 109_565_274n;
const CHAIN_ID = 137;
const implementation: Address = '0x52908400098527886E0F7030069857D2E4169EE7';
const depositAddressOf = createDepositAddressCalculator({
  chainId: CHAIN_ID,
  factory: ADDRESS,
  implementation,
});

/** A chain that says what a test wants. */
export class SimulatedChain {
  readonly transfers: TransferLog[] = [];
  readonly forwarded: ForwardedLog[] = [];
  readonly rescued: RescuedLog[] = [];
  /** Units that lie at an address although no log says so. */
  readonly unexplained = new Map<string, bigint>();
  fork = '';

  block(number: number): BlockReference {
    return { number, hash: `hash of ${number}${this.fork}`, timestampMs: number };
  }

  readonly verified: NonNullable<VerifyContext['chain']> = {
    reader: { withView: (use) => use(this.#view()) },
    sweepBalances: async (addresses, blockNumber) =>
      addresses.map((address) => this.#balanceAt(address, blockNumber)),
  };

  #view(): ChainView {
    return {
      source: 'node',
      readLatest: () => Promise.reject(new Error('not asked here')),
      readFinal: () => Promise.reject(new Error('not asked here')),
      readBlock: async (number) => this.block(number),
      readLogs: async ({ fromBlock, toBlock, recipients }) => {
        // Cut short, as endpoints do.
        const scannedTo = Math.min(toBlock, fromBlock + 1);
        const isIn = ({ blockNumber }: { readonly blockNumber: number }) =>
          blockNumber >= fromBlock && blockNumber <= scannedTo;
        return {
          transfers: this.transfers.filter((log) => isIn(log) && recipients?.includes(log.recipient)),
          forwarded: this.forwarded.filter(isIn),
          rescued: this.rescued.filter(isIn),
          scannedTo: this.block(scannedTo),
        };
      },
      confirmLogs: async () => true,
      readTransactionBlock: async () => null,
      confirmBlock: async () => true,
      confirmReplacement: async () => 'confirmed',
    };
  }

  #balanceAt(address: string, blockNumber: number): bigint {
    let units = this.unexplained.get(address) ?? 0n;
    for (const log of this.transfers) {
      if (log.recipient === address && log.blockNumber <= blockNumber) units += log.units;
    }
    for (const log of this.forwarded) {
      if (log.deposit === address && log.blockNumber <= blockNumber)
        units -= log.toMerchantUnits + log.feeUnits;
    }
    return units;
  }
}

/** A store with payments in all kinds of states, which agree with a simulated chain. */
export interface SimulatedWorld {
  readonly chain: SimulatedChain;
  readonly payments: Readonly<Record<PaymentName, Payment>>;
  readonly context: VerifyContext;
}

export type PaymentName =
  | 'untouched'
  | 'paid'
  | 'surplus'
  | 'ready'
  | 'carried'
  | 'expired'
  | 'releasedAfterCancel'
  | 'provisional';

const decideContext: SettleContext = { nowMs: NOW_MS };

/** Makes it. Blocks 11 to 20 are final, block 25 is seen. */
export async function openWorld(store: Store): Promise<SimulatedWorld> {
  const chain = new SimulatedChain();
  const account = newAccount();
  await store.accounts.createAccount(account);
  await store.settlements.rememberSettlement({
    chainId: CHAIN_ID,
    token: ADDRESS,
    factory: ADDRESS,
    implementation,
    factoryCodeHash: '0x',
    feeWallet: ADDRESS,
    lastStartedAtMs: NOW_MS,
  });
  const names: readonly PaymentName[] = [
    'untouched',
    'paid',
    'surplus',
    'ready',
    'carried',
    'expired',
    'releasedAfterCancel',
    'provisional',
  ];
  const entries = await Promise.all(
    names.map(async (name) => {
      const payment = newPayment(account.id, { paidThresholdUnits: THRESHOLD_UNITS });
      const depositAddress = depositAddressOf(termsOf(payment));
      await store.payments.createPayment({ ...payment, depositAddress }, null);
      return [name, { ...payment, depositAddress }] as const;
    }),
  );
  const payments = Object.fromEntries(entries) as Record<PaymentName, Payment>;
  for (const name of ['expired', 'releasedAfterCancel'] as const) {
    await store.payments.decidePayment(payments[name].id, (view) =>
      settle(view, decideContext, {
        status: 'canceled',
        forwardStatus: 'canceled',
        cancelReason: 'merchant',
      }),
    );
  }

  depositTo(chain, payments.paid, 11);
  depositTo(chain, payments.surplus, 11, 1);
  depositTo(chain, payments.ready, 12);
  depositTo(chain, payments.carried, 12, 1);
  depositTo(chain, payments.releasedAfterCancel, 13);
  releaseFrom(chain, payments.paid, 15);
  releaseFrom(chain, payments.surplus, 15, 1);
  depositTo(chain, payments.surplus, 16, 0, 7n);
  releaseFrom(chain, payments.releasedAfterCancel, 18);
  depositTo(chain, payments.provisional, 25);
  chain.rescued.push({
    deposit: payments.expired.depositAddress,
    token: implementation,
    units: 3n,
    blockNumber: 14,
    logIndex: 0,
    transactionHash: 'rescue 14',
  });
  await record(store, chain, payments);
  await store.relay.openBatch(newBatch([payments.carried]), (view) => settle(view, decideContext));

  const context: VerifyContext = {
    ...store,
    chain: chain.verified,
    nowMs: () => NOW_MS,
    pause: () => Promise.resolve(),
  };
  return { chain, payments, context };
}

function depositTo(
  chain: SimulatedChain,
  payment: Payment,
  block: number,
  logIndex = 0,
  units = DEPOSIT_UNITS,
) {
  chain.transfers.push({
    recipient: payment.depositAddress,
    units,
    blockNumber: block,
    logIndex,
    transactionHash: `deposit ${block}`,
  });
}

function releaseFrom(chain: SimulatedChain, payment: Payment, block: number, logIndex = 0) {
  chain.forwarded.push({
    deposit: payment.depositAddress,
    toMerchantUnits: DEPOSIT_UNITS - FEE_UNITS,
    feeUnits: FEE_UNITS,
    blockNumber: block,
    logIndex,
    transactionHash: `release ${block}`,
  });
}

async function record(
  store: Store,
  chain: SimulatedChain,
  payments: Readonly<Record<string, Payment>>,
): Promise<void> {
  const ownerOf = (address: string) => {
    const { id: paymentId, accountId } = Object.values(payments).find(
      ({ depositAddress }) => depositAddress === address,
    ) as Payment;
    return { paymentId, accountId };
  };
  await store.observations.startCursor(chain.block(10));
  await store.observations.recordScan(
    {
      from: chain.block(10),
      final: chain.block(20),
      scannedTo: 25,
      deposits: chain.transfers.map((log) => ({ ...log, ...ownerOf(log.recipient) })),
      releases: chain.forwarded.map((log) => ({ ...log, ...ownerOf(log.deposit) })),
      rescues: chain.rescued.map((log) => ({ ...log, ...ownerOf(log.deposit) })),
    },
    (view) => settle(view, decideContext),
  );
}
