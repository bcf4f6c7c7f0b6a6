import type { AuditStore } from '../accounts/account-store.ts';
import { SERVICE_LOG } from '../accounts/audit-entry.ts';
import { type Actor, recordAction } from '../accounts/people-context.ts';
import { formatCents } from '../payment/money.ts';
import { type ProviderId, providerCatalog } from '../payment/provider-catalog.ts';
import type { ProviderAdapters, ProviderSettings, ProviderStore } from './provider.ts';
import { type EvidenceStore, proofOf } from './provider-evidence.ts';

interface ProviderContext {
  readonly directory: {
    readonly adapters: ProviderAdapters | null;
    readonly settings: ProviderStore;
    readonly evidence?: EvidenceStore;
  };
  readonly audit: AuditStore;
  readonly nowMs: () => number;
}

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

/** Enables proved providers without a setting, on all instances. Returns the unproved providers without a setting. */
export async function switchOnProved(context: ProviderContext, actor: Actor): Promise<readonly ProviderId[]> {
  const { adapters, settings, evidence } = context.directory;
  const undecided: ProviderId[] = [];
  for (const [id, { endpoint }] of adapters ?? []) {
    if ((await settings.readProviderSettings(id)).active !== null) continue;
    const { isProved } = proofOf((await evidence?.readEvidence(id)) ?? null, endpoint);
    if (isProved) await changeProvider(context, id, { active: true }, actor);
    else undecided.push(id);
  }
  return undecided;
}

function wordsOf(
  provider: ProviderId,
  { active, pinned, minimumUsdCents }: Partial<ProviderSettings>,
): string {
  const words: string[] = [];
  if (active !== undefined) words.push(active === false ? 'switched off' : 'switched on');
  if (pinned !== undefined) words.push(pinned === true ? 'pinned' : 'unpinned');
  if (minimumUsdCents !== undefined) {
    words.push(
      minimumUsdCents === null ? 'the default minimum' : `minimum ${formatCents(minimumUsdCents)} USD`,
    );
  }
  return words.length === 0 ? '' : `${providerCatalog[provider].name}: ${words.join(', ')}`;
}
