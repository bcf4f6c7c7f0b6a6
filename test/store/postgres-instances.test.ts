import { connect, createServer } from 'node:net';
import { Client } from 'pg';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openPostgresStore } from '../../src/app/store/postgres-store.ts';
import type { Store } from '../../src/app/store/store.ts';
import { bookTransfer } from '../../src/features/refunds/refund.ts';
import type { Payment } from '../../src/payment/payment.ts';
import type { PaymentView } from '../../src/payment/payment-store.ts';
import type { SharedStore } from '../../src/store/assemble-core.ts';
import { StoreClosedError } from '../../src/store/store-errors.ts';
import { startPostgres } from '../support/postgres.ts';
import { giveRefund, newRefund } from '../support/refunds.ts';
import { waitFor } from '../support/wait-for.ts';
import {
  ADDRESS,
  atOnce,
  giveAccount,
  givePayment,
  givePayments,
  leave,
  NOW_MS,
  newKey,
  newPayment,
  newRecord,
  pay,
  webhook,
} from './fixtures.ts';
import { block } from './observations.ts';
import { newUser } from './people.ts';

const postgres = await startPostgres();
afterAll(() => postgres.stop());

let url: string;
let one: Store;
let other: Store;

beforeEach(async () => {
  url = await postgres.createDatabase();
  // At once, as instances start: both migrate, or wait for the other to have done it.
  [one, other] = await Promise.all([openPostgresStore({ url }), openPostgresStore({ url })]);
});
afterEach(async () => {
  await Promise.all([one.close(), other.close()]);
  await postgres.dropDatabase(url);
});

/** The two instances by turns. */
const instance = (index: number) => (index % 2 === 0 ? one : other);

