import { execFile, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createContext, runInContext } from 'node:vm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  approveConnection,
  callbackHostOf,
  parseConnectRequest,
} from '../../src/features/connect/connect-shop.ts';
import { decideAddress } from '../../src/features/refunds/refund.ts';
import { parsePayoutAddress } from '../../src/payment/address.ts';
import { newUser } from '../store/people.ts';
import { type ApiService, createApiService } from '../support/api-service.ts';
import { payWithDeposit } from '../support/refunds.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..', '..');
const plugin = join(root, 'plugins', 'woocommerce', 'card-checkout');
const scenarios = join(import.meta.dirname, 'scenarios.php');
const SOMEBODY: `0x${string}` = '0x52908400098527886E0F7030069857D2E4169EE7';
const hasPhp =
  spawnSync('php', ['-r', "exit(PHP_VERSION_ID >= 80100 && function_exists('curl_init') ? 0 : 1);"])
    .status === 0;

/** Said in the output of every run: whoever reads it knows what was not looked at. */
const sayUnchecked = (what: string) =>
  console.warn(`not checked: ${what}, because php 8.1 or newer with curl is not installed here`);

let service: ApiService;
/** The real API in front of the plugin; only how far its payments have come is the scenario's. */
let api: Server;
/** Root of the API; each scenario has a path of its own below it. */
let url: string;

/** What a scenario has happen at the service. */
interface Control {
  /** A final deposit of so many units pays the payment. */
  readonly pay?: { readonly payment: string; readonly units: string };
  readonly nameAddress?: { readonly refund: string; readonly address: string };
  /** The refund's transfer is final. */
  readonly payRefund?: { readonly refund: string; readonly units?: string };
  /** The next request to this path is carried out, and its answer lost. */
  readonly loseAnswerOf?: string;
}

const losesAnswerOf = new Set<string>();

/** One at a time: a chain has one block after the other. */
let controlled: Promise<void> = Promise.resolve();
function control(what: Control, scenario: string): Promise<void> {
  const next = controlled.then(() => carryOut(what, scenario));
  controlled = next.catch(() => undefined);
  return next;
}

async function carryOut(
  { pay, nameAddress: named, payRefund, loseAnswerOf }: Control,
  scenario: string,
): Promise<void> {
  const accountId = service.account.id;
  if (pay !== undefined) {
    const units = BigInt(pay.units);
    await payWithDeposit(service.store, { id: pay.payment, accountId }, units, { receivedUnits: units });
  }
  if (named !== undefined) {
    const address = parsePayoutAddress(named.address);
    if (address === null) throw new Error(`${named.address} is no address`);
    const now = Date.now();
    const reference = { id: named.refund, accountId };
    await service.store.refunds.changeRefund(reference, (view) => decideAddress(view, address, now), now);
  }
  if (payRefund !== undefined) {
    const transfer = {
      status: 'paid',
      transactionHash: `0x${Buffer.from(payRefund.refund).toString('hex').padStart(64, '0').slice(-64)}`,
      logIndex: 0,
      sender: SOMEBODY,
      blockNumber: 1,
      paidAtMs: Date.now(),
    } as const;
    await service.store.refunds.changeRefund(
      { id: payRefund.refund, accountId },
      ({ refund }) => ({
        refund: { ...refund, ...transfer, units: BigInt(payRefund.units ?? refund.units) },
        event: 'refund.paid',
      }),
      Date.now(),
    );
  }
  if (loseAnswerOf !== undefined) losesAnswerOf.add(`${scenario}${loseAnswerOf}`);
}

