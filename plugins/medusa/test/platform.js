// @ts-nocheck: plain JavaScript with packages that only its own installation has.
/** A real Medusa on a real PostgreSQL, the packed plugin in it, and a sandbox of card-checkout that reaches its webhook by HTTPS. */
import { execFile, spawn } from 'node:child_process';
import { cpSync, createWriteStream, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
const plugin = join(import.meta.dirname, '..');
const root = join(process.env.CARD_CHECKOUT_PROGRAM, '..', '..');
const support = (name) => import(join(root, 'test', 'support', name));

export async function until(what, check, boundMs = 60_000) {
  for (const endMs = Date.now() + boundMs; Date.now() < endMs; await delay(250)) {
    const result = await check();
    if (result) return result;
  }
  throw new Error(`${what} did not happen within ${boundMs / 1000} s`);
}

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

/** Creates the secret that signs webhooks, as the owner does in the dashboard. */
async function createWebhookSecret(url, dataDir) {
  const { email, password } = JSON.parse(readFileSync(join(dataDir, 'sandbox-demo-account.json'), 'utf8'));
  const cookies = new Map();
  async function send(path, form) {
    const response = await fetch(url + path, {
      method: form ? 'POST' : 'GET',
      redirect: 'manual',
      headers: {
        cookie: [...cookies].map((pair) => pair.join('=')).join('; '),
        ...(form ? { origin: url, 'sec-fetch-site': 'same-origin' } : {}),
      },
      ...(form ? { body: new URLSearchParams(form) } : {}),
    });
    for (const cookie of response.headers.getSetCookie())
      cookies.set(...cookie.split(';')[0].split(/=(.*)/s));
    return { page: await response.text(), location: response.headers.get('location') };
  }
  const field = (page, name) => new RegExp(`name="${name}" value="([^"]+)"`).exec(page)?.[1] ?? '';
  const signIn = await send('/dashboard/sign-in');
  await send('/dashboard/sign-in', { email, password, form_token: field(signIn.page, 'form_token') });
  const { page } = await send('/dashboard/webhook-check');
  const form = { password, secrets: field(page, 'secrets'), form_token: field(page, 'form_token') };
  const { location } = await send('/dashboard/webhook-check/create', form);
  const shown = (await send(location)).page.replaceAll('&#x3D;', '=').replaceAll('&#61;', '=');
  return /whsec_[A-Za-z0-9+/]{43}=/.exec(shown)[0];
}

/** HTTPS in front of Medusa. While `isLost` is set, it answers webhooks itself, and Medusa hears nothing of them. */
async function startFront(authority, target) {
  const { certPem, keyPem } = await authority.issue({ names: ['localhost'] });
  const front = { isLost: false, statuses: [] };
  const server = createServer({ cert: certPem, key: keyPem }, async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    const { host: _, 'content-length': __, connection: ___, ...headers } = request.headers;
    const status = front.isLost
      ? 503
      : (await fetch(target + request.url, { method: request.method, headers, body })).status;
    front.statuses.push(status);
    response.writeHead(status).end();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  front.host = `localhost:${server.address().port}`;
  front.stop = () => {
    server.close();
    server.closeAllConnections();
  };
  return front;
}

export async function startPlatform() {
  const { startPostgres } = await support('postgres.ts');
  const { startEndToEndService } = await support('e2e-service.ts');
  const { createTestCertificateAuthority } = await support('certificates.ts');
  const { freePorts } = await support('free-ports.ts');
  const { runCommand } = await support('service-process.ts');
  const stops = [];
  const stop = async () => {
    for (const each of stops.reverse()) await each();
  };
  try {
    const shop = await installShop();
    stops.push(() => rmSync(shop, { recursive: true }));
    const [port] = await freePorts(1);
    const url = `http://localhost:${port}`;
    const authority = await createTestCertificateAuthority();
    const front = await startFront(authority, url);
    stops.push(front.stop);
    const service = await startEndToEndService(
      {},
      { others: { hosts: [front.host], caPem: authority.caPem } },
    );
    stops.push(service.stop);
    const card = (...words) => runCommand(service.environment, ...words);
    const [{ account_id: account }] = JSON.parse(await card('account list', '--json'));
    await card('account update', account, '--return-hosts', new URL(url).host);
    const webhookSecret = await createWebhookSecret(service.url, service.environment.DATA_DIR);
    const postgres = await startPostgres();
    stops.push(postgres.stop);
    const databaseUrl = await postgres.createDatabase();
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
    const medusa = (...words) => run(program, words, { cwd: shop, env, maxBuffer: 1 << 26 });
    await medusa('db:migrate');
    const { stdout } = await medusa('exec', './seed.js');
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
      query: (sql) => postgres.query(databaseUrl, sql),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
