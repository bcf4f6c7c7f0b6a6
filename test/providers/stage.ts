import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, vi } from 'vitest';
import { developmentKeys } from '../../sandbox/development-keys.ts';
import { allProviderValues } from '../../sandbox/provider-values.ts';
import { type Onramps, startOnramps } from '../../sandbox/start-onramps.ts';
import { ServiceError } from '../../src/payment/errors.ts';
import { type ProviderId, providerIds } from '../../src/payment/provider-catalog.ts';
import type { AdapterSettings, ProviderValues } from '../../src/providers/adapters/define-provider.ts';
import { providers } from '../../src/providers/adapters/providers.ts';
import { withCircuitBreaker } from '../../src/providers/circuit-breaker.ts';
import type { PostedWebhook, ProviderAdapter, SessionRequest } from '../../src/providers/provider.ts';
import { createJsonRpcClient } from '../../src/settlement/chain/json-rpc.ts';
import { servePassThrough } from './serve-json.ts';

/** The simulated on-ramps without a chain: orders are paid, and delivered never. */
export interface Stage {
  readonly onramps: Onramps;
  /** What the on-ramps posted to us, in their order. */
  readonly webhooks: (PostedWebhook & { readonly provider: string })[];
  /** Moves the clock of on-ramps and adapters. */
  advance(ms: number): void;
  valuesOf(provider: ProviderId): ProviderValues;
  adapterOf(provider: ProviderId, options?: AdapterChanges): ProviderAdapter;
  stop(): Promise<void>;
}

export interface AdapterChanges {
  readonly values?: ProviderValues;
  readonly timeoutMs?: number;
  readonly warn?: (message: string) => void;
}

/** Longer than any test. */
const SLOW_ANSWER_MS = 600_000;

/** A shop's place for webhooks: keeps them and takes them all. */
async function startWebhookReceiver(webhooks: Stage['webhooks'], nowMs: () => number) {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const headers = request.headers as Record<string, string | undefined>;
    const target = request.url ?? '';
    const provider = target.split('/')[2] ?? '';
    webhooks.push({ provider, target, headers, body: Buffer.concat(chunks), receivedAtMs: nowMs() });
    response.end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

export async function startStage(): Promise<Stage> {
  const directory = await mkdtemp(join(tmpdir(), 'card-checkout-providers-'));
  const webhooks: Stage['webhooks'] = [];
  let movedMs = 0;
  const nowMs = () => Date.now() + movedMs;
  const receiver = await startWebhookReceiver(webhooks, nowMs);
  const rpc = createJsonRpcClient({ url: 'http://127.0.0.1:1', timeoutMs: 100 });
  const keys = Object.fromEntries(providerIds.map((id) => [id, `the key of ${id}`])) as Record<
    ProviderId,
    string
  >;
  const webhookUrl = (provider: ProviderId) => `${receiver.url}/providers/${provider}/webhooks`;
  const onramps = await startOnramps({
    directory,
    rpc,
    keys,
    webhookUrl,
    nowMs,
    port: 0,
    slowAnswerMs: SLOW_ANSWER_MS,
    usdc: '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359',
    otherToken: '0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174',
    minter: developmentKeys().minter,
    log: { info() {}, warn() {}, error() {} },
  });
  const values = allProviderValues(keys, onramps.baseUrl);
  return {
    onramps,
    webhooks,
    advance(ms) {
      movedMs += ms;
    },
    valuesOf: (provider) => values[provider],
    adapterOf: (provider, options = {}) =>
      providers[provider].open(
        { ...values[provider], ...options.values },
        {
          timeoutMs: options.timeoutMs ?? 5_000,
          ...(options.warn === undefined ? {} : { warn: options.warn }),
          nowMs,
          webhookUrl: webhookUrl(provider),
          baseUrl: 'https://pay.example.com',
        },
      ),
    async stop() {
      await onramps.stop();
      await rpc.close();
      receiver.server.closeAllConnections();
      await new Promise((resolve) => receiver.server.close(resolve));
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** For a file of tests: a stage that stands from its first test to its last. */
export function useStage(): Stage {
  let stage: Stage | undefined;
  beforeAll(async () => {
    stage = await startStage();
  });
  afterAll(() => stage?.stop());
  return new Proxy({} as Stage, { get: (_, name) => Reflect.get(stage as Stage, name) });
}

/** Opens an address as a customer's browser does, coming from the checkout page. */
export function openFromCheckout(url: string): Promise<Response> {
  return fetch(url, { headers: { referer: 'https://pay.example.com/' } });
}

/** Pays with a card at the page of an on-ramp. */
export function payWith(orderUrl: string, cardNumber = '4242424242424242'): Promise<Response> {
  const body = new URLSearchParams({ card_number: cardNumber });
  return fetch(orderUrl, { method: 'POST', redirect: 'manual', body });
}

/** The first webhook about a card that was accepted in a visit of this adapter. */
export async function webhookOfVisit({ webhooks }: Stage, adapter: ProviderAdapter): Promise<PostedWebhook> {
  const page = await openFromCheckout((await adapter.startSession(someSession)).redirectUrl);
  const before = webhooks.length;
  await payWith(page.url);
  return vi.waitUntil(() => webhooks.slice(before).find(({ provider }) => provider === adapter.id), {
    timeout: 60_000,
  });
}

/** An adapter whose requests are kept, and answered by its simulator. */
export async function watchedAdapter(stage: Stage, id: ProviderId, values = stage.valuesOf(id)) {
  const said: string[] = [];
  const { url } = await servePassThrough(values['BASE_URL'] as string, (request) => {
    said.push(request);
    return null;
  });
  return { said, adapter: stage.adapterOf(id, { values: { ...values, BASE_URL: url } }) };
}

/** An adapter behind the breaker of a process whose clock stands still. */
export const behindBreaker = (adapter: ProviderAdapter) =>
  withCircuitBreaker(adapter, { monotonicMs: () => 0, nowMs: () => 1_000, openMs: 30_000 });

/** An adapter of a provider that no stage simulates. */
export function adapterWith(
  provider: ProviderId,
  values: ProviderValues,
  change: Partial<AdapterSettings> = {},
): ProviderAdapter {
  return providers[provider].open(values, {
    timeoutMs: 3_000,
    nowMs: Date.now,
    webhookUrl: `https://pay.example.com/providers/${provider}/webhooks`,
    baseUrl: 'https://pay.example.com',
    ...change,
  });
}

/** 100.00 EUR for a payment of ours. */
export const someSession: SessionRequest = {
  amountCents: 100_00,
  currency: 'EUR',
  usdUnits: 109_000_000n,
  customerCountry: 'US',
  customerState: 'CA',
  paymentId: '01234567-89ab-7cde-8f01-23456789abcd',
  depositAddress: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  email: 'ada+shop@example.com',
  customerReference: 'a-returning-customer',
  returnUrl: 'https://pay.example.com/pay/01234567-89ab-7cde-8f01-23456789abcd?returned=1',
};

/** The name of the error that a call fails with, or `answered`. */
export async function outcomeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return 'answered';
  } catch (error) {
    if (error instanceof ServiceError) return error.errorName;
    throw error;
  }
}
