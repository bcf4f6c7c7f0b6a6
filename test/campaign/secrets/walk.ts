import { createHash } from 'node:crypto';
import type { CreatedPayment } from '../../support/e2e-service.ts';
import { waitFor } from '../../support/wait-for.ts';
import { createHeaderCheck } from './headers.ts';
import { exchange, type RawAnswer, type RawRequest, sendBytes } from './raw-exchange.ts';
import type { Merchant, Stage } from './stage.ts';
import { quotingMoods } from './talkative-server.ts';

const json = { 'content-type': 'application/json' };

/** Every kind of answer that the public server has, asked for with secrets in every place. */
export async function walkAnswers(stage: Stage, merchant: Merchant, own: CreatedPayment): Promise<void> {
  const check = createHeaderCheck(stage.tally);
  const seen = new Set<number>();
  const take = (what: string, path: string, answer: RawAnswer): RawAnswer => {
    seen.add(answer.status);
    check(what, path.split('?')[0] ?? path, answer);
    return answer;
  };
  const ask = async (what: string, request: RawRequest) => take(what, request.path, await stage.ask(request));
  await walkApi(stage, merchant, own, ask);
  await walkPages(own, ask);
  for (const [what, bytes] of Object.entries(malformed(merchant, own))) {
    take(what, '/', await sendBytes(stage.url, bytes));
  }
  const missing = [200, 303, 304, 400, 401, 403, 404, 405, 409, 413, 429, 431].filter(
    (code) => !seen.has(code),
  );
  stage.tally.expect('headers', missing.length === 0, () => `no answer with ${missing.join(', ')} was seen`);
  await checkMetrics(stage);
}

type Ask = (what: string, request: RawRequest) => Promise<RawAnswer>;

async function walkApi(stage: Stage, merchant: Merchant, own: CreatedPayment, ask: Ask): Promise<void> {
  const headers = { ...json, 'x-api-key': merchant.apiKey };
  const create = (
    what: string,
    fields: Readonly<Record<string, unknown>>,
    more: Record<string, string> = {},
  ) =>
    ask(what, {
      method: 'POST',
      path: '/api/v1/wallet',
      headers: { ...headers, ...more },
      body: JSON.stringify({ ...stage.drawFields(), ...fields }),
    });
  const watched = async (answer: Promise<RawAnswer>) => {
    const { body } = await answer;
    stage.watchToken((JSON.parse(body) as CreatedPayment).ipn_token);
  };
  for (const path of ['/health/live', '/health/ready', '/.well-known/card-checkout.json']) {
    await ask(path, { method: 'GET', path });
  }
  await watched(create('a create', {}, { 'idempotency-key': 'walk' }));
  await create('an Idempotency-Key with another request', { amount: '99' }, { 'idempotency-key': 'walk' });
  const { email = '', note = '', callback = '' } = stage.drawFields();
  const { apiKey } = merchant;
  // Whatever is in a field, an error must not repeat it.
  for (const [name, value] of Object.entries({
    email: `${email}, ${apiKey}`,
    note: `${note}\u0000${apiKey}`,
    callback: `https://${apiKey}:${own.ipn_token}@${callback.slice(8)}`,
    address: apiKey,
    amount: own.ipn_token,
    currency: email,
    provider: apiKey,
    passFeeToCustomer: email,
  })) {
    await create(`a bad ${name}`, { [name]: value });
  }
  await create('a provider that is inactive', { provider: 'wert' });
  await ask('a create by GET', {
    method: 'GET',
    path: `/api/v1/wallet?${new URLSearchParams({ ...stage.drawFields(), amount: email })}`,
    headers,
  });
  await ask('a body that is no JSON', {
    method: 'POST',
    path: '/api/v1/wallet',
    headers,
    body: `{"email": ${email}`,
  });
  await ask('a body that is too large', {
    method: 'POST',
    path: '/api/v1/wallet',
    headers,
    body: email.repeat(800),
  });
  await ask('another type', {
    method: 'POST',
    path: '/api/v1/wallet',
    headers: { ...headers, 'content-type': email },
    body: note,
  });
  const status = `/api/v1/payment-status?ipn_token=${own.ipn_token}`;
  await ask('a status', { method: 'GET', path: status, headers });
  await ask('neither id nor token', { method: 'GET', path: '/api/v1/payment-status', headers });
  await ask('a token twice', { method: 'GET', path: `${status}&ipn_token=${own.ipn_token}`, headers });
  await ask('a key in the query', { method: 'GET', path: `${status}&api_key=${apiKey}`, headers });
  await ask('no key', { method: 'GET', path: status });
  await ask('both headers', {
    method: 'GET',
    path: status,
    headers: { ...headers, authorization: `Bearer ${apiKey}` },
  });
  await ask('another method', { method: 'DELETE', path: status, headers });
  await ask('HEAD', { method: 'HEAD', path: '/health/live' });
  await ask('OPTIONS', { method: 'OPTIONS', path: '/api/v1/wallet', headers });
  for (const path of [
    `/${apiKey}`,
    `/${email}?ipn_token=${own.ipn_token}`,
    `/api/v1/%zz?k=${apiKey}`,
    `/api/v1/wallet/${note}`,
  ]) {
    await ask('a path to nowhere', { method: 'GET', path, headers });
  }
  await stage.command('account update', { account: merchant.accountId, suspend: true });
  await create('a suspended account', {});
  await stage.command('account update', { account: merchant.accountId, resume: true });
  const limited = await stage.addMerchant('Busy shop');
  const busy = () =>
    exchange(stage.url, {
      method: 'POST',
      path: '/api/v1/wallet',
      headers: { ...json, 'x-api-key': limited.apiKey },
      body: '{}',
    });
  for (let requests = 0; requests < 60; requests += 10) await Promise.all(Array.from({ length: 10 }, busy));
  await ask('a rate limit', {
    method: 'POST',
    path: '/api/v1/wallet',
    headers: { ...json, 'x-api-key': limited.apiKey },
    body: note,
  });
}