beforeAll(async () => {
  service = await createApiService({ requestsPerMinute: 10_000 });
  const statuses = new Map<string, string>();
  api = createServer(async (request, response) => {
    const [, scenario = '', ...rest] = (request.url ?? '').split('/');
    const path = `/${rest.join('/')}`;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString('utf8');
    if (path === '/test-status') {
      statuses.set(scenario, body);
      return void response.end();
    }
    if (path.startsWith('/connect?')) {
      // The merchant approves.
      const asked = parseConnectRequest(new URL(path, 'http://localhost').searchParams);
      const { account } = service;
      await service.store.accounts.updateAccount(account.id, { wallet: SOMEBODY });
      const user = newUser({});
      await service.store.people.createUser(user);
      await service.store.people.putMembership({
        userId: user.id,
        accountId: account.id,
        role: 'owner',
        createdAtMs: 0,
      });
      const actor = { name: user.email, userId: user.id, address: null };
      const callbackHost = callbackHostOf(asked);
      return void response.end(
        await approveConnection(service.connect, asked, { account, actor, callbackHost }),
      );
    }
    if (path === '/test-control') {
      const problem = await control(JSON.parse(body) as Control, scenario).then(() => undefined, String);
      return void response.writeHead(problem === undefined ? 200 : 500).end(problem);
    }
    const { 'x-api-key': key, 'idempotency-key': idempotencyKey } = request.headers;
    const answer = await service.server.inject({
      method: request.method === 'POST' ? 'POST' : 'GET',
      url: path,
      headers: {
        'content-type': 'application/json',
        'x-api-key': String(key),
        ...(idempotencyKey === undefined ? {} : { 'idempotency-key': String(idempotencyKey) }),
      },
      ...(body === '' ? {} : { payload: body }),
    });
    if (losesAnswerOf.delete(`${scenario}${path}`)) return void request.socket.destroy();
    const status = statuses.get(scenario);
    const isStatus = path.startsWith('/api/v1/payment-status') && answer.statusCode === 200;
    response.writeHead(answer.statusCode, { connection: 'close' });
    if (!isStatus || status === undefined || status === '') return void response.end(answer.body);
    // "status/forward_status/value_coin"
    const [first, forwardStatus = first === 'paid' ? 'completed' : first, valueCoin = '0'] =
      status.split('/');
    const changed = { status: first, forward_status: forwardStatus, value_coin: valueCoin };
    response.end(JSON.stringify({ ...answer.json(), ...changed }));
  });
  await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
});

afterAll(async () => {
  api.closeAllConnections();
  await new Promise((resolve) => api.close(resolve));
  await service.close();
});

/** Runs one; what it complains of, or null. */
async function complaintOf(name: string, index: number): Promise<string | null> {
  const env = {
    PATH: process.env['PATH'],
    SERVICE_URL: `${url}/${index}`,
    SERVICE_KEY: service.apiKey,
  };
  try {
    const { stdout } = await run('php', [...strict, scenarios, name], { env, timeout: 30_000 });
    return stdout === 'ok\n' ? null : `${name}: ${stdout}`;
  } catch (error) {
    return `${name}: ${(error as { stdout: string }).stdout}${(error as Error).message}`;
  }
}

/** Processes at a time, so that the service answers each in time. */
const AT_ONCE = 8;
/** Every warning and notice ends a run. */
const strict = ['-d', 'error_reporting=-1', '-d', 'display_errors=1', '-d', 'log_errors=0'];

it('keeps each of its promises against the real API, where PHP is installed', async () => {
  if (!hasPhp) return sayUnchecked('woocommerce');
  const { stdout } = await run('php', [...strict, scenarios]);
  const names = JSON.parse(stdout) as string[];
  expect(names.length).toBeGreaterThan(15);
  const complaints: (string | null)[] = [];
  for (let first = 0; first < names.length; first += AT_ONCE) {
    const some = names.slice(first, first + AT_ONCE);
    complaints.push(...(await Promise.all(some.map((name, nth) => complaintOf(name, first + nth)))));
  }
  expect(complaints.filter((complaint) => complaint !== null)).toEqual([]);
}, 120_000);

