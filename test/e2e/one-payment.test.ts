import { createHmac } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type EndToEndService, SOMEBODY, startEndToEndService } from '../support/e2e-service.ts';
import { runPrintedCommand } from '../support/printed-command.ts';
import { processesUsing } from '../support/processes-using.ts';
import { runJson, startCommand } from '../support/service-process.ts';
import { createWebhookSecret } from '../support/shop-platform.ts';
import { waitFor } from '../support/wait-for.ts';

const sign = (body = '', token = '') => createHmac('sha256', token).update(body).digest('hex');

describe('one payment, whole, in the sandbox', () => {
  let service: EndToEndService;

  beforeAll(async () => {
    // As a shell would start it that keeps nothing from others.
    const nodeArgs = ['--import', 'data:text/javascript,process.umask(0)'];
    service = await startEndToEndService({}, { nodeArgs });
  });
  afterAll(() => service?.stop());

  function webhooksOf(paymentId: string) {
    return service.receiver.received.filter(({ rawBody }) => rawBody.includes(paymentId));
  }

  it('goes from the API call to the signed webhook, and the merchant has the money on the chain', async () => {
    const created = await service.create({ note: 'order 1001', email: 'ada@shop.example' });
    const { payment_id: paymentId, ipn_token: ipnToken } = created;
    expect(created['status']).toBe('unpaid');
    const before = await service.readBalance(SOMEBODY);

    const played = await runJson<{ transaction_hash: string }>(service.environment, 'sandbox pay', paymentId);
    const [webhook] = await waitFor('the webhook', 60_000, () => {
      const received = webhooksOf(paymentId);
      return received.length > 0 && received;
    });

    expect(webhook?.headers['x-service-signature']).toBe(sign(webhook?.rawBody, ipnToken));
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
  });

  it('the printed command works as printed: its webhook arrives at the sandbox, verified, also after a restart', async () => {
    const printed = service.process().output();
    const command = /^ {2}(curl [\s\S]+?')\n\n/m.exec(printed)?.[1] ?? '';
    const pageUrl = /Webhooks +(http:\S+)/.exec(printed)?.[1] ?? '';
    const created = JSON.parse(await runPrintedCommand(command)) as {
      payment_id: string;
      checkout_url: string;
    };
    expect(await (await fetch(pageUrl)).text()).not.toContain(created.payment_id);
    await service.restart('SIGINT');
    await runJson(service.environment, 'sandbox pay', created.payment_id);
    const page = await waitFor('the webhook', 60_000, async () => {
      const text = await (await fetch(pageUrl)).text();
      return text.includes(created.payment_id) && text;
    });
    expect(page).toMatch(new RegExp(`verified</span> ${created.payment_id}`));
    const shown = await runJson<{ webhooks: { status: string }[] }>(
      service.environment,
      'payment show',
      created.payment_id,
    );
    expect(shown.webhooks.map(({ status }) => status)).toEqual(['delivered']);
  });

  it('shows its events to whoever listens, copies alone, and brings them about on demand', async () => {
    await createWebhookSecret(service.url, service.environment['DATA_DIR'] ?? '');
    const signaturesOf = (headers: IncomingHttpHeaders) =>
      `${headers['x-service-signature']} ${headers['webhook-timestamp']} ${headers['webhook-signature']}`;
    const copies: string[] = [];
    const local = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      copies.push(`${signaturesOf(request.headers)} ${body}`);
      response.end('seen');
    });
    await new Promise<void>((resolve) => local.listen(0, '127.0.0.1', resolve));
    const endpoint = `http://127.0.0.1:${(local.address() as AddressInfo).port}/hook`;
    const listener = startCommand(service.environment, 'listen --forward-to', endpoint, '--json');
    try {
      await waitFor('the listener', 20_000, () => listener.output().includes('Listening'));
      const [paid, forwarded] = await Promise.all(
        ['payment.paid', 'payment.forwarded'].map((event) =>
          runJson<Record<string, string>>(
            service.environment,
            `trigger ${event} --amount 30 --callback`,
            service.receiver.url,
          ),
        ),
      );
      for (const { event, payment_id: id, ipn_token: token, delivery } of [paid, forwarded] as Record<
        string,
        string
      >[]) {
        expect(delivery).toBe('delivered');
        const ofEvent = (text: string) =>
          text.includes(`"paymentId":"${id}"`) && text.includes(`"event":"${event}"`);
        await waitFor(`the copy of ${event}`, 15_000, () => copies.some(ofEvent));
        // What the merchant got, got the listener, byte for byte, and each of them once.
        const real = webhooksOf(id ?? '').filter(({ rawBody }) => ofEvent(rawBody));
        expect(real).toHaveLength(1);
        const [{ rawBody = '', headers = {} } = {}] = real;
        expect(copies.filter(ofEvent)).toEqual([`${signaturesOf(headers)} ${rawBody}`]);
        expect(headers['webhook-signature']).toMatch(/^v1,/);
        expect(headers['x-service-signature']).toBe(sign(rawBody, token));
        await waitFor('the line', 15_000, () => listener.output().includes(`"ipn_token":"${token}"`));
      }
    } finally {
      await listener.end();
      local.closeAllConnections();
      await new Promise((resolve) => local.close(resolve));
    }
  }, 90_000);

  it('keeps everything over Ctrl-C and goes on with what was under way', async () => {
    const { payment_id: paymentId } = await service.create();
    await runJson(service.environment, 'sandbox pay', paymentId);
    const key = service.process().demoKey();

    expect(await service.process().end('SIGINT')).toBe(0);
    expect(processesUsing(service.folder)).toEqual([]);
    await service.restart('SIGINT');

    expect(service.process().demoKey()).toBe(key);
    await waitFor('the payment to be paid', 60_000, async () => {
      return (await service.readStatus(`payment_id=${paymentId}`))['status'] === 'paid';
    });
    await waitFor('its webhook', 60_000, () => webhooksOf(paymentId).length > 0);
    expect(webhooksOf(paymentId)).toHaveLength(1);
  });

  it('makes every file and folder of its data for its owner alone, whatever the umask is', async () => {
    const data = join(service.folder, 'data');
    await service.create();
    const walk = readdirSync(data, { recursive: true, withFileTypes: true }).map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const mode = (statSync(path).mode & 0o777).toString(8);
      return { path: path.slice(data.length + 1), mode, isFolder: entry.isDirectory() };
    });
    expect(statSync(data).mode & 0o777).toBe(0o700);
    expect(walk.map(({ path }) => path)).toEqual(
      expect.arrayContaining([
        'control.sock',
        'card-checkout.sqlite',
        'card-checkout.sqlite-wal',
        'card-checkout.sqlite.lock',
        'sandbox/onramps.sqlite',
        'sandbox/chain/chain-state.json.gz',
        'sandbox/settings.json',
      ]),
    );
    expect(walk.filter(({ mode, isFolder }) => mode !== (isFolder ? '700' : '600'))).toEqual([]);
  });

  it('has no key and no ipn_token in its log, metrics, arguments and database', async () => {
    const { ipn_token: ipnToken, payment_id: paymentId } = await service.create();
    await service.readStatus(`ipn_token=${ipnToken}`);
    const data = join(service.folder, 'data');
    const { providerKeys } = JSON.parse(readFileSync(join(data, 'sandbox/settings.json'), 'utf8')) as {
      providerKeys: Record<string, string>;
    };
    const secrets = Object.values(providerKeys).map((key) => key.slice(-24));
    // The welcome shows the demo key on purpose; the log lines must not.
    const lines = service.process().output().split('\n');
    const databases = readdirSync(data).filter((name) => /\.sqlite(-wal)?$/.test(name));
    const places = {
      log: lines.filter((line) => line.startsWith('{')).join('\n'),
      metrics: await (await fetch(`http://127.0.0.1:${service.environment['ADMIN_PORT']}/metrics`)).text(),
      arguments: readFileSync(`/proc/${service.process().pid}/cmdline`, 'latin1'),
      database: databases.map((name) => readFileSync(join(data, name), 'latin1')).join('\n'),
    };
    // What must be there shows that the right files were read.
    expect(places.database).toContain(paymentId);
    const canaries = [
      service.process().demoKey().slice('service_live_'.length),
      ipnToken.slice(42),
      ...secrets,
    ];
    for (const [place, text] of Object.entries(places))
      for (const canary of canaries)
        expect(text.includes(canary as string), `${canary} in ${place}`).toBe(false);
    expect(places.log).not.toMatch(/service_live_|ipn_/);
  });
});
