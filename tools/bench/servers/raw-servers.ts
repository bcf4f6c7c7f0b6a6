import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BenchServer } from './bench-server.ts';

/** Cheapest answer of Node's HTTP server: a constant text. */
export function startRawGet(): Promise<BenchServer> {
  const body = JSON.stringify({ ok: true });
  return listen((_request, response) => answer(response, body));
}

/** Starts a plain `node:http` server on a free port of the loopback interface. */
export async function listen(
  handle: RequestListener,
  databaseFile: string | null = null,
  closeStore: () => Promise<void> = async () => {},
): Promise<BenchServer> {
  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    databaseFile,
    apiKeys: [],
    async stop() {
      server.closeAllConnections();
      server.close();
      await closeStore();
    },
  };
}

/** The create parameters that the bench sends. */
export interface CreateBody {
  readonly address: string;
  readonly callback: string;
  readonly amount: string;
  readonly note?: string;
}

export function readJson(request: IncomingMessage, use: (body: CreateBody) => void): void {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => use(JSON.parse(Buffer.concat(chunks).toString()) as CreateBody));
}

export function answer(response: ServerResponse, body: string): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  response.end(body);
}

const constantAddress = '0x000000000000000000000000000000000000dEaD';

/** Answer with the API's fields at their usual lengths. */
export function answerLikeTheApi(body: CreateBody, paymentId: string) {
  return {
    payment_id: paymentId,
    ipn_token: `ipn_${'0'.repeat(6 + 32 + 43)}`,
    checkout_url: `https://checkout.example/pay/${paymentId}`,
    short_code: '00000000000000000000000',
    short_url: 'https://checkout.example/s/00000000000000000000000',
    callback_url: body.callback,
    address_in: constantAddress,
    polygon_address_in: constantAddress,
    payment_type: 'card',
    provider: 'multi',
    amount: body.amount,
    original_amount: null,
    customer_fee_amount: null,
    pass_fee_to_customer: false,
    fee_percent: 2.5,
    status: 'unpaid',
  };
}
