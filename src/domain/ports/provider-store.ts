import type { ProviderId } from '../provider-catalogue.ts';

/** What the operator has set for a provider; null leaves the catalogue's or adapter's own. */
export interface ProviderSettings {
  readonly active: boolean | null;
  readonly minimumUsdCents: number | null;
}

/** Synchronous where it can be: on the path of every create. */
export interface ProviderStore {
  readProviderSettings(provider: ProviderId): ProviderSettings | Promise<ProviderSettings>;
  writeProviderSettings(provider: ProviderId, change: Partial<ProviderSettings>): Promise<void>;
}
