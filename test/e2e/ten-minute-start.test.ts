/**
 * Goes through docs/start.md word by word, as a newcomer does: in a clone of the last commit, where every block is run as it
 * stands, in its order, with what is installed on the machine; `npm start` installs the rest. What has not been committed
 * is not in the clone, so this is about the commit and its own pages. Only the ports differ, which may be taken.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeBlocks } from '../docs/markdown.ts';
import { freePorts } from '../support/free-ports.ts';
import { cloneAsNewcomer, type NewcomersClone } from '../support/newcomers-clone.ts';
import { processesUsing } from '../support/processes-using.ts';
import { waitFor } from '../support/wait-for.ts';

/** The packages come from npm's cache, or else from its registry; a busy machine takes minutes to unpack them. */
const INSTALLATION_MS = 600_000;

let clone: NewcomersClone;
let port: number;
let receiverPort: number;
let adminPort: number;
/** What `npm start` printed. */
let welcome = '';
const running: ChildProcess[] = [];

beforeAll(async () => {
  [port = 0, receiverPort = 0, adminPort = 0] = await freePorts(3);
  clone = await cloneAsNewcomer();
});

afterAll(() => clone?.remove());

const read = (path: string) => readFileSync(join(clone.folder, path), 'utf8');

/** The text with this machine's free ports in the place of the page's. */
function withPorts(text: string): string {
  return text
    .replaceAll('localhost:3000', `localhost:${port}`)
    .replaceAll(/\b9000\b/g, String(receiverPort))
    .replaceAll('https://127.0.0.1:3003/inbox', /"callback":"([^"]+)"/.exec(welcome)?.[1] ?? '');
}

const environment = (more: Readonly<Record<string, string>> = {}) => ({
  ...clone.environment,
  PORT: String(port),
  ADMIN_PORT: String(adminPort),
  ...more,
});

/** Runs a block to its end, as a shell would, and returns what it printed. */
async function run(block: string, more?: Readonly<Record<string, string>>): Promise<string> {
  const { stdout } = await promisify(execFile)('bash', ['--norc', '-euc', withPorts(block)], {
    cwd: clone.folder,
    env: environment(more),
    timeout: 180_000,
  });
  return stdout;
}

