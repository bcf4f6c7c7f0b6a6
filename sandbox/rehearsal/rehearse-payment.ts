import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { CONTROL_SOCKET, callServer } from '../../src/cli/control-socket.ts';
import type { Config } from '../../src/config/config.ts';
import { type Address, checksumAddress } from '../../src/payment/address.ts';
import type { ProviderId } from '../../src/payment/provider-catalog.ts';
import type { Receiver } from '../shop/start-shop.ts';
import type { WebhookInbox } from '../shop/webhook-inbox.ts';
import type { Sandbox } from '../start-sandbox.ts';

/** Runs one step and reports its result. The signal aborts on a timeout or an interrupt. */
export type RunStep = <Result extends { readonly detail: string }>(
  name: string,
  wayOut: string,
  run: (signal: AbortSignal) => Promise<Result>,
  limitMs?: number,
) => Promise<Result>;

export interface RehearsedPaymentParts {
  readonly step: RunStep;
  readonly config: Config;
  readonly sandbox: Sandbox;
  /** Providers that may take the payment. The first usable provider takes it. */
  readonly providers: readonly ProviderId[];
  readonly receiver: Pick<Receiver, 'host'>;
  readonly inbox: Pick<WebhookInbox, 'list'>;
  /** Keeps the token that verifies a payment's webhook. */
  readonly keepToken: (paymentId: string, ipnToken: string) => void;
}

/** Charge in USD, unless the provider's minimum requires more. */
const USUAL_AMOUNT_USD = 80;
const ABOVE_MINIMUM = 1.2;

const ANSWER_LIMIT_MS = 30_000;
const SETTLE_LIMIT_MS = 180_000;
const POLL_MS = 1_000;

const SEE_LOG = 'see the log of the service';

/** Runs one payment from the creation of a merchant's account to the signed webhook, and verifies the journal. */
export async function rehearsePayment(parts: RehearsedPaymentParts): Promise<void> {
  const { step, config, sandbox, inbox } = parts;
  const api = `http://127.0.0.1:${config.port}`;
  const { provider, amount } = await step('provider', 'see docs/providers.md', () => chooseProvider(parts));
  const { key } = await step('account', SEE_LOG, () => createMerchant(config));
  const wallet = checksumAddress(randomBytes(20).toString('hex'));
  const { id } = await step('create', 'correct what the answer names', () =>
    createPayment(parts, api, key, { address: wallet, amount, provider }),
  );

  await step('pay', `${SEE_LOG}, and docs/providers.md`, async () => {
    const click = await request(`${api}/pay/${id}/providers/${provider}`, { method: 'POST' });
    const order = click.headers.get('location');
    if (click.status !== 303 || order === null)
      throw new Error(`the button of ${provider} answered ${click.status}`);
    const { transactionHash } = await sandbox.pay({ order, cameFrom: config.baseUrl });
    return { detail: `the simulator of ${provider} delivered in ${transactionHash}` };
  });
  const settle = async (signal: AbortSignal) => {
    const status = await waitUntilPaid(`${api}/api/v1/payment-status?payment_id=${id}`, key, signal);
    const [received, forwarded] = [status['value_coin'], status['forwarded_amount']];
    const held = await readBalance(sandbox, wallet);
    if (held !== Math.round(Number(forwarded) * 1e6))
      throw new Error(`the status says ${forwarded} USDC, and the merchant's wallet holds ${held / 1e6}`);
    return { detail: `paid: ${received} USDC received, ${forwarded} of it in the merchant's wallet` };
  };
  await step('settle', `${SEE_LOG}; docs/troubleshooting.md explains its messages`, settle, SETTLE_LIMIT_MS);
  await step('webhook', 'see docs/webhooks.md', async (signal) => {
    for (;;) {
      const [newest] = inbox.list();
      if (newest?.problem) throw new Error(`the webhook was refused: ${newest.problem}`);
      if (newest?.paymentId === id) return { detail: 'one webhook arrived, and its signature is genuine' };
      await delay(POLL_MS, undefined, { signal });
    }
  });
  await step('verify', 'see docs/reliability.md', async () => {
    const found = await command<{ discrepancy_count: number }>(config, 'verify', {});
    if (found.discrepancy_count > 0) throw new Error(`${found.discrepancy_count} differences`);
    return { detail: 'the payment agrees with the journal and the chain' };
  });
}

