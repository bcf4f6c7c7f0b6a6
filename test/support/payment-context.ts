import { getContractAddress } from 'viem/utils';
import type { Store } from '../../src/app/store/store.ts';
import { type Address, createDepositAddressCalculator } from '../../src/payment/address.ts';
import { parseCallbackUrl } from '../../src/payment/callback-url.ts';
import type { CreatePaymentContext } from '../../src/payment/create-payment.ts';
import { ServiceError } from '../../src/payment/errors.ts';
import { createIpnTokens, type IpnTokens } from '../../src/payment/ipn-token.ts';
import { type Rates, USD_RATE_ONE } from '../../src/payment/money.ts';
import { createPaymentIdGenerator } from '../../src/payment/payment-id.ts';
import { type ProviderId, providerIds } from '../../src/payment/provider-catalog.ts';
import { createProviderChecks, createQuotes } from '../../src/providers/ask-quotes.ts';
import type { ProviderAdapter } from '../../src/providers/provider.ts';
import type { ProviderDirectory } from '../../src/providers/provider-availability.ts';
import type { ProviderLimits } from '../../src/providers/provider-limits-and-regions.ts';
import type { CallbackGuard } from '../../src/webhooks/delivery-types.ts';
import { type QuoteAnswer, quoteOf } from './quote-answer.ts';

/** What creating payments needs of the outside world, under a test's control. */

/** The address that the service under test calls its own. */
export const RESERVED_ADDRESS = '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359';
export const FACTORY: Address = '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359';
export const FEE_WALLET: Address = '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB';
/** The factory's first contract, as it is with the real ones. */
export const IMPLEMENTATION: Address = getContractAddress({ from: FACTORY, nonce: 1n });

export interface World {
  /** Providers that have credentials. */
  readonly adapters: Map<ProviderId, ProviderAdapter>;
  quote: () => Promise<QuoteAnswer>;
  /** What the providers' catalogs are known to say. */
  readonly limits: Map<ProviderId, ProviderLimits>;
  rates: Rates;
  /** Addresses that the service calls its own. */
  readonly reserved: Set<Address>;
  /** How often a provider was asked, DNS was asked, a rate was read. */
  readonly asked: { quotes: number; callbacks: number; rates: number; catalogs: number };
}

export function createWorld(): World {
  const world: World = {
    adapters: new Map(),
    limits: new Map(),
    quote: async () => ({ deliveryUnits: null, minimumUsdCents: null }),
    rates: {
      usdRate: async (currency) => {
        world.asked.rates++;
        return { USD: USD_RATE_ONE, EUR: 110_000_000n, CAD: 73_000_000n, INR: 1_200_000n }[currency];
      },
    },
    reserved: new Set([RESERVED_ADDRESS]),
    asked: { quotes: 0, callbacks: 0, rates: 0, catalogs: 0 },
  };
  for (const id of providerIds) {
    world.adapters.set(id, {
      id,
      quote: (request) => {
        world.asked.quotes++;
        return quoteOf(request, world.quote());
      },
      startSession: async () => {
        throw new ServiceError('provider_unavailable');
      },
    });
  }
  return world;
}

export function createTestTokens(): IpnTokens {
  return createIpnTokens('a secret key of the tests, long enough');
}

export function createTestCallbacks({ asked }: World): CallbackGuard {
  return {
    refusalOf: async (callback) => {
      asked.callbacks++;
      const judgement = parseCallbackUrl(callback, new Set());
      return judgement.ok ? null : judgement.reason;
    },
  };
}

export function createTestDirectory({
  store,
  world,
}: Readonly<{ store: Pick<Store, 'providers'>; world: World }>): ProviderDirectory {
  return {
    adapters: world.adapters,
    settings: store.providers,
    limits: {
      known: (provider) => world.limits.get(provider) ?? null,
      refresh: () => world.asked.catalogs++,
      list: () => [],
    },
  };
}

export function createTestPaymentContext({
  store,
  world,
  nowMs,
  tokens,
}: {
  readonly store: Store;
  readonly world: World;
  readonly nowMs: () => number;
  readonly tokens: IpnTokens;
}): CreatePaymentContext {
  const directory = createTestDirectory({ store, world });
  const quotes = createQuotes({ providers: directory, nowMs, monotonicMs: nowMs, keepMs: 0 });
  return {
    payments: store.payments,
    providers: createProviderChecks(directory, quotes),
    rates: { usdRate: (currency) => world.rates.usdRate(currency) },
    settlement: {
      chainId: 137,
      factory: FACTORY,
      feeWallet: FEE_WALLET,
      depositAddressOf: createDepositAddressCalculator({
        chainId: 137,
        factory: FACTORY,
        implementation: IMPLEMENTATION,
      }),
      reservedAddresses: world.reserved,
    },
    nowMs,
    newPaymentId: createPaymentIdGenerator(nowMs),
    tokenFingerprint: tokens.currentFingerprint,
    thresholdDefaults: { toleranceBasisPoints: 200, maxProviderFeeBasisPoints: 3_000 },
  };
}
