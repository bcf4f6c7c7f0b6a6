/**
 * Changes that read and then write, at two instances at once. A held row makes both read before either writes, unless one
 * waits for the other as it should.
 */
import { Client } from 'pg';
import { afterAll, afterEach, beforeEach, expect, it } from 'vitest';
import { bookTransfer, cancelRefund } from '../../src/features/refunds/refund.ts';
import { openPostgresStore } from '../../src/store/postgres/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { startPostgres } from '../support/postgres.ts';
import { giveRefund, newRefund } from '../support/refunds.ts';
import { waitFor } from '../support/wait-for.ts';
import { ADDRESS, givePayment, NOW_MS } from './fixtures.ts';
import { newUser } from './people.ts';

const postgres = await startPostgres();
let url: string;
let one: Store;
let other: Store;

beforeEach(async () => {
  url = await postgres.createDatabase();
  [one, other] = await Promise.all([openPostgresStore({ url }), openPostgresStore({ url })]);
});
afterEach(async () => {
  await Promise.all([one.close(), other.close()]);
  await postgres.dropDatabase(url);
});
afterAll(() => postgres.stop());

const waiting = `SELECT count(*)::int AS count FROM pg_stat_activity
  WHERE datname = current_database() AND wait_event_type = 'Lock'`;

/** Holds a row until each of these waits for a lock. */
async function whileHeld(row: string, begin: readonly (() => Promise<unknown>)[]): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('BEGIN');
    await client.query(`SELECT 1 FROM ${row} FOR UPDATE`);
    const begun: Promise<unknown>[] = [];
    for (const each of begin) {
      begun.push(each());
      await waitFor('the change to wait for a lock', 10_000, async () => {
        const [found] = await postgres.query(url, waiting);
        return found?.['count'] === begun.length;
      });
    }
    await client.query('COMMIT');
    return await Promise.all(begun);
  } finally {
    await client.end();
  }
}

it('takes a code of an authenticator app once, also while the user is changed', async () => {
  const user = newUser({ passwordHash: 'old', totpSecret: 'sealed', totpStep: 100 });
  await one.people.createUser(user);
  const [isTaken] = await whileHeld(`users WHERE id = '${user.id}'`, [
    () => one.people.consumeTotpStep(user.id, 101),
    () => other.people.updateUser(user.id, { totpSecret: 'sealed anew' }),
  ]);
  expect(isTaken).toBe(true);
  expect(await one.people.consumeTotpStep(user.id, 101)).toBe(false);
});

it('keeps a refund paid, and erases the address from its reason, when both come at once', async () => {
  const payment = await givePayment(one, { email: 'jane@example.com' });
  const reason = 'asked by jane@example.com';
  const refund = await giveRefund(
    one,
    newRefund(payment, { reason, createdAtMs: NOW_MS, destination: ADDRESS }),
  );
  const place = { blockNumber: 12, logIndex: 3, transactionHash: `0x${'ab'.repeat(32)}` };
  const transfer = { recipient: ADDRESS as `0x${string}`, units: refund.units, ...place };
  const book = () =>
    one.refunds.changeRefund(refund, (view) => bookTransfer(view, [transfer], 10n ** 8n, NOW_MS), NOW_MS);
  await whileHeld(`refunds WHERE id = '${refund.id}'`, [book, () => other.emails.eraseEmail(payment)]);
  const found = await one.refunds.findRefund(payment.accountId, refund.id);
  expect(found).toMatchObject({ status: 'paid', transactionHash: place.transactionHash });
  expect(found?.reason).not.toContain('jane');
});

it('keeps a refund canceled while the address is erased', async () => {
  const payment = await givePayment(one, { email: 'jane@example.com' });
  const given = { reason: 'Broken', createdAtMs: NOW_MS, destination: ADDRESS } as const;
  const refund = await giveRefund(one, newRefund(payment, given));
  await whileHeld(`refunds WHERE id = '${refund.id}'`, [
    () => one.refunds.changeRefund(refund, (view) => cancelRefund(view, NOW_MS), NOW_MS),
    () => other.emails.eraseEmail(payment),
  ]);
  expect((await one.refunds.findRefund(payment.accountId, refund.id))?.status).toBe('canceled');
});

it('leaves nothing of an erased address in the index while the note is edited', async () => {
  const termsOf = async (email: string | null) => {
    const payment = await givePayment(one, { email, note: 'hat' });
    while ((await one.search.indexPayments(100)) > 0);
    const count = async () =>
      (await postgres.query(url, `SELECT term FROM payment_terms WHERE payment_id = '${payment.id}'`)).length;
    return { payment, count };
  };
  const without = await termsOf(null);
  const { payment, count } = await termsOf('jane@example.com');
  await whileHeld(`payments WHERE id = '${payment.id}'`, [
    () => other.emails.eraseEmail(payment),
    () => one.search.editNote(payment, 'hat'),
  ]);
  expect(await count()).toBe(await without.count());
});
