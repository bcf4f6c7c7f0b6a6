import type { ProviderAdapter, ProviderDescription, ProviderDescriptions } from '../domain/ports/provider.ts';
import { type ProviderId, providerIds } from '../domain/provider-catalogue.ts';
import { banxa } from './banxa.ts';
import { coinbase } from './coinbase.ts';
import { cryptocom } from './cryptocom.ts';
import {
  definePaymentMethod,
  oneOf,
  type Provider,
  type ProviderValues,
  plain,
  variableNameOf,
} from './define-provider.ts';
import { moonpay } from './moonpay.ts';
import type { AdapterSettings } from './protocol-adapter.ts';
import { rampnetwork } from './rampnetwork.ts';
import { revolut } from './revolut.ts';
import { stripe } from './stripe.ts';
import { transak } from './transak.ts';
import { wert } from './wert.ts';

/** PayPal's own on-ramp sells no USDC. */
const paypal = definePaymentMethod({
  id: 'paypal',
  variables: [
    oneOf(
      'ROUTE',
      '`moonpay` offers PayPal as a payment method of MoonPay; without it, the provider is inactive.',
      ['moonpay'],
    ),
  ],
  routes: [moonpay],
  nameAt: () => 'paypal',
});

const klarna = definePaymentMethod({
  id: 'klarna',
  variables: [
    oneOf('ROUTE', 'A provider that offers Klarna (moonpay or banxa); without it Klarna is inactive.', [
      'moonpay',
      'banxa',
    ]),
    plain('PAYMENT_METHOD', 'What that provider calls Klarna.'),
  ],
  routes: [moonpay, banxa],
  nameAt: (_route, values) => values['PAYMENT_METHOD'],
});

/** All eleven, each defined in its file. */
export const providers: Readonly<Record<ProviderId, Provider>> = {
  moonpay,
  wert,
  revolut,
  cryptocom,
  rampnetwork,
  transak,
  coinbase,
  paypal,
  stripe,
  banxa,
  klarna,
};

/** The adapter that speaks a provider's protocol. Throws `ProviderSettingError`. */
export function createProviderAdapter(
  id: ProviderId,
  values: ProviderValues,
  settings: AdapterSettings,
): ProviderAdapter {
  return providers[id].open(values, settings);
}

/** What is known of each provider without an account there. */
export const providerDescriptions = Object.fromEntries(
  providerIds.map((id) => [id, descriptionOf(providers[id])]),
) as ProviderDescriptions;

function descriptionOf({ id, variables }: Provider): ProviderDescription {
  const required = variables.filter(({ isRequired }) => isRequired);
  return { requiredVariables: required.map(({ name }) => variableNameOf(id, name)) };
}
