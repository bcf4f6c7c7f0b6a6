import { SERVICE_LOG } from '../domain/audit-entry.ts';
import { formatCents } from '../domain/money.ts';
import type { AuditStore } from '../domain/ports/account-store.ts';
import type { ProviderSettings, ProviderStore } from '../domain/ports/provider.ts';
import { type ProviderId, providerCatalogue } from '../domain/provider-catalogue.ts';
import { type Actor, recordAction } from './people-context.ts';

interface ProviderContext {
  readonly directory: { readonly settings: ProviderStore };
  readonly audit: AuditStore;
  readonly nowMs: () => number;
}

/** Changes a provider for an operator, by the console or the command line, and records it in the service's log. */
export async function changeProvider(
  context: ProviderContext,
  provider: ProviderId,
  change: Partial<ProviderSettings>,
  actor: Actor,
): Promise<void> {
  await context.directory.settings.writeProviderSettings(provider, change);
  const words = wordsOf(provider, change);
  if (words.length > 0) await recordAction(context, SERVICE_LOG, actor, 'provider.changed', words);
}

function wordsOf(provider: ProviderId, { active, minimumUsdCents }: Partial<ProviderSettings>): string {
  const words: string[] = [];
  if (active !== undefined) words.push(active === false ? 'switched off' : 'switched on');
  if (minimumUsdCents !== undefined) {
    words.push(
      minimumUsdCents === null ? 'the default minimum' : `minimum ${formatCents(minimumUsdCents)} USD`,
    );
  }
  return words.length === 0 ? '' : `${providerCatalogue[provider].name}: ${words.join(', ')}`;
}
