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
  ...{ name, help, isSecret: true },
  isRequired: true,
});
const plain = (name: string, help: string): ProviderVariable => ({ ...secret(name, help), isSecret: false });
const optional = (variable: ProviderVariable): ProviderVariable => ({ ...variable, isRequired: false });

const apiKey = secret('API_KEY', 'Credentials of this provider; without them it is inactive.');

/** For an adapter that knows the provider's own addresses. */
const elsewhere = [
  optional(plain('ENVIRONMENT', `One of ${providerEnvironments.join(', ')} of the provider (production).`)),
  optional(plain('BASE_URL', "A root in the place of all of the provider's hosts: a simulator or proxy.")),
];

/** For the protocol of our own, which no real provider speaks. */
const hostedSession = [apiKey, plain('BASE_URL', "Where this provider's adapter sends its requests.")];

/** What each provider is configured with, in the order in which it is documented. */
export const providerVariables: Readonly<Record<ProviderId, readonly ProviderVariable[]>> = {
  moonpay: [
    secret('API_KEY', 'The publishable key (`pk_…`); without it the provider is inactive.'),
    secret('SECRET_KEY', 'The secret key (`sk_…`), which signs the addresses customers are sent to.'),
    optional(secret('WEBHOOK_KEY', 'The webhook signing key (`wk_…`); without it no notices are taken.')),
    ...elsewhere,
  ],
  wert: hostedSession,
  revolut: hostedSession,
  cryptocom: hostedSession,
  rampnetwork: [
    secret('API_KEY', 'The host API key; without it the provider is inactive.'),
    optional(
      secret(
        'SIGNING_KEY',
        'The Ed25519 private key (PEM) that signs addresses; without it they are not locked.',
      ),
    ),
    optional(
      secret('WEBHOOK_PUBLIC_KEY', "Ramp Network's key (PEM) for notices; without it no notices are taken."),
    ),
    ...elsewhere,
  ],
  transak: [
    secret('API_KEY', 'The API key; without it the provider is inactive.'),
    secret('API_SECRET', 'The API secret, which mints access tokens.'),
    optional(
      plain('REFERRER_DOMAIN', 'The domain Transak expects customers to come from (that of BASE_URL).'),
    ),
    ...elsewhere,
  ],
  coinbase: hostedSession,
  paypal: hostedSession,
  stripe: [
    secret('API_KEY', 'The secret key (`sk_…`); without it the provider is inactive.'),
    optional(
      secret('WEBHOOK_SECRET', "The webhook endpoint's secret (`whsec_…`); without it no notices are taken."),
    ),
    optional(plain('BASE_URL', "A root in the place of all of the provider's hosts: a simulator or proxy.")),
  ],
  banxa: hostedSession,
  klarna: hostedSession,
};

/** The environment variable of a provider's setting. */
export function variableNameOf(provider: ProviderId, name: string): string {
  return `${provider.toUpperCase()}_${name}`;
}
