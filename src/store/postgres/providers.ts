import type { ProviderSettings, ProviderStore } from '../../domain/ports/provider-store.ts';
import type { ProviderId } from '../../domain/provider-catalogue.ts';
import { createGroupRead } from './group-read.ts';
import type { Database } from './open-database.ts';
import { statement } from './statement.ts';

const UNSET: ProviderSettings = { active: null, minimumUsdCents: null };

const selectAll = statement('SELECT provider, active, minimum_usd_cents FROM provider_settings');
/** Changes what it is told to change, and only that, whoever changes something else at the same time. */
const upsert = statement(`
  INSERT INTO provider_settings AS present (provider, active, minimum_usd_cents) VALUES ($1, $2, $3)
  ON CONFLICT (provider) DO UPDATE SET
    active = CASE WHEN $4 THEN excluded.active ELSE present.active END,
    minimum_usd_cents = CASE WHEN $5 THEN excluded.minimum_usd_cents ELSE present.minimum_usd_cents END`);

interface SettingsRow {
  readonly provider: ProviderId;
  readonly active: boolean | null;
  readonly minimum_usd_cents: number | null;
}

/** Provider settings, and how to finish what is under way when the store closes. */
export interface ClosableProviderStore {
  readonly store: ProviderStore;
  close(): Promise<void>;
}

/** There are few settings, so all of them are read at once, for all who ask at that time. */
export function createProviderStore(database: Database): ClosableProviderStore {
  const settings = createGroupRead<ProviderId, ProviderSettings>(async () => {
    const rows = await database.query<SettingsRow>(selectAll);
    const byProvider = new Map(
      rows.map((row) => [row.provider, { active: row.active, minimumUsdCents: row.minimum_usd_cents }]),
    );
    return (provider) => byProvider.get(provider) ?? UNSET;
  });

  const store: ProviderStore = {
    readProviderSettings: (provider) => settings.read(provider),
    async writeProviderSettings(provider, change) {
      const { active, minimumUsdCents } = change;
      await database.execute(upsert, [
        ...[provider, active ?? null, minimumUsdCents ?? null],
        ...[active !== undefined, minimumUsdCents !== undefined],
      ]);
    },
  };
  return { store, close: () => settings.close() };
}
