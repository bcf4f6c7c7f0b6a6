import { randomBytes, randomInt } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checksumAddress } from '../../src/domain/payout-address.ts';
import { freePorts } from '../support/free-ports.ts';
import { createRandom } from '../support/random.ts';
import {
  runJson,
  type ServiceEnvironment,
  type ServiceProcess,
  startServiceProcess,
} from '../support/service-process.ts';
import { readTokenBalance } from '../support/token-balance.ts';
import { waitFor } from '../support/wait-for.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';

const KILLS = 6;
/** A payment takes about four seconds from the on-ramp to the webhook; kills fall anywhere in it and a bit beyond. */
const LONGEST_LIFE_MS = 5_000;
const seed = Number(process.env['KILL_SEED'] ?? randomInt(2 ** 31));

interface PaymentStatus {
  readonly status: string;
  readonly forward_status: string;
  readonly forwarded_amount: string;
}

describe(`kill -9 at random moments (KILL_SEED=${seed})`, () => {
  let folder: string;
  let receiver: WebhookReceiver;
  let environment: ServiceEnvironment;
  let service: ServiceProcess;
  let api: string;
  const random = createRandom(seed);

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'card-checkout-kill-'));
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

  async function create(merchant: string): Promise<string> {
    const response = await fetch(`${api}/api/v1/wallet`, {
      method: 'POST',
      headers: { 'x-api-key': service.demoKey(), 'content-type': 'application/json' },
      body: JSON.stringify({ address: merchant, callback: receiver.url, amount: '40.00' }),
    });
    expect(response.status).toBe(200);
    return ((await response.json()) as { payment_id: string }).payment_id;
  }

  async function readStatus(paymentId: string): Promise<PaymentStatus> {
    const response = await fetch(`${api}/api/v1/payment-status?payment_id=${paymentId}`, {
      headers: { 'x-api-key': service.demoKey() },
    });
    expect(response.status, 'an acknowledged payment is there').toBe(200);
    return (await response.json()) as PaymentStatus;
  }

  /** Plays the customer; the server may be killed under it. Paying twice is refused, so trying again is safe. */
  async function pay(paymentId: string): Promise<void> {
    await runJson(environment, 'sandbox', 'pay', paymentId).catch(() => undefined);
  }

  async function isPaid(paymentId: string): Promise<boolean> {
    const { status, forward_status: forwardStatus } = await readStatus(paymentId);
    if (status === 'unpaid' && forwardStatus === 'pending') await pay(paymentId);
    return status === 'paid';
  }

  it('every payment ends paid once, with one webhook or an unknown one, and exact money on the chain', async () => {
    const merchants = new Map<string, string>();
    for (let kill = 0; kill < KILLS; kill++) {
      const merchant = checksumAddress(randomBytes(20).toString('hex'));
      const paymentId = await create(merchant);
      merchants.set(paymentId, merchant);
      const playing = pay(paymentId);
      await delay(Math.floor(random() * LONGEST_LIFE_MS));
      await service.end('SIGKILL');
      await playing;
      service = await startServiceProcess(environment);
    }

    for (const [paymentId, merchant] of merchants) {
      await waitFor(`${paymentId} to be paid`, 30_000, () => isPaid(paymentId));
      const webhooks = await waitFor('the outcome of its webhook', 15_000, () => endedWebhooksOf(paymentId));
      const posts = receiver.received.filter(({ rawBody }) => rawBody.includes(paymentId)).length;
      expect(posts, 'POSTs received').toBeLessThanOrEqual(1);
      expect(webhooks, 'webhook rows').toHaveLength(1);
      if (webhooks[0] === 'delivered') expect(posts).toBe(1);
      else expect(webhooks).toEqual(['unknown']);
      const { forwarded_amount: forwarded } = await readStatus(paymentId);
      expect(Number(await readBalance(merchant)) / 1e6, 'USDC at the merchant').toBe(Number(forwarded));
    }
  }, 240_000);

  async function endedWebhooksOf(paymentId: string): Promise<string[] | undefined> {
    const shown = await runJson<{ webhooks: { status: string }[] }>(
      environment,
      'payment',
      'show',
      paymentId,
    );
    const statuses = shown.webhooks.map(({ status }) => status);
    return statuses.some((status) => status === 'pending' || status === 'sending') ? undefined : statuses;
  }

  async function readBalance(owner: string): Promise<bigint> {
    const chainUrl = /Local chain\s+(\S+)/.exec(service.output())?.[1] ?? '';
    const published = await fetch(`${api}/.well-known/card-checkout.json`);
    return readTokenBalance(chainUrl, ((await published.json()) as { token: string }).token, owner);
  }
});
