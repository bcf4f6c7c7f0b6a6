/**
 * Brings about every answer that the OpenAPI document describes, for every operation: the table of causes below must
 * have exactly the document's entries, so that neither can grow without the other.
 */

import { createHash } from 'node:crypto';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Account } from '../../src/accounts/account.ts';
import { createKey } from '../../src/accounts/api-keys.ts';
import type { Operation } from '../../src/api/openapi/operations.ts';
import { apiDescription } from '../../src/app/features.ts';
import { approveConnection } from '../../src/features/connect/connect-shop.ts';
import type { RefundStatus } from '../../src/features/refunds/refund.ts';
import { type ErrorName, errorTable, ServiceError } from '../../src/payment/errors.ts';
import { requireHttps } from '../../src/web/require-https.ts';
import { sorted } from '../docs/markdown.ts';
import { newUser } from '../store/people.ts';
import { type ApiService, createApiService, validRequest } from '../support/api-service.ts';
import { answerFault } from '../support/described-answers.ts';
import { CUSTOMER_ADDRESS, giveRefund, newRefund, payWithDeposit } from '../support/refunds.ts';

const UNKNOWN_ID = '01a1fbd7-b7b3-7002-be38-5df3e4ebf9f4';

const { operations } = apiDescription;

let service: ApiService;
/** Waits a moment only for what is slow to arrive. */
let impatient: ApiService;
/** Refuses plain HTTP, as live mode does to peers that are no proxy of its own. */
let httpsOnly: ApiService;

beforeAll(async () => {
  service = await createApiService();
  impatient = await createApiService({ limits: { headersTimeoutMs: 300, requestTimeoutMs: 600 } });
  httpsOnly = await createApiService({ prepare: (server) => requireHttps(server, () => false) });
  for (const each of [service, impatient, httpsOnly])
    await each.server.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(async () => {
  for (const each of [service, impatient, httpsOnly]) await each.close();
});

/** What a caller got, and what is asked of it. */
interface Seen {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

type Parameters = Readonly<Record<string, string>>;
type Cause = (operation: Operation) => Promise<Seen>;

function requestLine({ method, path }: Operation): string {
  return `${method.toUpperCase()} ${path} HTTP/1.1\r\n`;
}

/** Sends bytes and reads until the connection ends. */
async function sendRaw(target: ApiService, bytes: string): Promise<Seen> {
  const { port } = target.server.server.address() as AddressInfo;
  const text = await new Promise<string>((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let answer = '';
    socket.setEncoding('utf8').on('data', (chunk) => (answer += chunk));
    socket.on('close', () => resolve(answer)).on('error', reject);
    socket.write(bytes);
  });
  const [head = '', body = ''] = text.split('\r\n\r\n', 2);
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers = lines.map((line) => /^([^:]+):\s*(.*)$/.exec(line)?.slice(1) as [string, string]);
  return {
    status: Number(statusLine.split(' ')[1]),
    headers: Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value])),
    body,
  };
}

const idsInPath: Parameters = { payment_id: UNKNOWN_ID, refund_id: `rfd_${'f'.repeat(20)}` };

const requiredBodies: Readonly<Record<string, Parameters>> = {
  '/merchant/v1/refunds/{refund_id}/confirm': { destination: CUSTOMER_ADDRESS },
  '/merchant/v1/refunds/{refund_id}/transaction': { transaction: `0x${'5b'.repeat(32)}` },
};

/** An open payment of the service's account. */
async function giveOpenId(): Promise<Parameters> {
  return { payment_id: (await service.post(validRequest)).json().payment_id };
}

/** A refund of the service's account in this state. */
async function giveRefundId(status: RefundStatus): Promise<Parameters> {
  const { payment_id: id = '' } = await giveOpenId();
  const payment = { accountId: service.account.id, id };
  return { refund_id: (await giveRefund(service.store, newRefund(payment, { status }))).id };
}

/** A payment of the service's account that is paid. */
async function givePaidId(): Promise<Parameters> {
  const { payment_id: id = '' } = await giveOpenId();
  await payWithDeposit(service.store, { accountId: service.account.id, id }, 20_000_000n);
  return { payment_id: id };
}

let exchanges = 0;

