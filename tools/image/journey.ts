/** Starts the image in live mode against a local chain, and follows a payment to its webhook. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Sandbox, startSandbox } from '../../sandbox/start-sandbox.ts';
import { shortCodeOf } from '../../src/payment/payment-id.ts';
import { freePorts } from '../../test/support/free-ports.ts';
import { liveEnvironment } from '../../test/support/provider-environment.ts';
import { runJson } from '../../test/support/service-process.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../test/support/webhook-receiver.ts';
import type { Container, ImageTool } from './tools.ts';

export type Check = (name: string, check: () => Promise<void> | void) => Promise<void>;

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const plainPreview = join(import.meta.dirname, '../../src/pages/checkout/plain-preview.png');

function mustBe(what: string, isTrue: boolean, found: string): void {
  if (!isTrue) throw new Error(`${what}: ${found.slice(0, 1_000)}`);
}

/** Checks the privileges of the service's process. */
async function checkConfinement(container: Container, check: Check): Promise<void> {
  const node = (script: string) => container.exec('node', '-e', script);
  await check('does not run as root, has no capability and gains no privilege', () => {
    const { output } = node(`console.log(require('fs').readFileSync('/proc/1/status', 'utf8'))`);
    mustBe('user', /^Uid:\t1000\t1000\t1000\t1000$/m.test(output), output);
    mustBe('capabilities', /^CapEff:\t0+$/m.test(output) && /^CapBnd:\t0+$/m.test(output), output);
    mustBe('new privileges', /^NoNewPrivs:\t1$/m.test(output), output);
  });
  await check('has 20,000 open files', () => {
    const { output } = node(`console.log(require('fs').readFileSync('/proc/1/limits', 'utf8'))`);
    mustBe('limits', /^Max open files +20000 +20000 /m.test(output), output);
  });
  await check('writes to /data and /tmp only', () => {
    const write = (folder: string) => node(`require('fs').writeFileSync('${folder}/probe', 'x')`);
    for (const folder of ['/data', '/tmp']) mustBe(folder, write(folder).status === 0, write(folder).output);
    // The user owns this folder, so it is the file system that refuses, not the mode.
    const { output } = node(`require('fs').writeFileSync(require('os').homedir() + '/probe', 'x')`);
    mustBe('the root is read-only', output.includes('EROFS'), output);
  });
}

/** A merchant of the service at `url`, which uses this world. */
interface Merchant {
  readonly url: string;
  readonly key: string;
  readonly world: Sandbox;
  readonly receiver: WebhookReceiver;
}

/** Returns the id of the payment. */
export async function createPayment(
  { url, key, world, receiver }: Merchant,
  amount: string,
): Promise<string> {
  const order = { address: world.merchantWallet, callback: receiver.url, amount, provider: 'moonpay' };
  const response = await fetch(`${url}/api/v1/wallet`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': key },
    body: JSON.stringify(order),
  });
  const text = await response.text();
  mustBe('create', response.status === 200, text);
  return (JSON.parse(text) as { payment_id: string }).payment_id;
}

/** Clicks as the customer, pays at the provider, and waits for the webhook. */
export async function payToWebhook({ url, world, receiver }: Merchant, id: string): Promise<void> {
  const click = await fetch(`${url}/pay/${id}/providers/moonpay`, { method: 'POST', redirect: 'manual' });
  await world.pay({ order: click.headers.get('location') ?? '' });
  const isPaid = () => receiver.received.some(({ rawBody }) => /"status":"paid"/.test(rawBody));
  await waitFor('the paid webhook', 60_000, isPaid);
}

export async function checkJourney(tool: ImageTool, folder: string, check: Check): Promise<void> {
  const data = join(folder, 'data');
  mkdirSync(data);
  const receiver = await startWebhookReceiver();
  const world = await startSandbox({ dataDir: join(folder, 'world'), log: silent, blockIntervalMs: 300 });
  let container: Container | undefined;
  try {
    const [port = 0, adminPort = 0] = await freePorts(2);
    writeFileSync(join(data, 'ca.pem'), receiver.caPem);
    const common = {
      ...liveEnvironment(world),
      CALLBACK_ALLOWED_HOSTS: receiver.host,
    };
    const deployed = await runJson<{ deposit_factory_address: string }>(
      { DATA_DIR: join(folder, 'deployment'), ...common },
      'contract',
      'deploy',
    );
    const started = await tool.run(data, {
      ...common,
      PORT: String(port),
      ADMIN_PORT: String(adminPort),
      DEPOSIT_FACTORY_ADDRESS: deployed.deposit_factory_address,
      NODE_EXTRA_CA_CERTS: '/data/ca.pem',
      SECRET_KEY: randomBytes(32).toString('hex'),
      // Uses the host's network to reach chain, simulators and receiver on loopback.
      HOST: '127.0.0.1',
    });
    container = started;
    await checkConfinement(started, check);
    await check('passes its health check', async () => {
      await waitFor(
        'the health check to pass',
        20_000,
        () => started.exec(...tool.healthcheck()).status === 0,
      );
    });
    const url = `http://127.0.0.1:${port}`;
    const command = <T>(...words: string[]): T => {
      const { status, output } = started.exec('node', 'bin/card-checkout.js', ...words, '--json');
      mustBe(words.join(' '), status === 0, output);
      return JSON.parse(output.slice(output.indexOf('{'))) as T;
    };
    await check('takes a payment from its creation to the paid webhook', async () => {
      const { account_id: account } = command<{ account_id: string }>('account', 'create', '--name', 'Shop');
      const { api_key: key } = command<{ api_key: string }>('key', 'create', '--account', account);
      command('provider', 'set', 'moonpay', '--active');
      const merchant = { url, key, world, receiver };
      const [id, other] = [await createPayment(merchant, '80'), await createPayment(merchant, '81')];
      await payToWebhook(merchant, id);
      await checkPictures(url, [id, other], check);
    });
    await check('says where to rehearse, without the simulators', async () => {
      const { status, output } = started.exec('node', 'bin/card-checkout.js', 'rehearse');
      mustBe('rehearse', status === 1 && output.includes('run it in a clone'), output);
    });
    await check('serves its documentation', async () => {
      const response = await fetch(`${url}/docs`);
      const text = await response.text();
      mustBe('/docs', response.status === 200 && /<h1/.test(text), `${response.status} ${text}`);
    });
    await check('stops with exit code 0', async () => {
      container = undefined;
      const code = await started.stop();
      mustBe('exit code', code === 0, `${code}`);
    });
  } finally {
    await container?.stop();
    await world.stop();
    await receiver.stop();
  }
}

/** Pictures of two amounts differ, unless the drawing library or its fonts are missing. */
async function checkPictures(url: string, ids: readonly string[], check: Check): Promise<void> {
  await check('draws text into the picture of a short link', async () => {
    const pictures: Buffer[] = [readFileSync(plainPreview)];
    for (const id of ids) {
      const response = await fetch(`${url}/s/${shortCodeOf(id as never)}/preview.png`);
      mustBe('picture', response.headers.get('content-type') === 'image/png', `${response.status}`);
      pictures.push(Buffer.from(await response.arrayBuffer()));
    }
    const different = new Set(pictures.map((picture) => picture.toString('base64'))).size;
    mustBe('different pictures', different === 3, `${different} of 3`);
  });
}
