import type { KeyObject } from 'node:crypto';
import type { ProviderAdapter } from '../domain/ports/provider.ts';
import type { ProviderId } from '../domain/provider-catalogue.ts';
import { type ProviderValues, SANDBOX_ENVIRONMENT, variableNameOf } from '../domain/provider-variables.ts';
import { createBanxaAdapter } from './banxa.ts';
import { createCoinbaseAdapter, readCoinbaseKey } from './coinbase.ts';
import { createCryptocomAdapter } from './cryptocom.ts';
import { createMoonpayAdapter } from './moonpay.ts';
import type { AdapterSettings } from './protocol-adapter.ts';
import { createRampNetworkAdapter, readSigningKey, readWebhookKey } from './rampnetwork.ts';
import { createRevolutAdapter } from './revolut.ts';
import { createStripeAdapter } from './stripe.ts';
import { createTransakAdapter } from './transak.ts';
import { createWertAdapter } from './wert.ts';

/** A setting that is there but cannot be used; the message names the variable and never repeats its value. */
export class ProviderSettingError extends Error {
  override readonly name = 'ProviderSettingError';
}

/** A provider's settings, and which of its hosts they lead to. */
interface Settings extends AdapterSettings {
  value(name: string): string;
  valueOrNull(name: string): string | null;
  /** A key as it is read from its text. Throws for what is missing or cannot be read. */
  key(name: string, read: (text: string) => KeyObject | null): KeyObject;
  /** The same; null where none is set. */
  keyOrNull(name: string, read: (pem: string) => KeyObject | null): KeyObject | null;
  /** A host of the provider: below BASE_URL at this path where that is set, else that of the environment. */
  host(path: string, hosts: { readonly production: string; readonly sandbox: string }): string;
  readonly isSandbox: boolean;
}

/** The adapter that speaks a provider's protocol. Throws `ProviderSettingError`. */
export function createProviderAdapter(
  id: ProviderId,
  values: ProviderValues,
  settings: AdapterSettings,
): ProviderAdapter {
  const all = settingsOf(id, values, settings);
  switch (id) {
    case 'banxa':
      return banxa(all, { id, paymentMethod: 'debit-credit-card' });
    case 'coinbase':
      return coinbase(all);
    case 'cryptocom':
      return cryptocom(all);
    case 'klarna':
      return routed(all, { id, paymentMethod: all.value('PAYMENT_METHOD') });
    case 'moonpay':
      return moonpay(all, { id, paymentMethod: 'credit_debit_card' });
    case 'paypal':
      return routed(all, { id, paymentMethod: 'paypal' });
    case 'rampnetwork':
      return rampNetwork(all);
    case 'revolut':
      return revolut(all);
    case 'stripe':
      return stripe(all);
    case 'transak':
      return transak(all);
    case 'wert':
      return wert(all);
  }
}

function settingsOf(id: ProviderId, values: ProviderValues, settings: AdapterSettings): Settings {
  const isSandbox = values['ENVIRONMENT'] === SANDBOX_ENVIRONMENT;
  const valueOrNull = (name: string) => values[name] ?? null;
  const value = (name: string) => {
    const given = valueOrNull(name);
    if (given === null) throw new ProviderSettingError(`${variableNameOf(id, name)} is missing.`);
    return given;
  };
  const key = (name: string, read: (text: string) => KeyObject | null) => {
    const given = read(value(name));
    if (given === null)
      throw new ProviderSettingError(`${variableNameOf(id, name)} is no key of the right kind.`);
    return given;
  };
  return {
    ...settings,
    isSandbox,
    valueOrNull,
    value,
    key,
    keyOrNull: (name, read) => (valueOrNull(name) === null ? null : key(name, read)),
    host(path, hosts) {
      const root = valueOrNull('BASE_URL');
      if (root !== null) return `${root}/${path}`;
      return isSandbox ? hosts.sandbox : hosts.production;
    },
  };
}

/** A provider that is a payment method at another one, and the method's name there. */
interface PaymentMethodRoute {
  readonly id: ProviderId;
  readonly paymentMethod: string;
}

/** A provider that sells nothing itself, as a way to pay at another one, whose settings are beside its own. */
function routed(settings: Settings, methodRoute: PaymentMethodRoute): ProviderAdapter {
  const route = settings.value('ROUTE');
  if (route === 'moonpay') return moonpay(settings, methodRoute);
  if (route === 'banxa') return banxa(settings, methodRoute);
  throw new ProviderSettingError(
    `${variableNameOf(methodRoute.id, 'ROUTE')} names no provider that it can go through.`,
  );
}

function cryptocom(settings: Settings): ProviderAdapter {
  const pay = 'https://pay.crypto.com';
  return createCryptocomAdapter({
    ...settings,
    apiUrl: settings.host('api', { production: pay, sandbox: pay }),
    apiKey: settings.value('API_KEY'),
  });
}