/** Asks an operation in the way that is its own. */
async function ask(
  { method, path, needsKey }: Operation,
  parameters: Parameters,
  headers: Parameters = {},
): Promise<Seen> {
  const inPath = Object.keys(idsInPath).filter((name) => path.includes(`{${name}}`));
  const rest = {
    ...requiredBodies[path],
    ...Object.fromEntries(Object.entries(parameters).filter(([name]) => !inPath.includes(name))),
  };
  const url = inPath.reduce(
    (so, name) => so.replace(`{${name}}`, parameters[name] ?? idsInPath[name] ?? ''),
    path,
  );
  const hasQuery = method === 'get' && Object.keys(rest).length > 0;
  // An exchange counts against its address, so that each has its own, but for those that shall be too many.
  const isExchange = path.endsWith('/connect') && headers['x-api-key'] === undefined;
  const remoteAddress = isExchange ? `192.0.2.${++exchanges}` : '127.0.0.1';
  const response = await service.server.inject({
    remoteAddress,
    method: method === 'get' ? 'GET' : 'POST',
    url: url + (hasQuery ? `?${new URLSearchParams(rest).toString()}` : ''),
    headers: { ...(needsKey ? { 'x-api-key': service.apiKey } : {}), ...headers },
    ...(method === 'post' ? { payload: rest } : {}),
  });
  return { status: response.statusCode, headers: response.headers, body: response.body };
}

/** The parameters that a read cannot do without. */
function requiredOf({ path }: Operation): Parameters {
  if (path.endsWith('/direct-payments')) return validRequest;
  if (path.endsWith('/journal.csv')) return { month: '2026-11' };
  return path.startsWith('/merchant') ? {} : { payment_id: UNKNOWN_ID };
}

/** A create that fails in the way the world is made to fail; afterwards the world is as it was. */
function createIn(change: (world: ApiService['world']) => void, parameters: Parameters): Cause {
  return async (operation) => {
    const before = { ...service.world };
    change(service.world);
    try {
      return await ask(operation, { ...validRequest, ...parameters });
    } finally {
      Object.assign(service.world, before);
    }
  };
}

function noRate(): never {
  throw new ServiceError('conversion_failed');
}

const create = (parameters: Parameters) => createIn(() => {}, parameters);

const RETURN_URL = 'https://shop.example.com/connected';
const VERIFIER = 'v'.repeat(43);

/** What a shop sends for a code that a new user of an account approved. */
async function giveCode(account: Account): Promise<Parameters> {
  const user = newUser({});
  const { people } = service.store;
  await people.createUser(user);
  await people.putMembership({ userId: user.id, accountId: account.id, role: 'owner', createdAtMs: 0 });
  const back = await approveConnection(
    service.connect,
    {
      name: 'Shop',
      returnUrl: RETURN_URL,
      state: 'the state',
      codeChallenge: createHash('sha256').update(VERIFIER).digest('base64url'),
      scopes: ['create'],
    },
    { account, actor: { name: user.email, userId: user.id, address: null }, callbackHost: null },
  );
  const code = new URL(back).searchParams.get('code') as string;
  return { code, code_verifier: VERIFIER, return: RETURN_URL };
}

const keyContext = () => ({ accounts: service.store.accounts, nowMs: Date.now });

