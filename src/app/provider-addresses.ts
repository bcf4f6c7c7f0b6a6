import type { ProviderId } from '../domain/provider-catalogue.ts';

/** Where a provider reaches this service: its public root, and below it the route of `src/http/provider-notices.ts`. */
export function addressesFor(provider: ProviderId, baseUrl: string): { baseUrl: string; noticesUrl: string } {
  return { baseUrl, noticesUrl: `${baseUrl}/providers/${provider}/notices` };
}
