import type { ProviderId } from '../domain/provider-catalogue.ts';

/** The address at which a provider reaches the route of `src/http/provider-webhooks.ts` below this root. */
export function webhookUrlOf(provider: ProviderId, root: string): string {
  return `${root}/providers/${provider}/webhooks`;
}