async function walkPages(own: CreatedPayment, ask: Ask): Promise<void> {
  const { payment_id: id, ipn_token: token } = own;
  const page = `/pay/${id}`;
  await ask('the checkout', { method: 'GET', path: `${page}?email=x&auto=1` });
  const polled = await ask('the poll', { method: 'GET', path: `${page}/status` });
  const etag = polled.headers.get('etag') ?? '';
  await ask('the poll again', { method: 'GET', path: `${page}/status`, headers: { 'if-none-match': etag } });
  await ask('the short link', { method: 'GET', path: `/s/${own['short_code']}` });
  await ask('a preview', { method: 'GET', path: `/s/${own['short_code']}`, headers: { purpose: 'preview' } });
  await ask('a click', { method: 'POST', path: `${page}/providers/moonpay` });
  await ask('a click by GET', { method: 'GET', path: `${page}/providers/moonpay` });
  await ask('a click from elsewhere', {
    method: 'POST',
    path: `${page}/providers/moonpay`,
    headers: { origin: 'https://evil.example' },
  });
  await ask('a click on nobody', { method: 'POST', path: `${page}/providers/${token}` });
  await ask('a click on one that is inactive', { method: 'POST', path: `${page}/providers/wert` });
  const body = `x=${token}`.repeat(30);
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  await ask('a form that is too large', {
    method: 'POST',
    path: `${page}/providers/moonpay`,
    headers: form,
    body,
  });
  await ask('a body of another type', {
    method: 'POST',
    path: `${page}/providers/moonpay`,
    headers: json,
    body: '{}',
  });
  for (const path of [
    `/pay/${token}`,
    `/pay/${token}/status`,
    `/s/${token}`,
    `/pay/${'x'.repeat(200)}`,
    '/pay/%zz',
  ]) {
    await ask('a page that is not there', { method: 'GET', path });
  }
}

