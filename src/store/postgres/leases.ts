import type { LeaseStore } from '../../domain/ports/lease-store.ts';
import type { Database } from './open-database.ts';
import { statement } from './statement.ts';

/**
 * A row that ends by itself, and no advisory lock: that would be held by a machine that has dropped off the network
 * until the server notices, which can take hours. The server's clock is the only one that is asked.
 */
const take = statement(`
  INSERT INTO leases AS present (name, holder, ends_at)
  VALUES ($1, $2, clock_timestamp() + $3 * interval '1 millisecond')
  ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, ends_at = excluded.ends_at
  WHERE present.holder = excluded.holder OR present.ends_at <= clock_timestamp()`);
const release = statement('DELETE FROM leases WHERE name = $1 AND holder = $2');

export function createLeaseStore(database: Database): LeaseStore {
  return {
    takeLease: async (name, holder, durationMs) =>
      (await database.execute(take, [name, holder, durationMs])) === 1,
    async releaseLease(name, holder) {
      await database.execute(release, [name, holder]);
    },
  };
}
