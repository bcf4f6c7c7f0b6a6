import { createFixedRates } from '../../../sandbox/fixed-rates.ts';
import type { ExternalServices } from '../../../src/app/external-services.ts';
import { checksumAddress } from '../../../src/payment/address.ts';
import { type ProviderId, providerIds } from '../../../src/payment/provider-catalog.ts';
import type { ProviderAdapter } from '../../../src/providers/provider.ts';
import type { ChainReader, ChainView, Relayer, TokenReader } from '../../../src/settlement/chain/chain.ts';
import { defaultRelayLimits } from '../../../src/settlement/relay/relay-limits.ts';
import type { BlockReference } from '../../../src/settlement/settlement-store.ts';

/** Addresses of nobody. */
export const addresses = {
  factory: checksumAddress('fac7'.repeat(10)),
  implementation: checksumAddress('1234'.repeat(10)),
  token: checksumAddress('05dc'.repeat(10)),
  feeWallet: checksumAddress('fee5'.repeat(10)),
  relayer: checksumAddress('5e1d'.repeat(10)),
} as const;

/** The secret key that every service of the bench has. */
export const benchSecret = 'a secret that only the bench knows and that is long enough';

const BLOCK_MS = 2_000;
const FINAL_AFTER_BLOCKS = 3;

/**
 * A external without a network, with the intervals of live mode: the chain goes on by a block every two seconds and nothing
 * happens on it, so that the watcher and the sender do the work that they always do beside the API. Whatever a bench
 * of creates and reads must not reach throws.
 */
export function createStubWorld(): ExternalServices {
  const { factory, implementation, token, feeWallet } = addresses;
  return {
    chainId: 137,
    settlements: [
      { chainId: 137, factory, implementation, token, feeWallet, factoryCodeHash: `0x${'00'.repeat(32)}` },
    ],
    chain: createQuietChain(),
    token: stubToken,
    relayers: [stubRelayer],
    sweepBalances: async (addresses) => addresses.map(() => 0n),
    rates: createFixedRates(),
    adapters: new Map(providerIds.map((id) => [id, stubAdapter(id)])),
    intervals: {
      watchIntervalMs: 2_000,
      quietWatchIntervalMs: 2_000,
      idleWatchIntervalMs: 2_000,
      finalityIntervalMs: 0,
      relayIntervalMs: 1_000,
      refundIntervalMs: 30_000,
      rescanIntervalMs: 5 * 60_000,
      rescanDepthBlocks: 2_000,
      rescanLagBlocks: 0,
      thoroughRescanIntervalMs: 50 * 60_000,
      sweepIntervalMs: 10 * 60_000,
      deepRescanBlocks: 50_000,
      relayLimits: defaultRelayLimits,
      circuitOpenMs: 30_000,
      quoteKeepMs: 20_000,
    },
    explorerTransactionUrl: () => null,
    stop: async () => {},
  };
}

function createQuietChain(): ChainReader {
  const startMs = Date.now();
  const latestNumber = () => 1_000 + Math.floor((Date.now() - startMs) / BLOCK_MS);
  const block = (number: number): BlockReference => ({
    number,
    hash: `0x${number.toString(16).padStart(64, '0')}`,
    timestampMs: startMs + (number - 1_000) * BLOCK_MS,
  });
  const view: ChainView = {
    source: 'stub',
    readLatest: async () => ({ ...block(latestNumber()), parentHash: block(latestNumber() - 1).hash }),
    readFinal: async () => block(latestNumber() - FINAL_AFTER_BLOCKS),
    readHeads: async () => ({
      latest: block(latestNumber()),
      final: block(latestNumber() - FINAL_AFTER_BLOCKS),
    }),
    readBlock: async (number) => (number <= latestNumber() ? block(number) : null),
    readLogs: async ({ toBlock }) => ({ transfers: [], forwarded: [], scannedTo: block(toBlock) }),
    confirmLogs: async () => true,
    readTransactionBlock: async () => null,
    confirmBlock: async () => true,
    confirmReplacement: async () => 'confirmed',
  };
  return {
    listEndpoints: () => [],
    withView: (use) => use(view),
    withOtherView: (use) => use(view),
    withEachView: async (use) => [await use(view)],
  };
}

const stubToken: TokenReader = {
  isBlocklisted: async () => false,
  checkReleases: () => notInThisWorld(),
  readBalance: async () => 0n,
  describe: () => notInThisWorld(),
};

const stubRelayer: Relayer = {
  address: addresses.relayer,
  readLatestTransactionCount: async () => 0,
  readPendingTransactionCount: async () => 0,
  readFinalTransactionCount: async () => 0,
  isAnyMined: () => notInThisWorld(),
  estimateGas: () => notInThisWorld(),
  quoteFees: () => notInThisWorld(),
  sign: () => notInThisWorld(),
  broadcast: () => notInThisWorld(),
  readGasBalance: async () => 10n ** 18n,
  readHeld: async () => 0n,
};

function stubAdapter(id: ProviderId): ProviderAdapter {
  return {
    id,
    quote: async () => ({ chargedCents: 25_00, deliveryUnits: null, minimumUsdCents: null }),
    startSession: () => notInThisWorld(),
  };
}

function notInThisWorld(): never {
  throw new Error('nothing is paid or released in the stubs of the bench');
}