/** What is no request, or not one we take: answered before there is a route. */
function malformed(
  { apiKey }: Merchant,
  { ipn_token: token }: CreatedPayment,
): Readonly<Record<string, string>> {
  return {
    'no HTTP': `${apiKey}\r\n\r\n`,
    'an unknown method': `BREW /?${token} HTTP/1.1\r\nHost: x\r\n\r\n`,
    'headers that are too large': `GET / HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${apiKey.repeat(500)}\r\n\r\n`,
    'no Host': `GET /?${token} HTTP/1.1\r\nConnection: close\r\n\r\n`,
    'an unknown expectation': `GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: ${token}\r\n\r\n`,
  };
}

async function checkMetrics(stage: Stage): Promise<void> {
  for (const path of ['/metrics', '/']) {
    const { headers } = await exchange(stage.adminUrl, { method: 'GET', path });
    const isKept =
      headers.get('x-content-type-options') === 'nosniff' && headers.get('cache-control') === 'no-store';
    stage.tally.expect('headers', isKept, () => `the admin server's ${path} may be sniffed or stored`);
  }
}

/**
 * One payment from the click to the outcome of its webhook, so that everything that is written on the way is there to be
 * searched. @param outcome `failed` for a callback where nobody listens
 */
export async function payToTheEnd(
  stage: Stage,
  merchant: Merchant,
  outcome: 'delivered' | 'failed',
): Promise<CreatedPayment> {
  const { callback = '' } = stage.drawFields();
  const nobody = callback.replace(stage.receiver.host, stage.silentHost);
  const payment = await stage.create(merchant, {
    provider: 'moonpay',
    ...(outcome === 'failed' ? { callback: nobody } : {}),
  });
  const click = await stage.ask({ method: 'POST', path: `/pay/${payment.payment_id}/providers/moonpay` });
  // The customer goes to the on-ramp itself: what stands between is for the service's own calls.
  const { search } = new URL(click.headers.get('location') as string);
  await stage.world.pay({ order: `${stage.world.providerValues.moonpay['BASE_URL']}/widget${search}` });
  await waitFor(`the webhook to be ${outcome}`, 90_000, async () => {
    const { webhooks } = await stage.command<{ webhooks: readonly { status: string }[] }>('payment show', {
      payment: payment.payment_id,
    });
    return webhooks.some(({ status }) => status === outcome);
  });
  await stage.ask({ method: 'GET', path: `/pay/${payment.payment_id}` });
  return payment;
}

/** A provider that failed some times in a row, on a busy machine also by itself, is left alone for half a minute. */
const LONGEST_REST_MS = 60_000;

/** Provider and node refuse while they repeat everything they were told, credentials first. */
export async function letOthersQuote(stage: Stage): Promise<void> {
  // With a rate limit of its own: a refused create asks nobody.
  const merchant = await stage.addMerchant('Quoted shop');
  let amountCents = 5_000;
  const create = () => {
    // A quote for the same amount would be remembered.
    const amount = (++amountCents / 100).toFixed(2);
    const headers = { ...json, 'x-api-key': merchant.apiKey };
    const body = JSON.stringify({ ...stage.drawFields(), provider: 'moonpay', amount });
    return stage.ask({ method: 'POST', path: '/api/v1/wallet', headers, body });
  };
  for (const [name, server] of Object.entries({ provider: stage.provider, node: stage.node })) {
    for (const mood of quotingMoods) {
      const { payment_id: id } = await stage.create(merchant);
      const click = () => stage.ask({ method: 'POST', path: `/pay/${id}/providers/moonpay` });
      const before = server.quoted();
      server.setMood(mood);
      await create();
      await waitFor(`the ${name} to quote (${mood})`, LONGEST_REST_MS, async () => {
        await click();
        return server.quoted() > before;
      });
      server.setMood('helpful');
      await waitFor(
        `the ${name} to be asked again`,
        LONGEST_REST_MS,
        async () => (await click()).status === 303,
      );
    }
  }
}

/** The hash of a key is what the database knows of it. */
export function hashOf(apiKey: string): string {
  return createHash('sha256').update(apiKey).digest('hex');
}
