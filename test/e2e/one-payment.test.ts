import { createHmac, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type EndToEndService, SOMEBODY, startEndToEndService } from '../support/e2e-service.ts';
import { freePorts } from '../support/free-ports.ts';
import { runJson, startServiceProcess } from '../support/service-process.ts';
import { waitFor } from '../support/wait-for.ts';

describe('one payment, whole, in the sandbox', () => {
  let service: EndToEndService;

  beforeAll(async () => {
    service = await startEndToEndService();
  }, 60_000);
  afterAll(() => service?.stop());

  function webhooksOf(paymentId: string) {
    return service.receiver.received.filter(({ rawBody }) => rawBody.includes(paymentId));
  }

  it('goes from the API call to the signed webhook, and the merchant has the money on the chain', async () => {
    const created = await service.create({ note: 'order 1001', email: 'ada@shop.example' });
    const { payment_id: paymentId, ipn_token: ipnToken } = created;
    expect(created['status']).toBe('unpaid');
    const before = await service.readBalance(SOMEBODY);

    const played = await runJson<{ transaction_hash: string }>(
      service.environment,
      'sandbox',
      'pay',
      paymentId,
    );
    const [webhook] = await waitFor('the webhook', 30_000, () => {
      const received = webhooksOf(paymentId);
      return received.length > 0 && received;
    });

    const signature = createHmac('sha256', ipnToken)
      .update(webhook?.rawBody ?? '')
      .digest('hex');
    expect(webhook?.headers['x-service-signature']).toBe(signature);
    const status = await service.readStatus(`ipn_token=${ipnToken}`);
    expect(status).toMatchObject({
      payment_id: paymentId,
      status: 'paid',
      forward_status: 'completed',
      txid_in: played.transaction_hash,
    });
    expect(status['txid_out']).toMatch(/^0x[0-9a-f]{64}$/);
    expect(JSON.parse(webhook?.rawBody ?? '')).toMatchObject({
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
    const gained = (await service.readBalance(SOMEBODY)) - before;
    expect(Number(gained) / 1e6).toBe(Number(status['forwarded_amount']));
    expect(webhooksOf(paymentId)).toHaveLength(1);
  }, 60_000);

  it('keeps everything over Ctrl-C and goes on with what was under way', async () => {
    const { payment_id: paymentId } = await service.create();
    await runJson(service.environment, 'sandbox', 'pay', paymentId);
    const key = service.process().demoKey();

    expect(await service.process().end('SIGINT')).toBe(0);
    expect(processesUsing(service.folder)).toEqual([]);
    await service.restart('SIGINT');

    expect(service.process().demoKey()).toBe(key);
    await waitFor('the payment to be paid', 30_000, async () => {
      return (await service.readStatus(`payment_id=${paymentId}`))['status'] === 'paid';
    });
    await waitFor('its webhook', 15_000, () => webhooksOf(paymentId).length > 0);
    expect(webhooksOf(paymentId)).toHaveLength(1);
  }, 90_000);

  it('refuses a second server on the same data with a clear error, and stays unharmed', async () => {
    const [port, adminPort] = (await freePorts(2)) as [number, number];
    const ports = { PORT: String(port), ADMIN_PORT: String(adminPort) };
    const second = startServiceProcess({ ...service.environment, ...ports });
    await expect(second).rejects.toThrow(/another process/i);
    expect((await fetch(`${service.url}/health/ready`)).status).toBe(200);
  }, 60_000);

  it('lets nobody but its owner command it or read its data', () => {
    const data = join(service.folder, 'data');
    expect(statSync(join(data, 'control.sock')).mode & 0o777).toBe(0o600);
    expect(statSync(join(data, 'card-checkout.sqlite')).mode & 0o777).toBe(0o600);
  });

  it('writes no key and no ipn_token to its log', async () => {
    const { ipn_token: ipnToken } = await service.create();
    await service.readStatus(`ipn_token=${ipnToken}`);
    // The welcome shows the demo key on purpose; the log lines must not.
    const lines = service.process().output().split('\n');
    const log = lines.filter((line) => line.startsWith('{')).join('\n');
    expect(log).not.toContain('service_live_');
    expect(log).not.toContain('ipn_');
  });

  it('takes commands while it runs, effective with the next request', async () => {
    const { account_id: account } = await runJson<{ account_id: string }>(
      service.environment,
      ...['account', 'create', '--name', 'Second shop'],
    );
    const { key_id: id, api_key: key } = await runJson<{ key_id: string; api_key: string }>(
      service.environment,
      ...['key', 'create', '--account', account],
    );
    const read = () =>
      fetch(`${service.url}/api/v1/payment-status?payment_id=${randomUUID()}`, {
        headers: { 'x-api-key': key },
      });

    expect((await read()).status).toBe(404);
    await runJson(service.environment, 'key', 'revoke', id);
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
