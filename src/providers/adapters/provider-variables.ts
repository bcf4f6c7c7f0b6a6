/** One setting of a provider, without the provider's prefix. */
export interface ProviderVariable {
  readonly name: string;
  readonly isSecret: boolean;
  /** Required to use the provider, which is inactive without any required setting. */
  readonly isRequired: boolean;
  /** Authenticates webhooks, which are rejected without it. */
  readonly isForWebhooks?: true;
  readonly help: string;
  /** Accepted values; absent for any. */
  readonly oneOf?: readonly string[];
}

/** A provider's published test environment. */
export const SANDBOX_ENVIRONMENT = 'sandbox';
const environments = ['production', SANDBOX_ENVIRONMENT] as const;

export const secret = (name: string, help: string): ProviderVariable => ({
  name,
  help,
  isSecret: true,
  isRequired: true,
});
export const plain = (name: string, help: string): ProviderVariable => ({
  ...secret(name, help),
  isSecret: false,
});
export const optional = (variable: ProviderVariable): ProviderVariable => ({
  ...variable,
  isRequired: false,
});
export const optionalSecret = (name: string, help: string): ProviderVariable => optional(secret(name, help));
/** Authenticates webhooks; `help` describes the secret. */
export const webhookSecret = (name: string, help: string): ProviderVariable => ({
  ...optionalSecret(name, `${help}; without it, webhooks are rejected.`),
  isForWebhooks: true,
});
export const oneOf = (name: string, help: string, values: readonly string[]): ProviderVariable => ({
  ...plain(name, help),
  oneOf: values,
});

/** Setting of a provider that a simulator or proxy can replace. */
export const baseUrl = optional(
  plain('BASE_URL', "Base URL that replaces all of the provider's hosts, for a simulator or proxy."),
);
/** Settings of a provider with a test environment. */
export const environment = [
  optional(
    oneOf('ENVIRONMENT', `One of ${environments.join(', ')} of the provider (production).`, environments),
  ),
  baseUrl,
];
