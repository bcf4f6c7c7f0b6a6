/** Setting of a provider. The name omits the provider's prefix. */
export interface ProviderVariable {
  readonly name: string;
  readonly isSecret: boolean;
  /** Whether the provider is inactive without this setting. */
  readonly isRequired: boolean;
  /** Set if the value authenticates webhooks, which are rejected without it. */
  readonly isForWebhooks?: true;
  readonly help: string;
  /** Accepted values; absent if any value is accepted. */
  readonly oneOf?: readonly string[];
}

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
export const webhookSecret = (name: string, help: string): ProviderVariable => ({
  ...optionalSecret(name, `${help}; without it, webhooks are rejected.`),
  isForWebhooks: true,
});
export const oneOf = (name: string, help: string, values: readonly string[]): ProviderVariable => ({
  ...plain(name, help),
  oneOf: values,
});

export const baseUrl = optional(
  plain('BASE_URL', "Base URL that replaces all of the provider's hosts, for a simulator or proxy."),
);
export const environment = [
  optional(
    oneOf('ENVIRONMENT', `One of ${environments.join(', ')} of the provider (production).`, environments),
  ),
  baseUrl,
];
