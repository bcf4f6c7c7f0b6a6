import { assembleCore, type CoreStore, type EngineParts } from '../../store/assemble-core.ts';
import type { Scripts } from '../../store/scripts.ts';
import { coreTables } from '../../store/tables.ts';
import { createFeatureStores, storedFeatures } from '../stored-features.ts';

export type Store = ReturnType<typeof assembleStore>;

export interface StoreOptions {
  /** Wall clock for the times that the store itself records. */
  readonly nowMs?: () => number;
  /** Called when an idle PostgreSQL connection breaks or a SQLite commit fails. A commit also throws to its callers. */
  readonly onError?: (error: Error) => void;
  /** Whether the schema may be created or migrated (default true). If not, an older schema is refused. */
  readonly mayMigrate?: boolean;
}

export function assembleStore(scripts: Scripts, nowMs: () => number, parts: EngineParts) {
  const core: CoreStore = assembleCore(scripts, nowMs, storedFeatures, parts);
  return { ...core, ...createFeatureStores(scripts) };
}

/** All tables that `move-store` copies, each after those that it references. */
export const tables = [...coreTables, ...storedFeatures.flatMap((feature) => feature.tables)];