/** What brings an error about. */
const causes: Partial<Record<ErrorName, Cause>> = {
  async scope_missing(operation) {
    const { account } = await service.addAccount();
    const needed = operation.method === 'post' || operation.path.endsWith('/wallet') ? 'read' : 'create';
    const { plainKey } = await createKey(keyContext(), account.id, { name: 'one scope', scopes: [needed] });
    return ask(operation, {}, { 'x-api-key': plainKey });
  },
  async callback_host_refused(operation) {
    const { account } = await service.addAccount();
    const bound = { name: 'bound', callbackHost: 'another.example.com' };
    const { plainKey } = await createKey(keyContext(), account.id, bound);
    return ask(operation, validRequest, { 'x-api-key': plainKey });
  },
  connect_code_invalid: (operation) =>
    ask(operation, { code: 'unknown', code_verifier: VERIFIER, return: RETURN_URL }),
  async too_many_keys(operation) {
    const { account } = await service.addAccount();
    for (let index = 0; index < 9; index++) await createKey(keyContext(), account.id, { name: 'a key' });
    return ask(operation, await giveCode(account));
  },
  payment_state_conflict: async (operation) => ask(operation, await giveOpenId()),
  async refund_state_conflict(operation) {
    const isOfRefund = operation.path.includes('{refund_id}');
    return ask(operation, isOfRefund ? await giveRefundId('canceled') : await giveOpenId());
  },
  refund_not_found: (operation) => ask(operation, {}),
  cursor_expired: (operation) => ask(operation, { after: String(Date.now() + 60_000) }),
  invalid_request: ({ method, path }) =>
    sendRaw(service, `${method.toUpperCase()} ${path} HTTP/1.1\r\nConnection: close\r\n\r\n`),
  https_required: (operation) => sendRaw(httpsOnly, `${requestLine(operation)}Host: x\r\n\r\n`),
  request_timeout: (operation) => sendRaw(impatient, `${requestLine(operation)}Host: x\r\nX-Slow: `),
  headers_too_large: (operation) =>
    sendRaw(service, `${requestLine(operation)}Host: x\r\nX-Long: ${'a'.repeat(17_000)}\r\n\r\n`),
  unauthorized: (operation) => ask(operation, {}, { 'x-api-key': 'service_live_wrong' }),
  async rate_limited(operation) {
    const { apiKey } = await service.addAccount();
    const asAnother = () => ask(operation, {}, { 'x-api-key': apiKey });
    for (let index = 0; index < 120; index++) await asAnother();
    return asAnother();
  },
  async internal(operation) {
    const fail = () => Promise.reject(new Error('planted'));
    if (operation.path === '/api/v1/wallet') {
      return createIn((world) => Object.assign(world, { quote: fail }), { provider: 'wert' })(operation);
    }
    if (operation.path.endsWith('/connect')) {
      const { account } = await service.addAccount();
      const { createKey: original } = service.store.accounts;
      Object.assign(service.store.accounts, { createKey: fail });
      try {
        return await ask(operation, await giveCode(account));
      } finally {
        Object.assign(service.store.accounts, { createKey: original });
      }
    }
    const { payments, search, events, refunds } = service.store;
    const whole = [{ ...payments }, { ...search }, { ...events }, { ...refunds }];
    Object.assign(payments, { findPayment: fail, viewPayment: fail, createPayment: fail });
    Object.assign(search, { searchPayments: fail, listSlots: fail });
    Object.assign(events, { listEvents: fail });
    Object.assign(refunds, { findRefund: fail });
    try {
      return await ask(operation, requiredOf(operation));
    } finally {
      for (const [index, part] of [payments, search, events, refunds].entries())
        Object.assign(part, whole[index]);
    }
  },
  async feature_disabled(operation) {
    const { apiKey } = await service.addAccount({ suspended: true });
    return ask(operation, validRequest, { 'x-api-key': apiKey });
  },
  provider_unknown: create({ provider: 'stipe' }),
  currency_locked: create({ provider: 'klarna', currency: 'USD' }),
  async provider_inactive(operation) {
    await service.store.providers.writeProviderSettings('transak', { active: false });
    return create({ provider: 'transak' })(operation);
  },
  conversion_failed: createIn((world) => Object.assign(world, { rates: { usdRate: noRate } }), {
    currency: 'EUR',
  }),
  above_maximum: createIn(
    (world) =>
      world.limits.set('stripe', { minimumCents: 1, maximumCents: 50_00, isSold: true, readAtMs: 0 }),
    { provider: 'stripe', amount: '60.00' },
  ),
  below_minimum: create({ provider: 'moonpay', amount: '5.00' }),
  provider_unavailable: createIn(
    (world) =>
      Object.assign(world, { quote: () => Promise.reject(new ServiceError('provider_unavailable')) }),
    { provider: 'wert' },
  ),
  async idempotency_conflict(operation) {
    if (operation.id === 'createRefund') {
      const refund = { ...(await givePaidId()), destination: CUSTOMER_ADDRESS };
      await ask(operation, { ...refund, amount: '1' }, { 'idempotency-key': 'refund' });
      return ask(operation, { ...refund, amount: '2' }, { 'idempotency-key': 'refund' });
    }
    const key = { 'idempotency-key': `conflict-${operation.method}` };
    await ask(operation, validRequest, key);
    return ask(operation, { ...validRequest, amount: '2.00' }, key);
  },
  payload_too_large: (operation) => ask(operation, { ...validRequest, note: 'x'.repeat(20_000) }),
  payment_not_found: (operation) => ask(operation, { payment_id: 'nonsense' }),
};

