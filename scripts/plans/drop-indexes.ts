import type { Client } from 'pg';

/** Every index and key of the tables that may grow large, as the statements that make it. */
const listSql = `
  SELECT indrelid::regclass AS table, coalesce(conname, indexrelid::regclass::name) AS name, conname IS NOT NULL AS "isKey",
    CASE WHEN conname IS NULL THEN pg_get_indexdef(indexrelid) ELSE
      format('ALTER TABLE %s ADD CONSTRAINT %I %s', indrelid::regclass, conname, pg_get_constraintdef(pg_constraint.oid))
    END AS create
  FROM pg_index JOIN pg_class ON pg_class.oid = indrelid
  LEFT JOIN pg_constraint ON conindid = indexrelid AND contype IN ('p', 'u')
  WHERE relnamespace = 'public'::regnamespace AND relname = ANY($1)
  ORDER BY relname, contype = 'p' DESC, indexrelid`;
/** They are checked for later rows only: those that are filled in keep them by the way they are made. */
const listForeignKeysSql = `
  SELECT conrelid::regclass AS table, conname AS name, true AS "isKey",
    format('ALTER TABLE %s ADD CONSTRAINT %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) || ' NOT VALID' AS create
  FROM pg_constraint WHERE contype = 'f' AND connamespace = 'public'::regnamespace
    AND (conrelid::regclass::text = ANY($1) OR confrelid::regclass::text = ANY($1))`;

interface Dropped {
  readonly table: string;
  readonly name: string;
  readonly isKey: boolean;
  readonly create: string;
}

/**
 * Drops the indexes and keys of tables, because a table is filled first and indexed then in less time.
 * Returns the statements that make them again.
 */
export async function dropIndexes(client: Client, tables: readonly string[]): Promise<string[]> {
  const foreignKeys = await client.query<Dropped>(listForeignKeysSql, [tables]);
  const indexes = await client.query<Dropped>(listSql, [tables]);
  for (const { table, name, isKey } of [...foreignKeys.rows, ...indexes.rows]) {
    await client.query(isKey ? `ALTER TABLE ${table} DROP CONSTRAINT "${name}"` : `DROP INDEX "${name}"`);
  }
  return [...indexes.rows, ...foreignKeys.rows].map(({ create }) => create);
}