/** Starts a block that goes on by itself; `exec`, so that a signal reaches the program. */
function start(block: string, more?: Readonly<Record<string, string>>): () => string {
  const command = withPorts(block).replace(
    /(npm start|node receiver\.mjs|npx card-checkout listen)/,
    'exec $1',
  );
  const assigned = command.replace(/^((?:\w+=\S+ )+)exec/, 'export $1; exec');
  // A group of its own, as a terminal makes one for each command.
  const child = spawn('bash', ['--norc', '-euc', assigned], {
    cwd: clone.folder,
    env: environment(more),
    detached: true,
  });
  running.push(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
  return () => output;
}

it(
  'leads from a clone of the last commit to a paid order and a verified webhook, as it is written',
  async () => {
    const text = read('docs/start.md');
    const blocks = codeBlocks(text, 'sh');
    const [sandbox, key, create, receiver, listen, pay, status] = blocks as [
      ...[string, string, string, string, string, string, string],
    ];
    // A new block needs a place in this test.
    expect(blocks).toHaveLength(7);

    expect(sandbox).toBe('npm start\n');
    const printed = start(sandbox);
    const isReady = () => {
      if (running.at(-1)?.exitCode !== null) throw new Error('it ended');
      return /is ready/.test(printed()) && printed();
    };
    welcome = await waitFor('the sandbox', INSTALLATION_MS, isReady).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${printed()}`);
    });
    expect(welcome).toContain('Installed in');

    expect(key).toBe('KEY=service_live_…\n');
    const apiKey = { KEY: /service_live_[\w-]+/.exec(welcome)?.[0] ?? '' };
    const order = JSON.parse(await run(create, apiKey)) as { payment_id: string };
    expect(order.payment_id).toMatch(/^[0-9a-f-]{36}$/);

    const [program] = codeBlocks(text, 'js');
    writeFileSync(join(clone.folder, 'receiver.mjs'), withPorts(program ?? ''));
    const received = start(receiver, apiKey);
    // Its port is open once it answers; a request that is not from the service is refused.
    await waitFor('the receiver', 60_000, () =>
      run(`curl -s -o /dev/null -w '%{http_code}' http://localhost:9000/ -d x`, apiKey).then(
        (code) => code === '401',
        () => false,
      ),
    );
    const listening = start(listen);
    await waitFor('the listener', 60_000, () => listening().includes('Each event is also sent'));

    await run(pay, apiKey);
    const isPaid = () => received().includes(`order paid by ${order.payment_id}`);
    await waitFor('the webhook', 60_000, isPaid).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${received()}\n${printed()}`);
    });
    expect(JSON.parse(await run(status, apiKey))).toMatchObject({
      payment_id: order.payment_id,
      status: 'paid',
      forward_status: 'completed',
    });
    expect(readFileSync(join(clone.folder, 'order.json'), 'utf8')).toContain(order.payment_id);
  },
  INSTALLATION_MS + 300_000,
);

describe('other pages, at the same sandbox', () => {
  const environmentOfReader = () => ({
    BASE: `http://localhost:${port}`,
    KEY: /service_live_[\w-]+/.exec(welcome)?.[0] ?? '',
  });

  it('docs/api.md creates checkouts and asks for a status as it says', async () => {
    const [, create, createByQuery, readStatus] = codeBlocks(read('docs/api.md'), 'sh') as [
      string,
      string,
      string,
      string,
    ];
    const created = JSON.parse(await run(create, environmentOfReader())) as Record<string, string>;
    expect(Object.keys(created)).toEqual(
      Object.keys(JSON.parse(codeBlocks(read('docs/api.md'), 'json')[0] ?? '{}')),
    );
    expect(JSON.parse(await run(createByQuery, environmentOfReader()))).toMatchObject({ amount: '10.00' });
    const ofThisOne = readStatus.replace(/payment_id=[0-9a-f-]+/, `payment_id=${created['payment_id']}`);
    expect(ofThisOne).not.toBe(readStatus);
    expect(JSON.parse(await run(ofThisOne, environmentOfReader()))).toMatchObject({ status: 'unpaid' });
  });

  it('docs/testing.md brings about what it says', async () => {
    const [create] = codeBlocks(read('docs/api.md'), 'sh').slice(1) as [string];
    const repeated = create.replace('order-1002', 'order-of-testing');
    const { payment_id } = JSON.parse(await run(repeated, environmentOfReader())) as { payment_id: string };
    const [commands] = codeBlocks(read('docs/testing.md'), 'sh') as [string];
    const printed = await run(commands.replaceAll('PAYMENT_ID', payment_id));
    for (const words of ['unpaid', payment_id]) expect(printed).toContain(words);
  });
});

it('docs/merchant-month.md leads from the first event to a refund and the journal of the month', async () => {
  const blocks = codeBlocks(read('docs/merchant-month.md'), 'sh');
  const reader = { BASE: `http://localhost:${port}`, KEY: /service_live_[\w-]+/.exec(welcome)?.[0] ?? '' };
  const printed: string[] = [];
  for (const block of blocks) printed.push(await run(block, reader));
  const [
    ,
    ,
    events = '{}',
    opened = '{}',
    named = '',
    confirmed = '{}',
    ,
    refund = '{}',
    days = '{}',
    journal = '',
  ] = printed;
  const paid = (JSON.parse(events) as { events: { type: string; payment: { payment_id: string } }[] }).events;
  const { payment } = paid.findLast(({ type }) => type === 'payment.paid') ?? {};
  expect(JSON.parse(opened)).toMatchObject({ status: 'awaiting_address', payment_id: payment?.payment_id });
  expect(named).toBe('200\n');
  expect(JSON.parse(confirmed)).toMatchObject({ status: 'awaiting_transfer' });
  expect(JSON.parse(refund)).toMatchObject({ status: 'paid', reason: 'One cup was broken' });
  const [today] = (JSON.parse(days) as { days: Record<string, string>[] }).days;
  expect(Number(today?.['paid'])).toBeGreaterThan(0);
  expect(Number(today?.['received_amount'])).toBeGreaterThan(20);
  const lines = journal.split('\r\n').filter((line) => line.includes(payment?.payment_id ?? 'no payment'));
  expect(lines.map((line) => line.split(',')[2])).toEqual(
    expect.arrayContaining(['sales', 'payout_wallet', 'service_fees']),
  );
});

