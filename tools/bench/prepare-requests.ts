import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import {
  createRequests,
  FRESH_DIGITS,
  getRequests,
  type LoadRequest,
  writeRequests,
} from './load/requests.ts';
import type { RequestKind } from './scenarios.ts';
import type { ServerProcess } from './server-process.ts';
import { KEYS_PER_ACCOUNT } from './servers/bench-server.ts';

/** File of each kind of request. */
export type RequestFiles = Readonly<Record<RequestKind, string>>;

export interface CreatedPayment {
  readonly payment_id: string;
  readonly ipn_token: string;
}

/**
 * Writes the files of requests. Each payment that is read later is created here, and each kind of request is tried
 * once: a load generator only sees statuses, not whether an answer is what it should be.
 */
export async function prepareRequests(service: ServerProcess, folder: string): Promise<RequestFiles> {
  const creates = createRequests(service.apiKeys);
  const payments: CreatedPayment[] = [];
  for (const request of creates) payments.push((await send(service, request)) as CreatedPayment);
  const reads = (parameterOf: (payment: CreatedPayment) => string) =>
    getRequests(
      payments.map((payment) => `/api/v1/payment-status?${parameterOf(payment)}`),
      service.apiKeys,
    );
  const requests: Record<RequestKind, LoadRequest[]> = {
    create: creates,
    'create-one-account': createRequests(service.apiKeys.slice(0, KEYS_PER_ACCOUNT)),
    'status-by-id': reads((payment) => `payment_id=${payment.payment_id}`),
    'status-by-token': reads((payment) => `ipn_token=${payment.ipn_token}`),
  };
  await requirePayment(service, requests['status-by-id'][0], payments[0]);
  await requirePayment(service, requests['status-by-token'][0], payments[0]);
  const entries = Object.entries(requests).map(([kind, list]) => {
    const file = join(folder, `${service.name}-${kind}.requests`);
    writeRequests(file, list);
    return [kind, file];
  });
  return Object.fromEntries(entries) as RequestFiles;
}

/** Sends a request once, and returns the JSON of its answer. */
export async function send(server: ServerProcess, request: LoadRequest): Promise<unknown> {
  const { method, path, apiKey, idempotencyKey, body } = request;
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${apiKey}`,
      ...(body === '' ? {} : { 'content-type': 'application/json' }),
      ...(idempotencyKey === ''
        ? {}
        : { 'idempotency-key': idempotencyKey.replace(FRESH_DIGITS, randomBytes(20).toString('hex')) }),
    },
    ...(body === '' ? {} : { body }),
  });
  if (response.status === 200) return response.json();
  throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
}

async function requirePayment(
  server: ServerProcess,
  request: LoadRequest | undefined,
  payment: CreatedPayment | undefined,
): Promise<void> {
  if (request === undefined || payment === undefined) throw new Error('there is nothing to read');
  const status = (await send(server, request)) as { payment_id?: string; status?: string };
  if (status.payment_id === payment.payment_id && status.status === 'unpaid') return;
  throw new Error(`${request.path} answered with another payment`);
}
