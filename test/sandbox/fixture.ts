import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import type { SandboxLog } from '../../sandbox/sandbox-log.ts';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../sandbox/start-sandbox.ts';
import type { Address } from '../../src/payment/address.ts';
import type { ProviderId } from '../../src/payment/provider-catalog.ts';
import type { ProviderValues } from '../../src/providers/adapters/define-provider.ts';
import { providers } from '../../src/providers/adapters/providers.ts';
import type { ProviderAdapter, StartedSession } from '../../src/providers/provider.ts';
import { createJsonRpcClient } from '../../src/settlement/chain/json-rpc.ts';

export const WAIT = { timeout: 90_000, interval: 50 };

export async function makeFolder(): Promise<{ path: string; remove: () => Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'card-checkout-sandbox-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

/** A log that remembers what was said, with its level. */
export function createRecordingLog(): SandboxLog & { readonly lines: string[] } {
  const lines: string[] = [];
  const record = (level: string) => (fields: object, message: string) => {
    const { err } = fields as { err?: unknown };
    lines.push(`${level} ${message}${err === undefined ? '' : ` ${String(err)}`}`);
  };
  return { lines, info: record('info'), warn: record('warn'), error: record('error') };
}

/** A sandbox that mines ten times as fast as the real one. */
export function startFastSandbox(
  options: Omit<SandboxOptions, 'log'> & { log?: SandboxLog },
): Promise<Sandbox> {
  return startSandbox({ log: createRecordingLog(), blockIntervalMs: 100, ...options });
}

/** A deposit address nobody has used. */
export function someAddress(digit: string): Address {
  return `0x${digit.repeat(40)}`;
}

/** The adapter as the server has it, with changed settings where a test says so. */
export function adapterAt(
  sandbox: Sandbox,
  provider: ProviderId,
  options: { readonly timeoutMs?: number; readonly values?: ProviderValues } = {},
): ProviderAdapter {
  const values = { ...sandbox.providerValues[provider], ...options.values };
  return providers[provider].open(values, {
    timeoutMs: options.timeoutMs ?? 5_000,
    nowMs: Date.now,
    webhookUrl: `http://localhost:3000/providers/${provider}/webhooks`,
    baseUrl: 'http://localhost:3000',
    usdc: sandbox.usdc,
  });
}

/**
 * Starts a session at a provider as the server does, and opens its address as a customer's browser does: the session's
 * address is that of the page with the card form. 100.00 USD unless said otherwise.
 */
export async function startSessionAt(
  sandbox: Sandbox,
  depositAddress: Address,
  options: {
    provider?: ProviderId;
    amountCents?: number;
    email?: string;
    returnUrl?: string;
    paymentId?: string;
  } = {},
): Promise<StartedSession> {
  const { provider = 'wert', amountCents = 100_00 } = options;
  const session = await adapterAt(sandbox, provider).startSession({
    amountCents,
    currency: 'USD',
    usdUnits: BigInt(amountCents) * 10_000n,
    paymentId: options.paymentId ?? '01234567-89ab-7cde-8f01-23456789abcd',
    depositAddress,
    customerReference: 'a-customer',
    email: options.email ?? null,
    returnUrl: options.returnUrl ?? 'http://localhost:3000/pay/1',
    customerCountry: 'US',
  });
  const page = await fetch(session.redirectUrl, { headers: { referer: 'http://localhost:3000/' } });
  return { ...session, redirectUrl: page.url };
}

/** Sends the on-ramp's card form as a browser would, without following where it leads. */
export function payWithCard(session: StartedSession, cardNumber: string): Promise<Response> {
  return fetch(session.redirectUrl, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({
      card_number: cardNumber,
      expiry: '12 / 34',
      security_code: '123',
    }).toString(),
  });
}

export async function callNode(
  sandbox: Sandbox,
  method: string,
  params: readonly unknown[],
): Promise<unknown> {
  const rpc = createJsonRpcClient({ url: sandbox.anvilUrl, timeoutMs: 5_000 });
  try {
    return await rpc.call(method, params);
  } finally {
    await rpc.close();
  }
}

/** The test USDC of an address in units, at a block; or another token. */
export async function readBalance(
  sandbox: Sandbox,
  address: Address,
  block = 'latest',
  token: Address = sandbox.usdc,
): Promise<bigint> {
  const data = `0x70a08231${address.slice(2).toLowerCase().padStart(64, '0')}`;
  return BigInt((await callNode(sandbox, 'eth_call', [{ to: token, data }, block])) as string);
}

/** How many transfers of the test USDC an address ever received. */
export async function countTransfers(sandbox: Sandbox, recipient: Address): Promise<number> {
  const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
  const topics = [transferTopic, null, `0x${recipient.slice(2).toLowerCase().padStart(64, '0')}`];
  const filter = { address: sandbox.usdc, fromBlock: '0x0', toBlock: 'latest', topics };
  return ((await callNode(sandbox, 'eth_getLogs', [filter])) as unknown[]).length;
}

/** Waits until the finalized block shows this balance; a wrong one at the end fails. */
export async function waitForFinalBalance(sandbox: Sandbox, address: Address, units: bigint): Promise<void> {
  await vi.waitFor(async () => expect(await readBalance(sandbox, address, 'finalized')).toBe(units), WAIT);
}

export async function readResultState(session: StartedSession): Promise<string> {
  const page = await (await fetch(`${session.redirectUrl}/result`)).text();
  return /data-state="(\w+)"/.exec(page)?.[1] ?? 'none';
}

/** Waits until the on-ramp itself calls the order delivered. */
export async function waitUntilDelivered(session: StartedSession): Promise<void> {
  await vi.waitFor(async () => expect(await readResultState(session)).toBe('delivered'), WAIT);
}
