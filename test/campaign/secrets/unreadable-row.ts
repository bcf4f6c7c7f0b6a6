import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { queryPostgres } from '../../support/postgres.ts';
import type { Stage } from './stage.ts';
import type { Strangers } from './tenancy.ts';

/**
 * Somebody writes a payment into the database that no code knows. To its owner that is an error of ours, which says
 * nothing of what is in the row; to another account it is still a payment that never was.
 */
export async function meetUnreadableRow(
  stage: Stage,
  { asking, owner }: Strangers,
  databaseUrl: string | null,
): Promise<void> {
  const { payment_id: id, ipn_token: token } = await stage.create(await withRoom(stage, owner.accountId));
  const read = (apiKey: string, query: string) =>
    stage.ask({
      method: 'GET',
      path: `/api/v1/payment-status?${query}`,
      headers: { 'x-api-key': apiKey },
    });
  const nobody = await read(asking.apiKey, 'payment_id=none');
  await execute(stage, databaseUrl, `UPDATE payments SET status = email WHERE id = '${id}'`);
  for (const query of [`payment_id=${id}`, `ipn_token=${token}`]) {
    const own = await read(owner.apiKey, query);
    if (own.status !== 500) throw new Error(`an unreadable row answered ${own.status}`);
    const foreign = await read(asking.apiKey, query);
    stage.tally.expect(
      'foreignIds',
      foreign.comparable === nobody.comparable,
      () => `an unreadable row: ${foreign.comparable}`,
    );
  }
  const page = await stage.ask({ method: 'GET', path: `/pay/${id}` });
  if (page.status !== 500) throw new Error(`the page of an unreadable row answered ${page.status}`);
}

/** A new key of the account: the others may have used up their minute. */
async function withRoom(stage: Stage, accountId: string) {
  const key = await stage.command<{ key_id: string; api_key: string }>('key create', { account: accountId });
  stage.search.add({
    name: 'another API key',
    kind: 'key',
    secret: key.api_key.slice('service_live_'.length),
  });
  return { accountId, keyId: key.key_id, apiKey: key.api_key };
}

async function execute(stage: Stage, databaseUrl: string | null, sql: string): Promise<void> {
  if (databaseUrl !== null) {
    await queryPostgres(databaseUrl, sql);
    return;
  }
  const database = new DatabaseSync(join(stage.dataDir, 'card-checkout.sqlite'), { timeout: 10_000 });
  try {
    database.exec(sql);
  } finally {
    database.close();
  }
}
