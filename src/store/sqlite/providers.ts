import type { DatabaseSync } from 'node:sqlite';
import type { ProviderSettings, ProviderStore } from '../../domain/ports/provider-store.ts';
import type { ProviderId } from '../../domain/provider-catalogue.ts';
import type { GroupCommit } from './group-commit.ts';

const UNSET: ProviderSettings = { active: null, minimumUsdCents: null };

interface SettingsRow {
  provider: string;
  active: number | null;
  minimumUsdCents: number | null;
}

/** Settings are kept in memory: there are few, every create needs one, and this process alone writes them. */
export function createProviderStore(database: DatabaseSync, writes: GroupCommit): ProviderStore {
  const columns = 'provider, active, minimum_usd_cents AS "minimumUsdCents"';
  const selectAll = database.prepare(`SELECT ${columns} FROM provider_settings`);
  const select = database.prepare(`SELECT ${columns} FROM provider_settings WHERE provider = ?`);
  const upsert = database.prepare(
    `INSERT INTO provider_settings (provider, active, minimum_usd_cents) VALUES (?, ?, ?)
     ON CONFLICT (provider) DO UPDATE SET active = excluded.active, minimum_usd_cents = excluded.minimum_usd_cents`,
  );
  const rows = selectAll.all() as unknown as SettingsRow[];
  const committed = new Map<string, ProviderSettings>(rows.map((row) => [row.provider, settingsOf(row)]));

  /** Merges with the row and not with the memory, which does not know of writes earlier in the same group. */
  function write(provider: ProviderId, change: Partial<ProviderSettings>): ProviderSettings {
    const row = select.get(provider) as unknown as SettingsRow | undefined;
    const changed = { ...(row === undefined ? UNSET : settingsOf(row)), ...change };
    upsert.run(provider, changed.active === null ? null : Number(changed.active), changed.minimumUsdCents);
    return changed;
  }

  return {
    readProviderSettings: (provider) => committed.get(provider) ?? UNSET,
    async writeProviderSettings(provider, change) {
      committed.set(provider, await writes.runStatement(() => write(provider, change)));
    },
  };
}

function settingsOf(row: SettingsRow): ProviderSettings {
  return { active: row.active === null ? null : row.active === 1, minimumUsdCents: row.minimumUsdCents };
}
