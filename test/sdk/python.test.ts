/** The Python client: its own tests, and the snippets of its README as one program against a sandbox. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { codeBlocks, read, root } from '../docs/markdown.ts';
import { type EndToEndService, startEndToEndService } from '../support/e2e-service.ts';
import { runJson } from '../support/service-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { waitFor } from '../support/wait-for.ts';

const folder = temporaryFolder(afterAll);
let service: EndToEndService | undefined;

beforeAll(async () => {
  if (findPythons().length > 0) service = await startEndToEndService();
});
afterAll(async () => {
  await service?.stop();
});

const environment = {
  PATH: process.env['PATH'],
  HOME: folder,
  PYTHONPATH: join(root, 'sdk-python', 'src'),
  PYTHONDONTWRITEBYTECODE: '1',
  PYTHONUNBUFFERED: '1',
};

function findPythons(): (readonly [version: string, command: string])[] {
  const names = ['python3', ...Array.from({ length: 12 }, (_, index) => `python3.${9 + index}`)];
  const print = ['-c', 'import sqlite3, platform; print(platform.python_version())'];
  const commands = (process.env['PATH'] ?? '')
    .split(delimiter)
    .flatMap((path) => names.map((name) => join(path, name)));
  const found = commands.flatMap((command) => {
    const { status, stdout } = spawnSync(command, print, { encoding: 'utf8', timeout: 20_000 });
    const version = status === 0 ? stdout.trim() : '';
    return /^3\.(9|\d\d)\./.test(version) ? [[version, command] as const] : [];
  });
  return [...new Map(found)];
}

/** Those that are here; the output of the run says what was checked. */
function pythons() {
  const found = findPythons();
  if (found.length === 0) console.warn('not checked: sdk-python, because Python 3.9 is not installed here');
  else console.warn(`sdk-python ran in Python ${found.map(([version]) => version).join(', ')}`);
  return found;
}

it('the Python client passes its own tests in every Python that is on this machine', () => {
  for (const [version, command] of pythons()) {
    const { status, stderr } = spawnSync(
      command,
      ['-W', 'error', '-m', 'unittest', 'discover', '-s', 'tests'],
      { cwd: join(root, 'sdk-python'), env: environment, encoding: 'utf8', timeout: 120_000 },
    );
    expect([version, status, stderr]).toEqual([version, 0, expect.stringMatching(/Ran [1-9]\d* tests/)]);
  }
});

it('the Python client passes mypy --strict', () => {
  const { error, status, stdout } = spawnSync('mypy', ['--strict', '--cache-dir', '/dev/null', 'src'], {
    cwd: join(root, 'sdk-python'),
    encoding: 'utf8',
    timeout: 120_000,
  });
  if (error !== undefined)
    return console.warn('not checked: mypy --strict, because mypy is not installed here');
  expect([status, stdout]).toEqual([0, expect.stringContaining('Success')]);
});

/** The README's snippets in their order, and around them what the page leaves to the reader. */
function shopProgram({ url, receiver }: EndToEndService): string {
  const [create, follow, receive, list, refund, verify, asynchronous, ...others] = codeBlocks(
    read('sdk-python/README.md'),
    'python',
  ).map((block) =>
    block
      .replace('https://pay.example.com', url)
      .replace('https://shop.example/webhook', receiver.url)
      .replace('25.00', '50.00'),
  );
  expect(others).toEqual([]);
  return `${create}
${verify}
${follow}
${receive}
${list}
${refund}
import json, sys, threading

with transaction() as connection:
    connection.execute("INSERT INTO orders VALUES (?, '50.00', 'USD')", (payment["payment_id"],))

doomed = client.create_checkout(
    address="0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65", callback="${receiver.url}", amount="30.00"
)
direct = client.create_direct_payment(address="0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65", callback="${receiver.url}", amount="7.00")
print("direct", direct["usdc_amount"])
print("created", payment["payment_id"])
body, signature = json.loads(sys.stdin.readline())
tokens = {payment["payment_id"]: payment["ipn_token"]}
print("genuine", receive(body.encode(), {SIGNATURE_HEADER: signature}, tokens.get))
print("forged", receive(body.replace("50.00", "51.00").encode(), {SIGNATURE_HEADER: signature}, tokens.get))
print("canceled", client.cancel_payment(doomed["payment_id"])["status"])

stop = threading.Event()
thread = threading.Thread(target=follow, args=(stop,), daemon=True)
thread.start()
# The number of the event of the payment that was canceled last.
def canceled():
    return [event["number"] for event in client.list_events(0)["events"] if event["type"] == "payment.canceled"]

import time
deadline = time.monotonic() + 60
while Cursor().read() < (canceled() or [10**15])[0] and time.monotonic() < deadline:
    time.sleep(0.05)
stop.set()
thread.join()
print("events", [event["type"] for event in client.list_events(0)["events"]])
print("status", client.payment_status(ipn_token=payment["ipn_token"])["status"])

opened = open_refund(payment["payment_id"], "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC", "return-1")
again = open_refund(payment["payment_id"], "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC", "return-1")
print("refund", opened == again, client.get_refund(opened)["status"])
print("refund", len(client.list_refunds(payment["payment_id"])["refunds"]), client.cancel_refund(opened)["status"])
${asynchronous}
`;
}

it('the shop of the Python README is paid in a sandbox, and fulfills once', async () => {
  const [python] = pythons();
  if (python === undefined || service === undefined) return;
  const { receiver } = service;
  const file = join(folder, 'shop.py');
  writeFileSync(file, shopProgram(service));
  const shop = spawn(python[1], ['-W', 'error', file], {
    cwd: folder,
    env: { ...environment, CARD_CHECKOUT_KEY: service.process().demoKey() },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(shop, 'exit');
  let output = '';
  shop.stdout.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
  const paymentId = await waitFor('the checkout', 60_000, () => {
    if (shop.exitCode !== null) throw new Error(`the shop ended:\n${output}`);
    return /^created (\S+)$/m.exec(output)?.[1];
  });
  await runJson(service.environment, 'sandbox pay', paymentId);
  const webhook = await waitFor('the webhook', 60_000, () =>
    receiver.received.find(({ rawBody }) => rawBody.includes(paymentId)),
  );
  shop.stdin.end(`${JSON.stringify([webhook.rawBody, webhook.headers['x-service-signature']])}\n`);
  expect(await ended).toEqual([0, null]);
  const lines = output.split('\n');
  expect(output).toContain('date,payment_id,account,debit_usd,credit_usd');
  for (const line of [
    'direct 7.000000',
    'genuine 204',
    'forged 401',
    'canceled canceled',
    'status paid',
    'refund True awaiting_transfer',
    'refund 1 canceled',
  ]) {
    expect(lines).toContain(line);
  }
  expect(output).toMatch(/^events .*'payment.paid'.*'payment.canceled'/m);
  expect(lines.filter((line) => line.startsWith('async ')).length).toBeGreaterThanOrEqual(3);
  expect(lines.filter((line) => line === `fulfilled ${paymentId}`)).toHaveLength(1);
});
