import { randomBytes } from 'node:crypto';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { privateKeyToAddress } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checksumAddress } from '../../src/payment/address.ts';
import type { CreatedPayment } from '../support/e2e-service.ts';
import { type LiveWorld, type Machine, startLiveWorld } from '../support/live-service.ts';
import { createShop, runCommand, runJson, type ServiceEnvironment } from '../support/service-process.ts';
import { readTokenBalance } from '../support/token-balance.ts';
import { waitFor } from '../support/wait-for.ts';

/** What the command line prints of a payment; of it all that the chain has a say in. */
interface Shown {
  readonly status: string;
  readonly forward_status: string;
  readonly webhooks: readonly { readonly status: string }[];
  readonly [field: string]: unknown;
}

interface Verified {
  readonly discrepancy_count: number;
  readonly [field: string]: unknown;
}

const show = (environment: ServiceEnvironment, { payment_id: id }: CreatedPayment) =>
  runJson<Shown>(environment, 'payment show', id);

/** Everything but the moments at which things were done and the block that was looked at last. */
function stateOf({ paid_at: _, final_block: __, webhooks, sessions: ___, ...state }: Shown) {
  return { ...state, webhooks: webhooks.length };
}

describe('recovery', () => {
  let world: LiveWorld;
  let apiKey: string;
  let account: string;
  let first: Machine;
  const oldSecret = randomBytes(32).toString('hex');

  beforeAll(async () => {
    world = await startLiveWorld();
    first = await world.startMachine({ SECRET_KEY: oldSecret });
    ({ apiKey, account } = await createShop(first.environment));
  });
  afterAll(() => world?.stop());

  const openShop = async ({ environment }: Machine) => (await createShop(environment)).apiKey;

  const newMerchant = () => checksumAddress(randomBytes(20).toString('hex'));
  const balanceOf = async (owner: string) =>
    Number(await readTokenBalance(world.sandbox.anvilUrl, world.sandbox.usdc, owner)) / 1e6;

  const deliveriesOf = ({ payment_id: id }: CreatedPayment) =>
    world.receiver.received.filter(({ rawBody }) => rawBody.includes(id)).length;
  const untilDelivered = (payment: CreatedPayment) =>
    waitFor('a delivery', 60_000, () => (deliveriesOf(payment) > 0 ? true : undefined));

  function untilPaid(
    machine: Machine,
    { payment_id: id }: CreatedPayment,
    key: string = apiKey,
  ): Promise<unknown> {
    return waitFor(`${id} to be paid`, 60_000, async () => {
      const { body } = await machine.readStatus(key, `payment_id=${id}`);
      return body['status'] === 'paid' ? body : undefined;
    });
  }

  it('after the machine is lost, its backups bring back on another one what the chain knows, and no event is sent twice', async () => {
    const merchant = newMerchant();
    const create = () => first.create(apiKey, { address: merchant });
    const [paid, paidLater, neverPaid, canceledLater] = [
      await create(),
      await create(),
      await create(),
      await create(),
    ] as const;
    await first.pay(paid.payment_id);
    await untilPaid(first, paid);
    // Its customer is at the provider when the copy is made: what is expected of a later session only the lost database knew.
    const order = await first.beginSession(paidLater.payment_id);

    const backups = join(world.folder, 'backups');
    mkdirSync(backups);
    const [database, secret] = [join(backups, 'database.sqlite'), join(backups, 'secret')];
    writeFileSync(secret, `${oldSecret}\n`, { mode: 0o600 });
    const creating = Promise.all(Array.from({ length: 20 }, create));
    const copied = await runJson<{ book_entries: number; book_hash: string }>(
      first.environment,
      'backup',
      database,
    );
    expect(copied).toMatchObject({ file: database, secret_fingerprints: [paid.ipn_token.slice(4, 10)] });
    expect(copied.book_entries).toBeGreaterThanOrEqual(3);
    expect(statSync(database).mode & 0o777).toBe(0o600);
    expect(readdirSync(backups).sort()).toEqual(['database.sqlite', 'secret']);
    await expect(runCommand(first.environment, 'backup', database)).rejects.toThrow('exists already');
    await creating;

    await world.sandbox.pay({ order });
    const created = await create();
    await first.pay(created.payment_id);
    const late = await create();
    const lateOrder = await first.beginSession(late.payment_id);
    await Promise.all([untilPaid(first, paidLater), untilPaid(first, created), untilDelivered(paidLater)]);
    await runCommand(first.environment, 'payment cancel', canceledLater.payment_id);
    const original = await Promise.all(
      [paid, paidLater, neverPaid].map((each) => show(first.environment, each)),
    );
    const received = await balanceOf(merchant);
    expect(await runJson<Verified>(first.environment, 'verify')).toMatchObject({
      discrepancy_count: 0,
      chain: 'checked',
      discrepancies: [],
    });
    await first.process.end('SIGKILL');

    const dataDir = join(world.folder, 'second');
    mkdirSync(dataDir, { mode: 0o700 });
    copyFileSync(database, join(dataDir, 'card-checkout.sqlite'));
    const newSecret = randomBytes(32).toString('hex');
    await expect(world.startMachine({ DATA_DIR: dataDir, SECRET_KEY: newSecret })).rejects.toThrow(
      'SECRET_KEY differs from the key of the stored payments',
    );
    const second = await world.startMachine({
      DATA_DIR: dataDir,
      SECRET_KEY: newSecret,
      SECRET_KEY_PREVIOUS: readFileSync(secret, 'utf8').trim(),
    });
    await untilPaid(second, paidLater);
    const restored = await Promise.all(
      [paid, paidLater, neverPaid].map((each) => show(second.environment, each)),
    );
    expect(restored.map(stateOf)).toEqual(original.map(stateOf));
    // Seen again, not released again, and not sent again.
    expect(await balanceOf(merchant)).toBe(received);
    const { webhooks } = await show(second.environment, paidLater);
    expect(webhooks).toMatchObject([{ status: 'unknown', reason: 'restored' }]);
    // What is paid to an address that the restored database does not know reaches the merchant all the same.
    await world.sandbox.pay({ order: lateOrder });
    const rebuild = ({ payment_id: id }: CreatedPayment, ...options: string[]) =>
      runJson<Shown>(second.environment, 'payment rebuild', id, '--account', account, ...options);
    const terms = ['--wallet', merchant, '--fee-percent', '2.5'];
    await expect(rebuild(paidLater, ...terms)).rejects.toThrow('the database has it');
    await expect(rebuild(late, '--wallet', newMerchant())).rejects.toThrow('which held nothing');
    await expect(rebuild(created, ...terms)).rejects.toThrow('which held nothing');
    await waitFor('the payment to be rebuilt', 60_000, () => rebuild(late, ...terms).catch(() => undefined));
    await waitFor('its release', 60_000, async () => {
      const { forward_status: forwarding } = await show(second.environment, late);
      return forwarding === 'completed' ? true : undefined;
    });
    expect(await balanceOf(merchant)).toBeGreaterThan(received + 70);
    expect(await show(second.environment, late)).toMatchObject({ status: 'canceled', webhooks: [] });
    // What only the lost database knew: a cancellation, and a payment made after the copy.
    expect(await show(second.environment, canceledLater)).toMatchObject({ status: 'unpaid' });
    expect((await second.readStatus(apiKey, `payment_id=${created.payment_id}`)).status).toBe(404);

    // The old secret proves what it made, and makes nothing new.
    const proven = await second.readStatus(apiKey, `ipn_token=${paid.ipn_token}`);
    expect(proven).toMatchObject({ status: 200, body: { payment_id: paid.payment_id, status: 'paid' } });
    const fresh = await second.create(apiKey, { address: merchant });
    expect(fresh.ipn_token.slice(0, 10)).not.toBe(paid.ipn_token.slice(0, 10));
    await second.pay(fresh.payment_id);
    await untilDelivered(fresh);
    expect([paid, paidLater, created, fresh].map(deliveriesOf)).toEqual([1, 1, 1, 1]);

    const report = await runJson<Verified>(second.environment, 'verify');
    expect(report).toMatchObject({ discrepancy_count: 0, chain: 'checked', discrepancies: [] });
    await second.process.end('SIGTERM');
    // The same without a server, by way of POLYGON_RPC_URL, and without a chain.
    expect(await runJson<Verified>(second.environment, 'verify')).toMatchObject({
      discrepancy_count: 0,
      chain: 'checked',
      payments: report['payments'],
    });
    const withoutChain = { ...second.environment, POLYGON_RPC_URL: '' };
    await expect(runCommand(withoutChain, 'verify')).rejects.toThrow('No chain is available');
    expect(await runJson<Verified>(withoutChain, 'verify --offline')).toMatchObject({
      discrepancy_count: 0,
      chain: 'not checked',
    });
  });

  it('a relayer key that is replaced while releases are in flight ends with every payment paid once', async () => {
    const kept = { DATA_DIR: join(world.folder, 'third'), SECRET_KEY: randomBytes(32).toString('hex') };
    const before = await world.startMachine(kept);
    const key = await openShop(before);
    const merchants = [newMerchant(), newMerchant(), newMerchant()];
    const payments = await Promise.all(merchants.map((address) => before.create(key, { address })));
    await Promise.all(payments.map(({ payment_id: id }) => before.pay(id)));
    await waitFor('a release to be in flight', 60_000, () => anyInFlight(before, key, payments));
    await before.process.end('SIGKILL');
    const left = await Promise.all(payments.map((payment) => show(before.environment, payment)));
    expect(left.map(({ forward_status: forwardStatus }) => forwardStatus)).toContain('processing');

    const newKey: `0x${string}` = `0x${randomBytes(32).toString('hex')}`;
    await fund(privateKeyToAddress(newKey));
    const after = await world.startMachine({ ...kept, RELAYER_PRIVATE_KEY: newKey });
    const another = await after.create(key, { address: newMerchant() });
    await after.pay(another.payment_id);
    await Promise.all([...payments, another].map((payment) => untilPaid(after, payment, key)));
    for (const [index, payment] of payments.entries()) {
      const { forwarded_amount: forwarded, webhooks } = await show(after.environment, payment);
      expect(await balanceOf(merchants[index] as string)).toBe(Number(forwarded));
      expect(webhooks).toHaveLength(1);
    }
    const { txid_out: hash } = await show(after.environment, another);
    expect(await senderOf(String(hash))).toBe(privateKeyToAddress(newKey).toLowerCase());
    expect(await runJson<Verified>(after.environment, 'verify')).toMatchObject({ discrepancy_count: 0 });
  });

  async function anyInFlight(machine: Machine, key: string, payments: readonly CreatedPayment[]) {
    const answers = await Promise.all(
      payments.map(({ payment_id: id }) => machine.readStatus(key, `payment_id=${id}`)),
    );
    return answers.some(({ body }) => body['forward_status'] === 'processing');
  }

  async function callChain(method: string, params: readonly unknown[]): Promise<unknown> {
    const response = await fetch(world.sandbox.anvilUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    return ((await response.json()) as { result: unknown }).result;
  }

  const fund = (address: string) => callChain('anvil_setBalance', [address, '0xde0b6b3a7640000']);
  const senderOf = async (hash: string) =>
    ((await callChain('eth_getTransactionByHash', [hash])) as { from: string }).from;
});
