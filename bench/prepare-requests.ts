import { join } from 'node:path';
import { createRequests, getRequests, type LoadRequest, writeRequests } from './load/requests.ts';
import type { RequestKind } from './scenarios.ts';
import type { ServerProcess } from './server-process.ts';

/** The file of each kind of requests. */
export type RequestFiles = Readonly<Record<RequestKind, string>>;

interface CreatedPayment {
  readonly payment_id: string;
  readonly ipn_token: string;
}

/**
 * Writes the files of requests. Each payment that is read later is created here, and each kind of request is tried
 * once: a load generator only sees statuses, not whether an answer is what it should be.
 */
export async function prepareRequests(service: ServerProcess, folder: string): Promise<RequestFiles> {
  const creates = createRequests(service.apiKeys, false);
  const payments: CreatedPayment[] = [];
  for (const request of creates) {
    payments.push((await fetchJson(service, request)) as CreatedPayment);
  }
  const reads = (pathOf: (payment: CreatedPayment) => string) =>
    getRequests(payments.map(pathOf), service.apiKeys);
  const requests: Record<RequestKind, LoadRequest[]> = {
    create: creates,
    'create-fresh': createRequests(service.apiKeys, true),
    'status-by-id': reads((payment) => `/api/v1/payment-status?payment_id=${payment.payment_id}`),
    'status-by-token': reads((payment) => `/api/v1/payment-status?ipn_token=${payment.ipn_token}`),
    'checkout-page': reads((payment) => `/pay/${payment.payment_id}`),
  };
  await requirePayment(service, requests['status-by-id'][0], payments[0]);
  await requirePayment(service, requests['status-by-token'][0], payments[0]);
  await requirePage(service, requests['checkout-page'][0]);
  return writeAll(requests, folder, service.name);
}

function writeAll(
  requests: Record<RequestKind, LoadRequest[]>,
  folder: string,
  service: string,
): RequestFiles {
  const entries = Object.entries(requests).map(([kind, list]) => {
    const file = join(folder, `${service}-${kind}.requests`);
    writeRequests(file, list);
    return [kind, file];
  });
  return Object.fromEntries(entries) as RequestFiles;
}

async function send(server: ServerProcess, request: LoadRequest): Promise<Response> {
  const { method, path, apiKey, body } = request;
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${apiKey}`,
      ...(body === '' ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === '' ? {} : { body }),
  });
  if (response.status === 200) return response;
  throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
}

async function fetchJson(server: ServerProcess, request: LoadRequest): Promise<unknown> {
  return (await send(server, request)).json();
}

async function requirePayment(
  server: ServerProcess,
  request: LoadRequest | undefined,
  payment: CreatedPayment | undefined,
): Promise<void> {
  if (request === undefined || payment === undefined) throw new Error('there is nothing to read');
  const status = (await fetchJson(server, request)) as { payment_id?: string; status?: string };
  if (status.payment_id === payment.payment_id && status.status === 'unpaid') return;
  throw new Error(`${request.path} answered with another payment`);
}

async function requirePage(server: ServerProcess, request: LoadRequest | undefined): Promise<void> {
  if (request === undefined) throw new Error('there is no page to read');
  const page = await (await send(server, request)).text();
  if (!page.includes('</html>')) throw new Error(`${request.path} answered no page`);
}
