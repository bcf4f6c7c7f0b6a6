/**
 * The example shops in PHP and Python with a running sandbox: the webhook that `listen` forwards fulfills an order once, and
 * `reconcile` finds a payment whose webhook the shop missed. `test/examples` runs them against a simulated service.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePorts } from '../../test/support/free-ports.ts';
import { runCommand, startServiceProcess } from '../../test/support/service-process.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import type { Outcome } from './check-proxy.ts';
import { collectOutcomes } from './host-service.ts';

const root = join(import.meta.dirname, '..', '..');
const WAIT_MS = 60_000;

/** How each shop is served, and the option with which its runtime shows that it has what the shop needs. */
const shops = {
  php: {
    command: 'php',
    probe: ['-r', 'new PDO("sqlite::memory:"); echo PHP_VERSION;'],
    serve: (port: number) => ['-S', `127.0.0.1:${port}`, 'shop.php'],
    reconcile: ['shop.php', 'reconcile'],
  },
  python: {
    command: 'python3',
    probe: ['-c', 'import sqlite3, sys; print(sys.version.split()[0])'],
    serve: () => ['shop.py'],
    reconcile: ['shop.py', 'reconcile'],
  },
} as const;

type Language = keyof typeof shops;
type Environment = Readonly<Record<string, string>>;

/** The outcomes, or why it was not checked. */
export async function checkShop(language: Language, folder: string): Promise<readonly Outcome[] | string> {
  const { command, probe } = shops[language];
  const version = await promisify(execFile)(command, probe).then(
    ({ stdout }) => stdout.trim(),
    () => null,
  );
  if (version === null) return `${command} with SQLite is not installed`;
  const [port = 0, adminPort = 0, shopPort = 0] = await freePorts(3);
  const environment = {
    DATA_DIR: join(folder, `shop-${language}`),
    PORT: String(port),
    ADMIN_PORT: String(adminPort),
  };
  const service = await startServiceProcess(environment);
  const url = `http://127.0.0.1:${shopPort}`;
  const listener = startChild(process.execPath, [join(root, 'bin/card-checkout.js'), ...listen(url)], {
    cwd: root,
    environment,
  });
  const shop: ShopSettings = {
    language,
    port: shopPort,
    environment: {
      CARD_CHECKOUT_URL: `http://127.0.0.1:${port}`,
      CARD_CHECKOUT_KEY: service.demoKey(),
      CALLBACK_URL: /"callback":"([^"]+)"/.exec(service.output())?.[1] ?? '',
      PAYOUT_ADDRESS: '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65',
      ORDERS_FILE: join(folder, `${language}.sqlite`),
      PORT: String(shopPort),
      PHP_CLI_SERVER_WORKERS: '4',
    },
  };
  try {
    await waitFor('listen', WAIT_MS, () => listener.output().includes('Each event is also sent'));
    return await checkOrders(shop, version, (id) => runCommand(environment, 'sandbox', 'pay', id));
  } finally {
    await listener.stop();
    await service.end('SIGTERM');
  }
}

const listen = (url: string) => ['listen', '--forward-to', `${url}/webhook`];

interface ShopSettings {
  readonly language: Language;
  readonly port: number;
  readonly environment: Environment;
}

async function checkOrders(
  settings: ShopSettings,
  version: string,
  pay: (paymentId: string) => Promise<unknown>,
): Promise<readonly Outcome[]> {
  const { outcomes, check } = collectOutcomes();
  let shop = await startShop(settings);
  try {
    await check(`fulfills an order once by its webhook, in version ${version}`, async () => {
      const id = await shop.order();
      await pay(id);
      await waitFor('the order to be fulfilled', WAIT_MS, async () => (await shop.fulfillments(id)) === 1);
      await shop.reconcile();
      await requireFulfilled(shop, id);
      return undefined;
    });
    if (settings.language === 'php')
      await check('keeps the promises of the PHP library', async () => {
        await promisify(execFile)('php', [join(root, 'plugins', 'php', 'tests', 'run.php')]);
        return undefined;
      });
    await check('finds a payment whose webhook it missed, and fulfills it once', async () => {
      const id = await shop.order();
      await shop.stop();
      await pay(id);
      await waitFor('reconcile to find the payment', WAIT_MS, async () =>
        (await shop.reconcile()).includes(id),
      );
      shop = await startShop(settings);
      await requireFulfilled(shop, id);
      return undefined;
    });
  } finally {
    await shop.stop();
  }
  return outcomes;
}

async function requireFulfilled(shop: Shop, id: string): Promise<void> {
  const count = await shop.fulfillments(id);
  if (count !== 1) throw new Error(`${count} fulfillments`);
}

interface Shop {
  order(): Promise<string>;
  fulfillments(paymentId: string): Promise<number | undefined>;
  /** Resolves to what it printed. */
  reconcile(): Promise<string>;
  stop(): Promise<void>;
}

async function startShop({ language, port, environment }: ShopSettings): Promise<Shop> {
  const { command, serve, reconcile } = shops[language];
  const cwd = join(root, 'sdk', 'examples', language);
  const env = { PATH: process.env['PATH'] ?? '', ...environment };
  const server = startChild(command, serve(port), { cwd, environment });
  const url = `http://127.0.0.1:${port}`;
  const readJson = async (path: string, body?: string) => {
    const response = await fetch(url + path, body === undefined ? {} : { method: 'POST', body });
    return (await response.json()) as { readonly payment_id?: string; readonly fulfilments?: number };
  };
  const isOpen = () =>
    fetch(`${url}/orders/none`).then(
      () => true,
      () => false,
    );
  await waitFor('the shop', WAIT_MS, isOpen);
  return {
    order: async () => {
      const { payment_id: id } = await readJson('/orders', '{"amount":"25.00"}');
      if (id === undefined) throw new Error(`no order: ${server.output()}`);
      return id;
    },
    fulfillments: async (id) => (await readJson(`/orders/${id}`)).fulfilments,
    reconcile: async () => (await promisify(execFile)(command, reconcile, { cwd, env })).stdout,
    stop: server.stop,
  };
}

/** A process in a group of its own: the workers of PHP's server end with it. */
function startChild(
  command: string,
  words: readonly string[],
  { cwd, environment }: { readonly cwd: string; readonly environment: Environment },
) {
  const env = { PATH: process.env['PATH'] ?? '', ...environment };
  const child: ChildProcess = spawn(command, words, {
    cwd,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => {
      output = `${output}${chunk.toString()}`.slice(-4_000);
    });
  return {
    output: () => output,
    async stop() {
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      process.kill(-child.pid, 'SIGTERM');
      await ended;
    },
  };
}