interface ListedProvider {
  readonly active: boolean;
  readonly minimum_usd: string;
  readonly blocked_because: string | null;
}

/** Enables the first usable provider, because simulated providers are unproven and therefore off in live mode. */
async function chooseProvider({ config, providers }: RehearsedPaymentParts) {
  const reasons: string[] = [];
  for (const provider of providers) {
    const set = await command<ListedProvider>(config, 'provider set', { provider, active: true });
    const usd = Math.max(USUAL_AMOUNT_USD, Number(set.minimum_usd) * ABOVE_MINIMUM);
    if (set.active)
      return { provider, amount: usd.toFixed(2), detail: `${provider} is offered, at its simulator` };
    reasons.push(`${provider}: ${set.blocked_because ?? 'not active'}`);
  }
  throw new Error(`no configured provider can be offered (${reasons.join('; ')})`);
}

async function createMerchant(config: Config) {
  const { account_id: account } = await command<{ account_id: string }>(config, 'account create', {
    name: 'Rehearsal',
  });
  const { api_key: key } = await command<{ api_key: string }>(config, 'key create', { account });
  return { key, detail: `account ${account} has an API key` };
}

async function createPayment(
  { config, receiver, keepToken }: RehearsedPaymentParts,
  api: string,
  key: string,
  terms: { readonly address: Address; readonly amount: string; readonly provider: ProviderId },
) {
  const created = await request(`${api}/api/v1/wallet`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': key },
    body: JSON.stringify({ ...terms, callback: `https://${receiver.host}/webhook` }),
  });
  const answer = (await created.json()) as Record<string, string>;
  if (!created.ok)
    throw new Error(`POST /api/v1/wallet answered ${created.status}: ${JSON.stringify(answer)}`);
  const { payment_id: id = '', ipn_token: token = '', checkout_url: url = '' } = answer;
  if (!url.startsWith(`${config.baseUrl}/`)) throw new Error(`${url} is not below BASE_URL`);
  keepToken(id, token);
  const page = await request(`${api}/pay/${id}`);
  if (!page.ok) throw new Error(`the checkout page answered ${page.status}`);
  return { id, detail: `payment ${id} of ${terms.amount} USD; customers would open ${url}` };
}

/** Polls as a merchant would, and waits as long as the operator's rate limit requires. */
async function waitUntilPaid(
  url: string,
  key: string,
  signal: AbortSignal,
): Promise<Readonly<Record<string, string>>> {
  for (;;) {
    const answer = await request(url, { headers: { 'x-api-key': key } });
    const status = (await answer.json()) as Record<string, string>;
    if (status['status'] === 'paid') return status;
    if (!answer.ok && answer.status !== 429)
      throw new Error(`GET /api/v1/payment-status answered ${answer.status}`);
    await delay(POLL_MS * Number(answer.headers.get('retry-after') ?? 1), undefined, { signal });
  }
}

/** Reads the wallet's balance of test USDC, in 10⁻⁶ USDC. */
async function readBalance({ anvilUrl, usdc }: Sandbox, wallet: Address): Promise<number> {
  const data = `0x70a08231${wallet.slice(2).toLowerCase().padStart(64, '0')}`;
  const body = { jsonrpc: '2.0', id: 1, method: 'eth_call', params: [{ to: usdc, data }, 'latest'] };
  const headers = { 'content-type': 'application/json' };
  const answer = await request(anvilUrl, { method: 'POST', headers, body: JSON.stringify(body) });
  return Number(((await answer.json()) as { result: string }).result);
}

function request(url: string, init: RequestInit = {}): Promise<Response> {
  return fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(ANSWER_LIMIT_MS) });
}

function command<Reply>(
  { dataDir }: Config,
  name: string,
  args: Readonly<Record<string, string | boolean>>,
): Promise<Reply> {
  return callServer(join(dataDir, CONTROL_SOCKET), name, args) as Promise<Reply>;
}
