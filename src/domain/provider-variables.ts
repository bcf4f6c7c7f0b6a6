import type { ProviderId } from './provider-catalogue.ts';

/** One of a provider's settings; its environment variable is the provider's id in capitals, `_`, and this name. */
export interface ProviderVariable {
  readonly name: string;
  readonly isSecret: boolean;
  /** Without it the provider cannot be used; with none of the required ones it is inactive. */
  readonly isRequired: boolean;
  readonly help: string;
}

/** Settings of one provider by the names in its list of variables. */
export type ProviderValues = Readonly<Record<string, string>>;

/** A provider's published test environment in the place of the real one. */
export const SANDBOX_ENVIRONMENT = 'sandbox';
export const providerEnvironments = ['production', SANDBOX_ENVIRONMENT] as const;

const secret = (name: string, help: string): ProviderVariable => ({
  name,
  help,
  isSecret: true,
  isRequired: true,
});
const plain = (name: string, help: string): ProviderVariable => ({ ...secret(name, help), isSecret: false });
const optional = (variable: ProviderVariable): ProviderVariable => ({ ...variable, isRequired: false });

/** For an adapter that knows the provider's own addresses. */
const elsewhere = [
  optional(plain('ENVIRONMENT', `One of ${providerEnvironments.join(', ')} of the provider (production).`)),
  optional(
    plain('BASE_URL', "Base URL that replaces all of the provider's hosts, for a simulator or proxy."),
  ),
];

/** The required value of `CRYPTOCOM_ONRAMP`. */
export const CONFIRMED = 'confirmed';

/** Providers that sell nothing themselves, with the providers at which each of them is a payment method. */
export const providerRoutes: Partial<Readonly<Record<ProviderId, readonly ProviderId[]>>> = {
  paypal: ['moonpay'],
  klarna: ['moonpay', 'banxa'],
};

/** Settings of each provider, in the order of the documentation. */
export const providerVariables: Readonly<Record<ProviderId, readonly ProviderVariable[]>> = {
  moonpay: [
    secret('API_KEY', 'The publishable key (`pk_…`); without it, the provider is inactive.'),
    secret('SECRET_KEY', 'The secret key (`sk_…`), which signs the URLs of sessions.'),
    optional(secret('WEBHOOK_KEY', 'The webhook signing key (`wk_…`); without it, webhooks are rejected.')),
    ...elsewhere,
  ],
  wert: [
    secret('API_KEY', 'The API key; without it, the provider is inactive.'),
    plain('PARTNER_ID', 'The partner id, part of the widget URL.'),
    optional(
      secret(
        'NOTICE_TOKEN',
        'A random value that you choose, sent as `token` in the query of the webhook URL; without it, webhooks are rejected.',
      ),
    ),
    ...elsewhere,
  ],
  revolut: [
    secret('API_KEY', 'The API key; without it, the provider is inactive.'),
    optional(
      secret('WEBHOOK_SECRET', "The webhook's signing secret (`wsk_…`); without it, webhooks are rejected."),
    ),
    ...elsewhere,
  ],
  cryptocom: [
    secret('API_KEY', 'The secret key; without it, the provider is inactive.'),
    plain('ONRAMP', `\`${CONFIRMED}\` once Crypto.com has confirmed the on-ramp for your account.`),
    optional(
      plain('BASE_URL', "Base URL that replaces all of the provider's hosts, for a simulator or proxy."),
    ),
  ],
  rampnetwork: [
    secret('API_KEY', 'The host API key; without it, the provider is inactive.'),
    optional(
      secret(
        'SIGNING_KEY',
        'The Ed25519 private key (PEM) that signs session URLs; without it, customers can alter them.',
      ),
    ),
    optional(
      secret(
        'WEBHOOK_PUBLIC_KEY',
        "Ramp Network's key (PEM) for webhooks; without it, webhooks are rejected.",
      ),
    ),
    ...elsewhere,
  ],
  transak: [
    secret('API_KEY', 'The API key; without it, the provider is inactive.'),
    secret('API_SECRET', 'The API secret, which mints access tokens.'),
    optional(
      plain('REFERRER_DOMAIN', 'The domain from which Transak expects customers (the host of BASE_URL).'),
    ),
    ...elsewhere,
  ],
  coinbase: [
    secret('API_KEY', 'The id of the secret API key; without it, the provider is inactive.'),
    secret('API_SECRET', 'The secret of that key: 64 bytes in base64 (Ed25519), or a PEM key (ES256).'),
    optional(
      secret('WEBHOOK_SECRET', "The webhook subscription's secret; without it, webhooks are rejected."),
    ),
    ...elsewhere,
  ],
  paypal: [
    plain(
      'ROUTE',
      '`moonpay` offers PayPal as a payment method of MoonPay; without it, the provider is inactive.',
    ),
  ],
  stripe: [
    secret('API_KEY', 'The secret key (`sk_…`); without it, the provider is inactive.'),
    optional(
      secret(
        'WEBHOOK_SECRET',
        "The webhook endpoint's secret (`whsec_…`); without it, webhooks are rejected.",
      ),
    ),
    optional(
      plain('BASE_URL', "Base URL that replaces all of the provider's hosts, for a simulator or proxy."),
    ),
  ],
  banxa: [
    secret('API_KEY', 'The API key; without it, the provider is inactive.'),
    plain('PARTNER', 'The partner reference, part of the path of every call.'),
    optional(plain('BLOCKCHAIN', "Banxa's code of Polygon (MATIC).")),
    optional(secret('WEBHOOK_SECRET', 'The secret that signs webhooks; without it, webhooks are rejected.')),
    ...elsewhere,
  ],
  klarna: [
    plain('ROUTE', 'A provider that offers Klarna (moonpay or banxa); without it Klarna is inactive.'),
    plain('PAYMENT_METHOD', 'What that provider calls Klarna.'),
  ],
};

/** The environment variable of a provider's setting. */
export function variableNameOf(provider: ProviderId, name: string): string {
  return `${provider.toUpperCase()}_${name}`;
}
