import { type ProviderId, providerIds } from '../../payment/provider-catalog.ts';
import type { ProviderDescription, ProviderDescriptions } from '../provider.ts';
import { banxa } from './banxa.ts';
import { coinbase } from './coinbase.ts';
import { cryptocom } from './cryptocom.ts';
import { type Provider, variableNameOf } from './define-provider.ts';
import { moonpay } from './moonpay.ts';
import { klarna, paypal } from './payment-methods.ts';
import { rampnetwork } from './rampnetwork.ts';
import { revolut } from './revolut.ts';
import { stripe } from './stripe.ts';
import { transak } from './transak.ts';
import { wert } from './wert.ts';

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

export const providerDescriptions = Object.fromEntries(
  providerIds.map((id): [ProviderId, ProviderDescription] => {
    const { variables, facts } = providers[id];
    const required = variables.filter(({ isRequired }) => isRequired);
    const requiredVariables = required.map(({ name }) => variableNameOf(id, name));
    return [id, { requiredVariables, unverified: [...facts.inferred, ...facts.unknown] }];
  }),
) as ProviderDescriptions;
