import { createHmac } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePorts } from '../support/free-ports.ts';
import {
  runJson,
  type ServiceEnvironment,
  type ServiceProcess,
  startServiceProcess,
} from '../support/service-process.ts';
import { readTokenBalance } from '../support/token-balance.ts';
import { waitFor } from '../support/wait-for.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';

const MERCHANT = '0x52908400098527886E0F7030069857D2E4169EE7';

describe('one payment, whole, in the sandbox', () => {
  let folder: string;
  let receiver: WebhookReceiver;
  let environment: ServiceEnvironment;
  let service: ServiceProcess;
  let api: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'card-checkout-e2e-'));
    receiver = await startWebhookReceiver();
    writeFileSync(join(folder, 'ca.pem'), receiver.caPem);
    const [port, adminPort] = (await freePorts(2)) as [number, number];
    api = `http://127.0.0.1:${port}`;
    environment = {
      DATA_DIR: join(folder, 'data'),
      PORT: String(port),
      ADMIN_PORT: String(adminPort),
      CALLBACK_ALLOWED_HOSTS: receiver.host,
      NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem'),
      RATE_LIMIT_STATUS_PER_MINUTE: '100000',
    };
    service = await startServiceProcess(environment);
  }, 60_000);

  afterAll(async () => {
    await service?.end('SIGINT');
    await receiver?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function create(fields: Record<string, unknown> = {}): Promise<Record<string, string>> {
    const response = await fetch(`${api}/api/v1/wallet`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.demoKey()}`, 'content-type': 'application/json' },
      body: JSON.stringify({ address: MERCHANT, callback: receiver.url, amount: '50.00', ...fields }),
    });
    expect(response.status).toBe(200);
    return (await response.json()) as Record<string, string>;
  }

  async function readStatus(query: string): Promise<Record<string, string>> {
    const response = await fetch(`${api}/api/v1/payment-status?${query}`, {
      headers: { 'x-api-key': service.demoKey() },
    });
    expect(response.status).toBe(200);
    return (await response.json()) as Record<string, string>;
  }

  async function readMerchantBalance(): Promise<bigint> {
    const chainUrl = /Local chain\s+(\S+)/.exec(service.output())?.[1] ?? '';
    const published = await fetch(`${api}/.well-known/card-checkout.json`);
    const { token } = (await published.json()) as { token: string };
    return readTokenBalance(chainUrl, token, MERCHANT);
  }

  function webhooksOf(paymentId: string): readonly { rawBody: string; headers: Record<string, unknown> }[] {
    return receiver.received.filter(({ rawBody }) => rawBody.includes(paymentId));
  }

  it('goes from the API call to the signed webhook, and the merchant has the money on the chain', async () => {
    const created = await create({ note: 'order 1001', email: 'ada@shop.example' });
    const { payment_id: paymentId, ipn_token: ipnToken } = created as {
      payment_id: string;
      ipn_token: string;
    };
    expect(created['status']).toBe('unpaid');
    const before = await readMerchantBalance();

    const played = await runJson<{ transaction_hash: string }>(environment, 'sandbox', 'pay', paymentId);
    await waitFor('the webhook', 30_000, () => webhooksOf(paymentId).length > 0);

    const [webhook] = webhooksOf(paymentId) as [{ rawBody: string; headers: Record<string, unknown> }];
    const signature = createHmac('sha256', ipnToken).update(webhook.rawBody).digest('hex');
    expect(webhook.headers['x-service-signature']).toBe(signature);
    const status = await readStatus(`ipn_token=${ipnToken}`);
    expect(status).toMatchObject({
      payment_id: paymentId,
      status: 'paid',
      forward_status: 'completed',
      txid_in: played.transaction_hash,
    });
    expect(status['txid_out']).toMatch(/^0x[0-9a-f]{64}$/);
    expect(JSON.parse(webhook.rawBody)).toMatchObject({
      event: 'payment.paid',
      paymentId,
      status: 'paid',
      note: 'order 1001',
      email: 'ada@shop.example',
      receivedAmount: status['value_coin'],
      forwardedAmount: status['forwarded_amount'],
      txidIn: status['txid_in'],
      txidOut: status['txid_out'],
    });
    const after = await readMerchantBalance();
    expect(Number(after - before) / 1e6).toBe(Number(status['forwarded_amount']));
    expect(webhooksOf(paymentId)).toHaveLength(1);
  }, 60_000);

  it('keeps everything over Ctrl-C and goes on with what was under way', async () => {
    const created = await create();
    const paymentId = created['payment_id'] as string;
    await runJson(environment, 'sandbox', 'pay', paymentId);
    const key = service.demoKey();

    expect(await service.end('SIGINT')).toBe(0);
    expect(processesUsing(folder)).toEqual([]);
    service = await startServiceProcess(environment);

    expect(service.demoKey()).toBe(key);
    await waitFor('the payment to be paid', 30_000, async () => {
      return (await readStatus(`payment_id=${paymentId}`))['status'] === 'paid';
    });
    await waitFor('its webhook', 15_000, () => webhooksOf(paymentId).length > 0);
    expect(webhooksOf(paymentId)).toHaveLength(1);
  }, 90_000);

  it('refuses a second server on the same data with a clear error, and stays unharmed', async () => {
    const [port, adminPort] = (await freePorts(2)) as [number, number];
    const second = startServiceProcess({ ...environment, PORT: String(port), ADMIN_PORT: String(adminPort) });
    await expect(second).rejects.toThrow(/another process/i);
    expect((await fetch(`${api}/health/ready`)).status).toBe(200);
  }, 60_000);

  it('lets nobody but its owner command it or read its data', () => {
    const data = join(folder, 'data');
    expect(statSync(join(data, 'control.sock')).mode & 0o777).toBe(0o600);
    expect(statSync(join(data, 'card-checkout.sqlite')).mode & 0o777).toBe(0o600);
  });

  it('writes no key and no ipn_token to its log', async () => {
    const { ipn_token: ipnToken } = await create();
    await readStatus(`ipn_token=${ipnToken}`);
    // The welcome shows the demo key on purpose; the log lines must not.
    const lines = service
      .output()
      .split('\n')
      .filter((line) => line.startsWith('{'));
    expect(lines.join('\n')).not.toContain('service_live_');
    expect(lines.join('\n')).not.toContain('ipn_');
  });

  it('takes commands while it runs, effective with the next request', async () => {
    const { account_id: account } = await runJson<{ account_id: string }>(
      environment,
      'account',
      'create',
      '--name',
      'Second shop',
    );
    const { key_id: id, api_key: key } = await runJson<{ key_id: string; api_key: string }>(
      environment,
      'key',
      'create',
      '--account',
      account,
    );
    const read = () =>
      fetch(`${api}/api/v1/payment-status?payment_id=${crypto.randomUUID()}`, {
        headers: { 'x-api-key': key },
      });

    expect((await read()).status).toBe(404);
    await runJson(environment, 'key', 'revoke', id);
    expect((await read()).status).toBe(401);
  }, 30_000);
});

/** Command lines of processes that work in a folder, other than our own. */
function processesUsing(folder: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map((name) => {
      try {
        return readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ');
      } catch {
        return ''; // It ended meanwhile.
      }
    })
    .filter((commandLine) => commandLine.includes(folder));
}
