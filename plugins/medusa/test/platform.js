// @ts-nocheck: plain JavaScript with packages that only its own installation has.
/** A real Medusa on a real PostgreSQL, the packed plugin in it, and a sandbox of card-checkout that reaches its webhook by HTTPS. */
import { execFile, spawn } from 'node:child_process';
import { cpSync, createWriteStream, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const plugin = join(import.meta.dirname, '..');
const root = join(process.env.CARD_CHECKOUT_PROGRAM, '..', '..');
const support = (name) => import(join(root, 'test', 'support', name));

export const { until } = await support('shop-platform.ts');

/** Installs the packed plugin into a copy of the shop, inside the package's folder, where Node finds Medusa. */
async function installShop() {
  const shop = mkdtempSync(join(plugin, 'shop-'));
  cpSync(join(plugin, 'test', 'shop'), shop, { recursive: true });
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', shop], { cwd: plugin });
  const [{ filename }] = [JSON.parse(stdout)].flat();
  const target = join(shop, 'node_modules', '@card-checkout', 'medusa');
  mkdirSync(target, { recursive: true });
  await run('tar', ['-xzf', join(shop, filename), '-C', target, '--strip-components=1']);
  return shop;
}

export async function startPlatform() {
  const { startShopService } = await support('shop-platform.ts');
  const { freePorts } = await support('free-ports.ts');
  const stops = [];
  const stop = async () => {
    for (const each of stops.reverse()) await each();
  };
  try {
    const shop = await installShop();
    stops.push(() => rmSync(shop, { recursive: true }));
    const [port] = await freePorts(1);
    const url = `http://localhost:${port}`;
    const { front, service, card, webhookSecret, databaseUrl, query } = await startShopService(url, stops);
    const env = {
      PATH: process.env.PATH,
      NODE_ENV: 'production',
      MEDUSA_DISABLE_TELEMETRY: 'true',
      PORT: String(port),
      DATABASE_URL: databaseUrl,
      SHOP_URL: url,
      CALLBACK_URL: `https://${front.host}/hooks/card-checkout`,
      CARD_CHECKOUT_URL: service.url,
      CARD_CHECKOUT_KEY: service.process().demoKey(),
      CARD_CHECKOUT_WEBHOOK_SECRET: webhookSecret,
    };
    const program = join(plugin, 'node_modules', '.bin', 'medusa');
    const medusa = (words, more = {}) =>
      run(program, words, { cwd: shop, env: { ...env, ...more }, maxBuffer: 1 << 26, timeout: 120_000 });
    await medusa(['db:migrate']);
    const { stdout } = await medusa(['exec', './seed.js']);
    const seeded = JSON.parse(/SEEDED (.*)/.exec(stdout)[1]);
    const log = join(shop, 'medusa.log');
    const server = spawn(program, ['start'], { cwd: shop, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const file = createWriteStream(log);
    server.stdout.pipe(file);
    server.stderr.pipe(file);
    const ended = new Promise((resolve) => server.once('exit', resolve));
    stops.push(() => {
      server.kill('SIGTERM');
      return ended;
    });
    await until(
      'Medusa',
      () =>
        fetch(`${url}/health`).then(
          ({ ok }) => ok,
          () => false,
        ),
      120_000,
    ).catch((error) => {
      throw new Error(`${error.message}\n${readFileSync(log, 'utf8').slice(-4_000)}`);
    });
    return {
      url,
      front,
      service,
      seeded,
      webhookSecret,
      apiKey: env.CARD_CHECKOUT_KEY,
      readLog: () => readFileSync(log, 'utf8'),
      refund: (id) => card('sandbox', 'refund', id),
      pay: (id, ...words) => card('sandbox', 'pay', id, ...words),
      fault: (option) => card('sandbox', 'fault', 'provider', 'moonpay', option),
      medusa,
      query,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