/** A connection of a third party, which is closed in the end. */
async function withClient<T>(use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

describe('events of transactions that cross', () => {
  it('reach a reader that was ahead, also where a lower row commits later', async () => {
    const [slow, fast] = await givePayments(one, 2);
    const accountId = slow?.accountId as string;
    let last = 0;
    await withClient(async (client) => {
      await client.query('BEGIN');
      await client.query(
        `INSERT INTO unnumbered_events (account_id, payment_id, at_ms, type) VALUES ($1, $2, 1, 'payment.paid')`,
        [accountId, slow?.id],
      );
      await other.payments.decidePayment((fast as Payment).id, pay);
      await one.events.numberEvents(10);
      const seen = await other.events.listEvents(accountId, 0, 10);
      expect(seen.events).toMatchObject([{ paymentId: fast?.id }]);
      await client.query('COMMIT');
      last = seen.newest;
    });
    await Promise.all([one.events.numberEvents(10), other.events.numberEvents(10)]);
    const later = await other.events.listEvents(accountId, last, 10);
    expect(later.events).toMatchObject([{ paymentId: slow?.id }]);
  });
});

describe('two instances on one database', () => {
  it('refuse a revoked key and heed a suspension with the next request, wherever it was known before', async () => {
    const account = await giveAccount(one);
    const key = newKey(account.id);
    await one.accounts.createKey(key, 10);
    expect(await other.accounts.findActiveKey(key.hash)).toEqual({
      account,
      scopes: key.scopes,
      callbackHost: null,
    });
    await one.accounts.updateAccount(account.id, { suspended: true });
    expect(await other.accounts.findActiveKey(key.hash)).toMatchObject({ account: { suspended: true } });
    await one.accounts.revokeKey(key.id, NOW_MS);
    expect(await other.accounts.findActiveKey(key.hash)).toBeNull();
  });

  it('create once for each of many keys that both use in opposite orders', async () => {
    const { accountId } = await givePayment(one);
    const keys = Array.from({ length: 300 }, (_, index) => `key ${index}`);
    const create = (store: Store, key: string) =>
      store.payments.createPayment(newPayment(accountId), newRecord(accountId, key));
    const outcomes = await Promise.all([
      ...keys.map((key) => create(one, key)),
      ...keys.toReversed().map((key) => create(other, key)),
    ]);
    expect(outcomes.filter(({ kind }) => kind === 'created')).toHaveLength(300);
  });

  it('erase an address from no webhook of a payment while one of them is being claimed elsewhere', async () => {
    const email = 'jane.doe@example.com';
    const payment = await givePayment(one, { email });
    await one.payments.decidePayment(payment.id, () => ({
      change: { status: 'paid', forwardStatus: 'completed', paidAtMs: NOW_MS },
      webhooks: (['payment.forwarded', 'payment.paid'] as const).map((event) => ({
        event,
        fields: { ...webhook.fields, email },
      })),
    }));
    await withClient(async (client) => {
      await client.query('BEGIN');
      await client.query(`UPDATE webhooks SET status = 'sending' WHERE id = '${payment.id}:payment.paid'`);
      const erasing = one.emails.eraseEmail(payment);
      await waitFor('the erasure to wait for the claim', 30_000, async () => {
        const waiting = `SELECT 1 FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE 'UPDATE webhooks%'`;
        return (await postgres.query(url, waiting)).length === 1;
      });
      await client.query('COMMIT');
      expect(await erasing).toBe('busy');
    });
    const webhooks = await one.webhooks.listWebhooks(payment.id);
    expect(webhooks.map(({ status, fields }) => [status, fields['email']])).toEqual([
      ['pending', email],
      ['sending', email],
    ]);
    expect((await one.payments.findPaymentById(payment.id))?.email).toBe(email);
  });

  it('decide on observations that are as new as the payment, also after waiting for the other', async () => {
    const payment = await givePayment(one);
    await one.observations.startCursor(block(10));
    const deposits = Array.from({ length: 20 }, (_, index) => ({
      paymentId: payment.id,
      accountId: payment.accountId,
      blockNumber: 11 + index,
      logIndex: 0,
      units: 1n,
      transactionHash: `transaction ${index}`,
    }));
    const count = ({ observations }: PaymentView) => ({
      change: { receivedUnits: BigInt(observations.deposits.length) },
    });
    for (const deposit of deposits) {
      const { blockNumber } = deposit;
      const scan = { from: block(blockNumber - 1), final: block(blockNumber), scannedTo: blockNumber };
      await Promise.all([
        one.observations.recordScan({ ...scan, deposits: [deposit], releases: [] }, count),
        ...Array.from({ length: 5 }, () => other.payments.decidePayment(payment.id, count)),
      ]);
      expect(await one.payments.findPaymentById(payment.id)).toMatchObject({
        receivedUnits: BigInt(blockNumber - 10),
      });
    }
  });
});

describe('changes that read and then write, at two instances at once', () => {
  // A held row makes both read before either writes, unless one waits for the other as it should.
  const waiting = `SELECT count(*)::int AS count FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`;

  /** Holds a row until each of these waits for a lock. */
  const whileHeld = (row: string, begin: readonly (() => Promise<unknown>)[]) =>
    withClient(async (client) => {
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
    });

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

  it('leaves nothing of an erased address in the index while the note is edited', async () => {
    const termsOf = async (email: string | null) => {
      const payment = await givePayment(one, { email, note: 'hat' });
      while ((await one.search.indexPayments(100)) > 0);
      const count = async () =>
        (await postgres.query(url, `SELECT term FROM payment_terms WHERE payment_id = '${payment.id}'`))
          .length;
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
});

describe('a lease', () => {
  const leasesOf = (store: Store) => (store.shared as SharedStore).leases;

  it('has one holder at a time, who may renew it and give it back', async () => {
    const take = (store: Store, holder: string) => leasesOf(store).takeLease('watcher', holder, 60_000);
    const taken = await atOnce(20, (index) => take(instance(index), `holder ${index}`));
    expect(taken.filter(Boolean)).toHaveLength(1);
    const holder = `holder ${taken.indexOf(true)}`;
    expect(await take(other, holder)).toBe(true);
    expect(await leasesOf(one).takeLease('another', 'somebody', 60_000)).toBe(true);
    await leasesOf(one).releaseLease('watcher', 'somebody');
    expect(await take(one, 'somebody')).toBe(false);
    await leasesOf(one).releaseLease('watcher', holder);
    expect(await take(one, 'somebody')).toBe(true);
  });

  it('passes on when its time is over, and not before', async () => {
    const startedMs = performance.now();
    expect(await leasesOf(one).takeLease('watcher', 'one', 500)).toBe(true);
    await waitFor('the lease to pass on', 60_000, () =>
      leasesOf(other).takeLease('watcher', 'other', 60_000),
    );
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(500);
    expect(await leasesOf(one).takeLease('watcher', 'one', 500)).toBe(false);
  });
});

describe('a rate limiter', () => {
  const limiterOf = (store: Store, limit: number) =>
    (store.shared as SharedStore).createRateLimiter('create', limit);
  const endWindows = () =>
    postgres.query(url, "UPDATE rate_windows SET ends_at = clock_timestamp() - interval '1 second'");

  it('lets exactly 60 of 200 requests pass that four instances get at once', async () => {
    const limiters = [one, other, one, other].map((store) => limiterOf(store, 60));
    const answers = await atOnce(200, async (index) => limiters[index % 4]?.take('a key'));
    expect(answers.filter((seconds) => seconds === 0)).toHaveLength(60);
    for (const seconds of answers) expect(seconds === 0 || (seconds ?? 0) > 50).toBe(true);
    // Another key is not concerned, nor the same key in requests of another kind.
    expect(await limiters[0]?.take('another key')).toBe(0);
    expect(await (one.shared as SharedStore).createRateLimiter('status', 1).take('a key')).toBe(0);
  });

  it('asks for whole seconds until the window ends, and counts anew in the next one', async () => {
    const [here, there] = [limiterOf(one, 2), limiterOf(other, 2)];
    expect([await here.take('k'), await there.take('k')]).toEqual([0, 0]);
    expect(await here.take('k')).toBe(60);
    await endWindows();
    expect([await here.take('k'), await there.take('k')]).toEqual([0, 0]);
    expect(await there.take('k')).toBe(60);
  });

  it('keeps no windows that have ended', async () => {
    const limiter = limiterOf(one, 1_000_000);
    expect(await atOnce(100, async (index) => limiter.take(`old ${index}`))).toEqual(Array(100).fill(0));
    await endWindows();
    await waitFor('the old windows to go', 60_000, async () => {
      await limiter.take('new');
      const kept = await postgres.query(url, 'SELECT key FROM rate_windows');
      return kept.length === 1 && kept[0]?.['key'] === 'new';
    });
  });
});

describe('calls to a provider with a published limit', () => {
  it('free one call with each interval', async () => {
    const take = (store: Store, spareMs: number) =>
      (store.shared as SharedStore).takeProviderCall('rampnetwork', { intervalMs: 60_000, spareMs });
    const taken = await atOnce(40, (index) => take(index % 2 === 0 ? one : other, 9 * 60_000));
    expect(taken.filter(Boolean)).toHaveLength(10);
    expect(await take(other, 0)).toBe(false);
    await postgres.query(url, "UPDATE rate_windows SET ends_at = ends_at - interval '1 minute'");
    expect([await take(one, 9 * 60_000), await take(other, 9 * 60_000)]).toEqual([true, false]);
    // A budget that is full again needs no row.
    await postgres.query(url, "DELETE FROM rate_windows WHERE kind = 'provider calls'");
    expect(await take(other, 0)).toBe(true);
  });
});

describe('a store that is closed', () => {
  it('does what was asked before, and refuses what is asked later', async () => {
    const { accountId } = await givePayment(one);
    const payments = Array.from({ length: 500 }, () => newPayment(accountId));
    const creating = Promise.all(payments.map((payment) => one.payments.createPayment(payment, null)));
    const deciding = atOnce(50, () => one.payments.decidePayment((payments[0] as Payment).id, leave));
    await Promise.all([one.close(), one.close()]);
    await Promise.all([creating, deciding]);
    expect(await other.payments.listPayments({ accountId }, null, 1_000)).toHaveLength(501);
    await expect(one.payments.decidePayment('any', leave)).rejects.toThrow(StoreClosedError);
    await expect(one.payments.findPaymentById('any')).rejects.toThrow(StoreClosedError);
  });
});

describe('prepared statements', () => {
  /** What a store that creates and reads a payment sends to the database. */
  async function sentBytes(suffix: string): Promise<string> {
    let sent = '';
    const { hostname, port } = new URL(url);
    const proxy = createServer((client) => {
      const server = connect(Number(port), hostname);
      client.on('data', (chunk) => {
        sent += chunk.toString('latin1');
        server.write(chunk);
      });
      server.pipe(client);
      for (const [end, peer] of [
        [client, server],
        [server, client],
      ] as const) {
        end.on('error', () => {});
        end.on('close', () => peer.destroy());
      }
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const through = new URL(url);
    through.port = String((proxy.address() as { port: number }).port);
    const store = await openPostgresStore({ url: `${through}${suffix}` });
    const [payment] = await givePayments(store, 1);
    expect(await store.payments.findPaymentById(payment?.id ?? '')).toMatchObject({ id: payment?.id });
    await store.close();
    await new Promise((resolve) => proxy.close(resolve));
    return sent;
  }
  // A statement's name is the SHA-1 of its text, and a zero byte ends it.
  const named = /[0-9a-f]{40}\0/;

  it('have names, and leave no lock of a session behind, which a pooler would keep', async () => {
    const sent = await sentBytes('');
    expect(sent).toMatch(named);
    expect(sent).not.toContain('pg_advisory_lock(');
  });

  it('have none with prepared_statements=false in DATABASE_URL, for poolers that do not carry them', async () => {
    const sent = await sentBytes('?prepared_statements=false');
    expect(sent).toContain('INSERT INTO payments');
    expect(sent).not.toMatch(named);
  });
});
