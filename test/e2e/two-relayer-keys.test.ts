import { privateKeyToAddress } from 'viem/accounts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { developmentKeys } from '../../simulators/development-keys.ts';
import { askChain } from '../support/ask-chain.ts';
import { type LiveInstance, type LiveInstances, openLiveInstances } from '../support/live-instances.ts';
import { runJson } from '../support/service-process.ts';
import { readTokenBalance } from '../support/token-balance.ts';
import { waitFor } from '../support/wait-for.ts';

const PAYMENTS = 40;
/** The whole of an 80-dollar payment, so that it is enough; 10⁻⁶ units. */
const DEPOSIT_UNITS = 80_000_000n;
/** Both of the second process. */
const SECOND_KEY = `0x${'5'.repeat(64)}` as const;
const THIRD_KEY = `0x${'6'.repeat(64)}` as const;

let live: LiveInstances;
let databaseUrl: string;
let api: LiveInstance;
/** By the addresses of their relayers, in lower case. */
let workers: Map<string, LiveInstance>;
let key: string;

beforeAll(async () => {
  live = await openLiveInstances();
  databaseUrl = await live.postgres.createDatabase();
  const database = { DATABASE_URL: databaseUrl, RATE_LIMIT_CREATE_PER_MINUTE: '1000000' };
  const [first, ...others] = [live.world.relayerPrivateKey, SECOND_KEY, THIRD_KEY].map((each) =>
    privateKeyToAddress(each).toLowerCase(),
  ) as [string, string, string];
  for (const other of others) await ask('anvil_setBalance', [other, `0x${(10n ** 20n).toString(16)}`]);
  const [started, ...senders] = await Promise.all([
    live.start('api', database),
    live.start('worker', database),
    live.start('worker', { ...database, RELAYER_PRIVATE_KEY: `${SECOND_KEY},${THIRD_KEY}` }),
  ]);
  api = started;
  workers = new Map([
    [first, senders[0]],
    ...others.map((other): [string, LiveInstance] => [other, senders[1]]),
  ]);
  const account = ['account', 'create', '--name', 'Shop', '--fee-percent', '1'];
  const { account_id: id } = await runJson<{ account_id: string }>(api.environment, ...account);
  const made = await runJson<{ api_key: string }>(api.environment, 'key', 'create', '--account', id);
  key = made.api_key;
});
afterAll(() => live?.stop(), 60_000);

const ask = (method: string, params: readonly unknown[]) => askChain(live.world.anvilUrl, method, params);

/** Returns the deposit address. */
async function create(): Promise<string> {
  const fields = { callback: live.receiver.url, amount: '80', provider: 'moonpay' };
  const response = await fetch(`${api.url}/api/v1/wallet`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': key },
    body: JSON.stringify({ ...fields, address: live.world.merchantWallet }),
  });
  expect(response.status).toBe(200);
  return ((await response.json()) as { polygon_address_in: string }).polygon_address_in;
}

/** Has the money arrive, and waits until a block has it. */
async function deposit(address: string): Promise<void> {
  const amount = DEPOSIT_UNITS.toString(16).padStart(64, '0');
  const data = `0x40c10f19${address.slice(2).toLowerCase().padStart(64, '0')}${amount}`;
  const from = developmentKeys().minter.address;
  const hash = await ask('eth_sendTransaction', [{ from, to: live.world.usdc, data, gas: '0x30d40' }]);
  await waitFor('the deposit', 60_000, async () => {
    const receipt = (await ask('eth_getTransactionReceipt', [hash])) as { status: string } | null;
    return receipt?.status === '0x1';
  });
}

const query = (sql: string) => live.postgres.query(databaseUrl, sql);

/** A process that has a batch in flight at this moment. Which one that is depends on who watches, and so on chance. */
async function findSender(): Promise<LiveInstance | undefined> {
  const [batch] = await query(
    'SELECT lower(relayer) AS relayer FROM relay_batches WHERE outcome IS NULL LIMIT 1',
  );
  return workers.get(String(batch?.['relayer']));
}

it('of two processes both release, and when one is killed in the middle everything is still released once', async () => {
  const addresses: string[] = [];
  for (let index = 0; index < PAYMENTS; index++) addresses.push(await create());

  let killed: LiveInstance | undefined;
  for (const [index, address] of addresses.entries()) {
    await deposit(address);
    if (killed !== undefined || index < PAYMENTS / 3) continue;
    // In the middle of a batch, which its key alone could raise the fees of.
    killed = await findSender();
    await killed?.process.end('SIGKILL');
  }
  expect(killed).toBeDefined();

  await waitFor('all payments to be paid', 90_000, async () => {
    const [row] = await query("SELECT count(*)::int AS paid FROM payments WHERE status = 'paid'");
    return row?.['paid'] === PAYMENTS;
  });
  // One per cent is the fee.
  const expected = (DEPOSIT_UNITS * 99n * BigInt(PAYMENTS)) / 100n;
  const { anvilUrl, usdc, merchantWallet } = live.world;
  expect(await readTokenBalance(anvilUrl, usdc, merchantWallet)).toBe(expected);
  expect(await query('SELECT payment_id FROM releases GROUP BY payment_id HAVING count(*) <> 1')).toEqual([]);
  // Which of the two keys of one process sends is a matter of chance, and so is whether both do.
  const relayers = await query('SELECT DISTINCT lower(relayer) AS relayer FROM relay_batches');
  expect(new Set(relayers.map(({ relayer }) => workers.get(String(relayer)))).size).toBe(2);
  await waitFor('no batch to be in flight', 60_000, async () => {
    return (await query('SELECT id FROM relay_batches WHERE outcome IS NULL')).length === 0;
  });
  // Given up was none: each was mined, and its payments were in no other.
  expect(await query("SELECT id FROM relay_batches WHERE outcome <> 'resolved'")).toEqual([]);
  expect(
    await query('SELECT payment_id FROM relay_batch_payments GROUP BY payment_id HAVING count(*) > 1'),
  ).toEqual([]);
});
