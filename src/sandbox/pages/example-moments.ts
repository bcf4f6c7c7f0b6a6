import { ServiceError } from '../../domain/errors.ts';
import type { ProviderId } from '../../domain/provider-catalogue.ts';
import type { CheckoutMoment } from '../../http/checkout/checkout-page.ts';
import type { ExampleState } from './example-states.ts';

/** What a customer meets besides a checkout's state: the state it happens in, and what happens. */
export interface ExampleMoment {
  readonly state: ExampleState;
  readonly moment?: CheckoutMoment;
  /** What a click on this provider led to. */
  readonly problem?: { readonly provider: ProviderId | null; readonly error: ServiceError };
}

export const exampleMoments: Readonly<Record<string, ExampleMoment>> = {
  going: { state: 'choose', moment: { kind: 'going', provider: 'moonpay' } },
  offline: { state: 'at-provider', moment: { kind: 'offline' } },
  'provider-down': { state: 'choose', problem: problem('moonpay', 'provider_unavailable') },
  'provider-down-single': { state: 'choose-single', problem: problem('moonpay', 'provider_unavailable') },
  'provider-busy': { state: 'choose', problem: problem('wert', 'provider_unavailable', 2) },
  'provider-inactive': { state: 'choose', problem: problem('wert', 'provider_inactive') },
  'below-minimum': { state: 'choose-small', problem: problem('moonpay', 'below_minimum') },
  'currency-locked': { state: 'choose', problem: problem('klarna', 'currency_locked') },
  'country-asked': { state: 'choose', problem: problem('revolut', 'invalid_request') },
  'too-often': { state: 'choose', problem: problem('wert', 'rate_limited') },
};

function problem(
  provider: ProviderId,
  name: ConstructorParameters<typeof ServiceError>[0],
  retryAfterSeconds?: number,
) {
  return { provider, error: new ServiceError(name, undefined, { retryAfterSeconds }) };
}