/** What brings success about, and answers beside the error table. */
const otherCauses: Readonly<Record<string, Cause>> = {
  'POST /api/v1/wallet 200': create({}),
  'GET /api/v1/wallet 200': create({}),
  'GET /api/v1/payment-status 200': async (operation) => ask(operation, await giveOpenId()),
  'GET /merchant/v1/payments 200': (operation) => ask(operation, {}),
  'GET /merchant/v1/payments/{payment_id} 200': async (operation) =>
    ask(operation, { ...(await giveOpenId()), expand: 'deposits,webhooks' }),
  async 'POST /merchant/v1/payments/{payment_id}/cancel 200'(operation) {
    const payment = await giveOpenId();
    const { observations } = service.store;
    const { readCursor } = observations;
    Object.assign(observations, { readCursor: async () => ({ timestampMs: Date.now() }) });
    try {
      return await ask(operation, payment);
    } finally {
      Object.assign(observations, { readCursor });
    }
  },
  'POST /merchant/v1/payments/{payment_id}/refunds 200': async (operation) =>
    ask(operation, await givePaidId()),
  'GET /merchant/v1/payments/{payment_id}/refunds 200': async (operation) =>
    ask(operation, await givePaidId()),
  'GET /merchant/v1/refunds/{refund_id} 200': async (operation) =>
    ask(operation, await giveRefundId('awaiting_transfer')),
  async 'POST /merchant/v1/refunds/{refund_id}/confirm 200'(operation) {
    await givePaidId();
    return ask(operation, await giveRefundId('awaiting_confirmation'));
  },
  'POST /merchant/v1/refunds/{refund_id}/transaction 200': async (operation) =>
    ask(operation, await giveRefundId('awaiting_transfer')),
  'POST /merchant/v1/refunds/{refund_id}/cancel 200': async (operation) =>
    ask(operation, await giveRefundId('awaiting_transfer')),
  'GET /merchant/v1/events 200': (operation) => ask(operation, {}),
  'GET /merchant/v1/days 200': (operation) => ask(operation, {}),
  'GET /merchant/v1/journal.csv 200': (operation) => ask(operation, { month: '2026-11' }),
  'POST /merchant/v1/direct-payments 200': (operation) => ask(operation, validRequest),
  async 'POST /merchant/v1/connect 200'(operation) {
    const { account } = await service.addAccount();
    return ask(operation, await giveCode(account));
  },
  'GET /.well-known/card-checkout.json 200': (operation) => ask(operation, {}),
  'GET /health/live 200': (operation) => ask(operation, {}),
  'GET /health/ready 200': (operation) => ask(operation, {}),
  async 'GET /health/ready 503'({ path }) {
    const leaving = await createApiService({ isLeaving: () => true });
    const response = await leaving.server.inject({ method: 'GET', url: path });
    await leaving.close();
    return { status: response.statusCode, headers: response.headers, body: response.body };
  },
};

const nameOf = ({ method, path }: Operation) => `${method.toUpperCase()} ${path}`;
const errorCases = operations.flatMap((operation) =>
  operation.errors.map((error) => ({ name: `${nameOf(operation)} ${error}`, operation, error })),
);
const otherCases = operations.flatMap((operation) =>
  ['200', ...Object.keys(operation.others ?? {})].map((status) => ({
    name: `${nameOf(operation)} ${status}`,
    operation,
    status: Number(status),
  })),
);

it('has a cause for each error of each operation, and for every other answer, and no cause too many', () => {
  expect(sorted(Object.keys(otherCauses))).toEqual(sorted(otherCases.map(({ name }) => name)));
  const described = new Set(errorCases.map(({ error }) => error));
  expect(sorted(Object.keys(causes))).toEqual(sorted([...described]));
  expect(errorCases.length + otherCases.length).toBeGreaterThan(50);
});

it.each(errorCases)('answers $name as the document says', async ({ operation, error }) => {
  const seen = await (causes[error] as Cause)(operation);
  expect(seen.status).toBe(errorTable[error].status);
  expect((JSON.parse(seen.body) as { code?: string }).code ?? null).toBe(errorTable[error].code);
  expect(answerFault({ ...seen, method: operation.method.toUpperCase(), path: operation.path })).toBeNull();
});

it.each(otherCases)('answers $name as the document says', async ({ name, operation, status }) => {
  const seen = await (otherCauses[name] as Cause)(operation);
  expect(seen.status).toBe(status);
  expect(answerFault({ ...seen, method: operation.method.toUpperCase(), path: operation.path })).toBeNull();
});
