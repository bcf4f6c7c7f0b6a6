import type { Config } from '../config.ts';
import { createDepositAddressCalculator } from '../domain/deposit-address.ts';
import type { IpnTokens } from '../domain/ipn-token.ts';
import { createPaymentIdGenerator } from '../domain/payment-id.ts';
import type { Clock } from '../domain/ports/clock.ts';
import type { CreatePaymentContext } from '../payments/create-payment.ts';
import { createReservedAddressCheck, type KnownAddresses } from '../payments/known-addresses.ts';
import type { ProviderDirectory } from '../payments/provider-availability.ts';
import type { Store } from '../store/store.ts';
import type { World } from './world.ts';

interface PaymentParts {
  readonly config: Config;
  readonly store: Store;
  readonly world: World;
  readonly clock: Clock;
  readonly known: KnownAddresses;
  readonly directory: ProviderDirectory;
  readonly tokens: IpnTokens;
}

/** What creating payments needs of a running service. */
export function createPaymentContext(parts: PaymentParts): CreatePaymentContext {
  const { world, store, clock, known, config } = parts;
  const [{ factory, implementation, token, feeWallet }] = world.settlements;
  const contracts = world.settlements.flatMap((earlier) => [earlier.factory, earlier.implementation]);
  return {
    payments: store.payments,
    providers: parts.directory,
    rates: world.rates,
    settlement: {
      chainId: world.chainId,
      factory,
      feeWallet,
      depositAddressOf: createDepositAddressCalculator({ chainId: world.chainId, factory, implementation }),
      isReservedAddress: createReservedAddressCheck(
        known,
        [token, ...contracts, world.relayer.address],
        clock.monotonicMs,
      ),
      noteDeposit: known.takeIn,
    },
    nowMs: clock.nowMs,
    newPaymentId: createPaymentIdGenerator(clock.nowMs),
    tokenFingerprint: parts.tokens.currentFingerprint,
    thresholdDefaults: config.thresholdDefaults,
  };
}
