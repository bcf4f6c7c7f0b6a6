import { createFixedRates } from '../../../sandbox/fixed-rates.ts';
import { type ExternalServices, liveIntervals } from '../../../src/app/external-services.ts';
import { checksumAddress } from '../../../src/payment/address.ts';
import { type ProviderId, providerIds } from '../../../src/payment/provider-catalog.ts';
import type { ProviderAdapter } from '../../../src/providers/provider.ts';
import { createChainReader } from '../../../src/settlement/chain/create-chain-reader.ts';
import { createRelayer } from '../../../src/settlement/chain/relayer.ts';
import { openSigner } from '../../../src/settlement/chain/signer.ts';
import { createBalanceSweep, createTokenReader } from '../../../src/settlement/chain/token-reader.ts';
import { CHAIN_ID, createStubEndpoints, type StubNodeOptions } from './stub-node.ts';

/** Addresses without an owner. */
export const addresses = {
  factory: checksumAddress('fac7'.repeat(10)),
  implementation: checksumAddress('1234'.repeat(10)),
  token: checksumAddress('05dc'.repeat(10)),
  feeWallet: checksumAddress('fee5'.repeat(10)),
} as const;

/** Secret key of all services of the bench. */
export const benchSecret = 'a secret that only the bench knows and that is long enough';

/**
 * Services without a network, with the intervals of live mode: the watcher and the sender do the work that they always do
 * beside the API. Whatever a bench of creates and reads must not reach throws.
 */
export function createStubWorld(options: StubNodeOptions & { readonly maximumBlockRange?: number } = {}) {
  const { factory, implementation, token, feeWallet } = addresses;
  const endpoints = createStubEndpoints(options);
  const { maximumBlockRange = 2_000, nowMs: monotonicMs = Date.now } = options;
  const sweepBalances = createBalanceSweep({ endpoints, token });
  const settlement = { chainId: CHAIN_ID, factory, implementation, token, feeWallet };
  return {
    endpoints,
    settlements: [{ ...settlement, factoryCodeHash: `0x${'00'.repeat(32)}` }],
    chain: createChainReader({
      endpoints,
      sources: { token, factories: [factory] },
      maximumBlockRange,
      monotonicMs,
    }),
    token: createTokenReader({ endpoints, token }),
    relayers: [createRelayer({ endpoints, chainId: CHAIN_ID, signer: openSigner(`0x${'11'.repeat(32)}`) })],
    sweepBalances,
    mistakenToken: { contract: token, sweepBalances },
    rates: createFixedRates(),
    adapters: new Map(providerIds.map((id) => [id, stubAdapter(id)])),
    intervals: liveIntervals,
    explorerTransactionUrl: () => null,
  } satisfies ExternalServices & { readonly endpoints: unknown };
}

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