describe('the shop of the same sandbox', () => {
  const shopUrl = () => /Shop +(http:\S+)/.exec(welcome)?.[1] ?? '';
  const post = (path: string, headers: Readonly<Record<string, string>> = {}) =>
    fetch(shopUrl() + path, { method: 'POST', redirect: 'manual', headers });
  const readPage = async (path: string) => (await fetch(shopUrl() + path)).text();

  it('sells something, and shows the calls, the webhook and its verification side by side', async () => {
    expect(await readPage('/')).toContain('A tin of tea');
    const bought = await post('/buy/tea', { origin: shopUrl() });
    expect(bought.status).toBe(303);
    const order = bought.headers.get('location') ?? '';
    const open = await readPage(order);
    expect(open).toContain('POST /api/v1/wallet');
    expect(open).toContain('The deposit address is the right one');
    expect(open).not.toMatch(/ipn_[\w-]{20,}/);
    const paymentId = /\/pay\/([0-9a-f-]{36})/.exec(open)?.[1] ?? '';

    await run(`npx card-checkout sandbox pay ${paymentId}`);
    const isFulfilled = async () => (await readPage(order)).includes('fulfilOnce: fulfilled');
    await waitFor('the order to be fulfilled', 60_000, isFulfilled);
    const done = await readPage(order);
    const inOrder = [
      'A webhook arrived',
      'The signature is right',
      'GET /api/v1/payment-status',
      'fulfilOnce: fulfilled',
    ];
    const places = inOrder.map((title) => done.indexOf(title));
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(places[0]).toBeGreaterThan(0);
    expect(done).toContain('Your order is on its way');

    await post(`${order}/repeat`);
    await post(`${order}/forge`);
    const after = await readPage(order);
    expect(after).toContain('fulfilOnce: already_fulfilled');
    expect(after).toContain('Refused: WebhookError');
    expect(after.split('fulfilOnce: fulfilled')).toHaveLength(2);
  });

  it('lets no other site press its buttons, and has only what there is', async () => {
    expect((await post('/buy/tea', { origin: 'http://shop.example' })).status).toBe(403);
    expect((await post('/buy/nothing')).status).toBe(404);
    expect((await fetch(`${shopUrl()}/orders/nothing`)).status).toBe(404);
    const { headers } = await fetch(shopUrl());
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'self'; script-src 'self';/,
    );
  });
});

it('stops with Ctrl-C, and leaves no process behind', async () => {
  const ended = running.map((child) => new Promise((resolve) => child.once('exit', resolve)));
  expect(running.map(({ exitCode }) => exitCode)).toEqual([null, null, null]);
  // `npm start` and the receiver end by a signal of their own; npx passes none on to the shell that it starts, but a
  // terminal sends Ctrl-C to the whole group.
  const [sandbox, receiver, listener] = running;
  sandbox?.kill('SIGINT');
  receiver?.kill('SIGINT');
  process.kill(-(listener?.pid ?? 0), 'SIGINT');
  await Promise.all(ended);
  await waitFor('every process to end', 60_000, () => processesUsing(clone.folder).length === 0).catch(() => {
    expect(processesUsing(clone.folder)).toEqual([]);
  });
});