function moonpay(settings: Settings, methodRoute: PaymentMethodRoute): ProviderAdapter {
  const { host, value } = settings;
  const api = 'https://api.moonpay.com';
  return createMoonpayAdapter({
    ...settings,
    ...methodRoute,
    widgetUrl: host('widget', {
      production: 'https://buy.moonpay.com',
      sandbox: 'https://buy-sandbox.moonpay.com',
    }),
    apiUrl: host('api', { production: api, sandbox: api }),
    asset: settings.isSandbox ? 'usdc' : 'usdc_polygon',
    apiKey: value('API_KEY'),
    secretKey: value('SECRET_KEY'),
    webhookKey: settings.valueOrNull('WEBHOOK_KEY'),
  });
}

function transak(settings: Settings): ProviderAdapter {
  const { host, value } = settings;
  return createTransakAdapter({
    ...settings,
    apiUrl: host('api', { production: 'https://api.transak.com', sandbox: 'https://api-stg.transak.com' }),
    gatewayUrl: host('gateway', {
      production: 'https://api-gateway.transak.com',
      sandbox: 'https://api-gateway-stg.transak.com',
    }),
    apiKey: value('API_KEY'),
    apiSecret: value('API_SECRET'),
    referrerDomain: settings.valueOrNull('REFERRER_DOMAIN') ?? new URL(settings.baseUrl).hostname,
  });
}

function rampNetwork(settings: Settings): ProviderAdapter {
  const { host, keyOrNull } = settings;
  return createRampNetworkAdapter({
    ...settings,
    widgetUrl: host('widget', {
      production: 'https://app.rampnetwork.com',
      sandbox: 'https://app.demo.rampnetwork.com',
    }),
    apiUrl: host('api', {
      production: 'https://api.rampnetwork.com',
      sandbox: 'https://api.demo.rampnetwork.com',
    }),
    apiKey: settings.value('API_KEY'),
    signingKey: keyOrNull('SIGNING_KEY', readSigningKey),
    webhookKey: keyOrNull('WEBHOOK_PUBLIC_KEY', readWebhookKey),
  });
}

function stripe(settings: Settings): ProviderAdapter {
  const api = 'https://api.stripe.com';
  return createStripeAdapter({
    ...settings,
    apiUrl: settings.host('api', { production: api, sandbox: api }),
    apiKey: settings.value('API_KEY'),
    webhookSecret: settings.valueOrNull('WEBHOOK_SECRET'),
  });
}

function wert(settings: Settings): ProviderAdapter {
  const { host, value } = settings;
  const widget = { production: 'https://widget.wert.io', sandbox: 'https://sandbox.wert.io' };
  return createWertAdapter({
    ...settings,
    partnerUrl: host('partner', {
      production: 'https://partner.wert.io',
      sandbox: 'https://partner-sandbox.wert.io',
    }),
    apiUrl: host('api', widget),
    widgetUrl: host('widget', widget),
    apiKey: value('API_KEY'),
    partnerId: value('PARTNER_ID'),
    webhookToken: settings.valueOrNull('NOTICE_TOKEN'),
  });
}

function revolut(settings: Settings): ProviderAdapter {
  return createRevolutAdapter({
    ...settings,
    apiUrl: settings.host('api', {
      production: 'https://ramp-partners.revolut.com',
      sandbox: 'https://ramp-partners.revolut.codes',
    }),
    apiKey: settings.value('API_KEY'),
    webhookSecret: settings.valueOrNull('WEBHOOK_SECRET'),
  });
}

function coinbase(settings: Settings): ProviderAdapter {
  const { host, value } = settings;
  const platform = 'https://api.cdp.coinbase.com';
  const developer = 'https://api.developer.coinbase.com';
  return createCoinbaseAdapter({
    ...settings,
    platformUrl: host('platform', { production: platform, sandbox: platform }),
    developerUrl: host('developer', { production: developer, sandbox: developer }),
    keyId: value('API_KEY'),
    signingKey: settings.key('API_SECRET', readCoinbaseKey),
    webhookSecret: settings.valueOrNull('WEBHOOK_SECRET'),
  });
}

function banxa(settings: Settings, methodRoute: PaymentMethodRoute): ProviderAdapter {
  const { host, value } = settings;
  const root = host('api', {
    production: 'https://api.banxa.com',
    sandbox: 'https://api.banxa-sandbox.com',
  });
  return createBanxaAdapter({
    ...settings,
    ...methodRoute,
    apiUrl: `${root}/${encodeURIComponent(value('PARTNER'))}`,
    apiKey: value('API_KEY'),
    blockchain: settings.valueOrNull('BLOCKCHAIN') ?? 'MATIC',
    webhookSecret: settings.valueOrNull('WEBHOOK_SECRET'),
  });
}
