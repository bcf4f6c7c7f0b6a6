import type { ProviderId } from './provider-catalogue.ts';

/**
 * Where a provider's customers find help with a charge that has not arrived. Gathered 2026-11 from the providers' own
 * pages, unverified in the sense of the catalogue: none of them has promised to keep its address.
 */
export const providerSupportUrls: Readonly<Record<ProviderId, string>> = {
  moonpay: 'https://support.moonpay.com/',
  wert: 'https://support.wert.io/',
  revolut: 'https://help.revolut.com/',
  cryptocom: 'https://help.crypto.com/',
  rampnetwork: 'https://support.rampnetwork.com/',
  transak: 'https://support.transak.com/',
  coinbase: 'https://help.coinbase.com/',
  paypal: 'https://www.paypal.com/help',
  stripe: 'https://support.stripe.com/',
  banxa: 'https://support.banxa.com/',
  klarna: 'https://www.klarna.com/customer-service/',
};