it('has a PHP library that keeps its promises, with an example shop, where PHP is installed', async () => {
  if (!hasPhp) return sayUnchecked('the PHP library');
  const env = { PATH: process.env['PATH'], SERVICE_URL: `${url}/library`, SERVICE_KEY: service.apiKey };
  for (const [name, last] of [
    ['run', '0 failed\n'],
    ['service', 'ok\n'],
  ] as const) {
    const file = join(root, 'plugins', 'php', 'tests', `${name}.php`);
    const { stdout } = await run('php', [...strict, file], { env, timeout: 60_000 }).catch(
      (error: { stdout: string; stderr: string }) => ({ stdout: error.stdout + error.stderr }),
    );
    expect(stdout).toMatch(new RegExp(`${last}$`));
  }
}, 120_000);

function filesBelow(folder: string, ending: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(folder, name));
}

it('is PHP without syntax errors, and so are the examples, where PHP is installed', async () => {
  const files = filesBelow(plugin, '.php');
  expect(files.length).toBeGreaterThan(5);
  if (!hasPhp) return sayUnchecked('the syntax of PHP files');
  const beside = ['plugins/php', 'plugins/woocommerce/tests', 'sdk/examples/php'];
  for (const file of [...files, ...beside.flatMap((folder) => filesBelow(join(root, folder), '.php'))]) {
    const { stdout } = await run('php', ['-l', file]);
    expect(stdout).toContain('No syntax errors');
  }
}, 60_000);

it('has every text in its template and in each of its translations, with the same placeholders', () => {
  const languages = join(plugin, 'languages');
  const template = [
    ...readFileSync(join(languages, 'card-checkout.pot'), 'utf8').matchAll(/^msgid ((?:".*"\n)+)/gm),
  ]
    .map(([, lines = '']) => [...lines.matchAll(/"(.*)"/g)].map(([, part]) => part).join(''))
    .filter((text) => text !== '');
  const used = filesBelow(plugin, '.php')
    .filter((file) => !file.includes('languages'))
    .flatMap((file) => [
      ...readFileSync(file, 'utf8').matchAll(/(?:__|esc_html__)\(\s*'([^']+)',\s*'card-checkout'/g),
    ])
    .map(([, text]) => text as string);
  expect([...new Set(used)].sort()).toEqual([...template].sort());
  const placeholders = (text: string) => (text.match(/%(?:\d\$)?s/g) ?? []).sort();
  const translations = filesBelow(languages, '.l10n.php');
  expect(translations).toHaveLength(3);
  for (const file of translations) {
    const pairs = [...readFileSync(file, 'utf8').matchAll(/^ {8}'(.+)' =>\n {12}'(.+)',$/gm)];
    expect(pairs.map(([, text]) => text).sort(), file).toEqual([...template].sort());
    for (const [, text = '', translated = ''] of pairs) {
      expect(placeholders(translated), translated).toEqual(placeholders(text));
    }
  }
});

it('offers itself in the checkout of blocks, with settings as text', () => {
  const registered: Record<string, unknown>[] = [];
  const window = {
    wc: {
      wcSettings: {
        getSetting: (name: string) =>
          name === 'card_checkout_data'
            ? { title: '<b>Card</b> &amp; more', description: 'You pay by card', supports: ['products'] }
            : {},
      },
      wcBlocksRegistry: {
        registerPaymentMethod: (method: Record<string, unknown>) => registered.push(method),
      },
    },
    wp: {
      element: {
        createElement: (type: string, properties: unknown, ...children: unknown[]) => ({
          type,
          properties,
          children,
        }),
      },
      htmlEntities: { decodeEntities: (text: string) => text.replaceAll('&amp;', '&') },
    },
  };
  runInContext(readFileSync(join(plugin, 'assets', 'block.js'), 'utf8'), createContext(window));
  expect(registered).toHaveLength(1);
  const [method = {}] = registered;
  // A child of an element is text, whatever is in it.
  expect(method['label']).toEqual({ type: 'span', properties: null, children: ['<b>Card</b> & more'] });
  expect(method).toMatchObject({ name: 'card_checkout', supports: { features: ['products'] } });
  expect(method['content']).toMatchObject({ type: 'p', children: ['You pay by card'] });
  expect((method['canMakePayment'] as () => boolean)()).toBe(true);
});
