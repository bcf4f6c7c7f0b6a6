import { recoverTransactionAddress } from 'viem';
import type { Store } from '../../../src/app/store/store.ts';
import type { Refund } from '../../../src/features/refunds/refund.ts';
import {
  type Address,
  checksumAddress,
  createDepositAddressCalculator,
} from '../../../src/payment/address.ts';
import { USD_RATE_ONE } from '../../../src/payment/money.ts';
import type { Payment } from '../../../src/payment/payment.ts';
import type { GasShareLimit } from '../../../src/settlement/batch-and-gas-limits.ts';
import type { Recorder } from '../promises.ts';
import { createDraws, type Draws } from './draws.ts';
import { honest, type Mood } from './node-mood.ts';
import { createSimulatedChain, type SimulatedChain } from './simulated-chain.ts';
import { createSimulatedLeases, type SimulatedLeases } from './simulated-leases.ts';
import type { StoreTrouble } from './troubled-store.ts';

export const CHAIN_ID = 137;
export const HOUR_MS = 3_600_000;
export const EXPIRY_MS = 168 * HOUR_MS;
const START_MS = Date.UTC(2026, 10, 21);
const finalities = [2, 2, 3, 8, 20, 64] as const;

/** All that outlives a process: the chain, its nodes, time, the database's mood, and what customers and receivers saw. */
export interface SimulatedWorld {
  readonly draws: Draws;
  readonly recorder: Recorder;
  readonly chain: SimulatedChain;
  readonly finalityBlocks: number;
  readonly implementation: Address;
  readonly feeWallet: Address;
  readonly feeBasisPoints: number;
  /** One for each endpoint. */
  readonly moods: Mood[];
  readonly maximumBlockRange: number;
  /** Whether releases wait while their gas costs too much. */
  readonly gasShare: GasShareLimit | null;
  /** Settings of the watcher: when it asks for the final block, and how far behind it the second reading is. */
  readonly finalityIntervalMs: number;
  readonly rescanLagBlocks: number;
  /** What each endpoint's fee cap is; null for none. */
  feeCapsWei: readonly (bigint | null)[];
  /** The mood of a node that never changes; null for none. */
  lastingLie: Mood | null;
  readonly trouble: StoreTrouble;
  /** What is true, and by how much the service's clock is wrong. */
  readonly time: { trueMs: number; skewMs: number };
  readonly openStore: () => Promise<Store>;
  /** Which of the relayers signed a transaction. */
  readonly signerOf: (rawTransaction: string) => Address | Promise<Address>;
  /** Who of several instances does what one should do; asked only where the store serves several. */
  readonly leases: SimulatedLeases;
  /** Signed transactions that an open batch had when they were broadcast. */
  readonly broadcast: Set<string>;
  /** The hashes that each batch had when it was last broadcast. */
  readonly attempts: Map<number, readonly string[]>;
  readonly payments: Payment[];
  /** Refunds whose opening was acknowledged, as they were then. */
  readonly refunds: Refund[];
  readonly posts: Map<string, number>;
  /** Receivers that take their time; called to let them answer. */
  readonly slowReceivers: (() => void)[];
  /** Whether several instances work on one store. */
  hasRivals: boolean;
  /** Whether the store is on a server, and not in this process. */
  isStoreRemote: boolean;
  /** Whether nodes misbehave in this run. */
  areNodesHonest: boolean;
  /** How often the service said that it had missed something on the chain. */
  misses: number;
  /** Set once no more faults come. */
  isCalm: boolean;
}

export function createSimulatedWorld(
  seed: number,
  recorder: Recorder,
  relayers: readonly [Address, ...Address[]],
  openStore: (nowMs: () => number) => Promise<Store>,
): SimulatedWorld {
  const draws = createDraws(seed);
  const newAddress = () => checksumAddress(draws.hex(40));
  const [token, factory, implementation] = [newAddress(), newAddress(), newAddress()];
  const depositOf = createDepositAddressCalculator({ chainId: CHAIN_ID, factory, implementation });
  const finalityBlocks = draws.oneOf(finalities);
  const time = { trueMs: START_MS, skewMs: 0 };
  return {
    draws,
    recorder,
    finalityBlocks,
    implementation,
    chain: createSimulatedChain(draws, { token, factory, depositOf }, { finalityBlocks, startMs: START_MS }),
    feeWallet: newAddress(),
    feeBasisPoints: draws.oneOf([0, 1, 250, 333, 1_000]),
    moods: Array.from({ length: draws.between(1, 3) }, () => honest),
    maximumBlockRange: draws.oneOf([5, 100, 2_000]),
    // At usual fees 0.42 USD a release alone, and so within the limit of any payment that is made here.
    gasShare: seed % 3 === 0 ? { basisPoints: 1_000, polRate: 60n * USD_RATE_ONE } : null,
    finalityIntervalMs: draws.oneOf([0, 10_000]),
    rescanLagBlocks: draws.oneOf([0, 8]),
    feeCapsWei: [],
    lastingLie: null,
    trouble: { percent: 0 },
    time,
    signerOf: createSignerOf(relayers),
    openStore: () => openStore(() => time.trueMs + time.skewMs),
    leases: createSimulatedLeases(() => time.trueMs),
    broadcast: new Set(),
    attempts: new Map(),
    payments: [],
    refunds: [],
    posts: new Map(),
    slowReceivers: [],
    hasRivals: false,
    isStoreRemote: false,
    areNodesHonest: true,
    misses: 0,
    isCalm: false,
  };
}

/** Where there is one relayer only, nobody has to find out. Else it takes a millisecond, and nodes ask again and again. */
function createSignerOf([only, ...others]: readonly [Address, ...Address[]]): SimulatedWorld['signerOf'] {
  if (others.length === 0) return () => only;
  const known = new Map<string, Promise<Address>>();
  return (rawTransaction) => {
    const found =
      known.get(rawTransaction) ??
      recoverTransactionAddress({ serializedTransaction: rawTransaction as `0x02${string}` }).then(
        (address) => checksumAddress(address.slice(2)),
      );
    known.set(rawTransaction, found);
    return found;
  };
}
