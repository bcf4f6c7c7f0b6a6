import { setTimeout as delay } from 'node:timers/promises';
import { isPaymentId } from '../../payment/payment-id.ts';
import type { Grade, GradeOptions } from './grade-command.ts';
import {
  type GradeContext,
  gradeEvents,
  gradeReceiver,
  gradeWithPayment,
  ORDERS_NEEDED,
} from './grade-receiver.ts';
import {
  type EventFields,
  type GradedOrder,
  type StandInService,
  startStandInService,
} from './stand-in-service.ts';

const ORDER_TIMEOUT_MS = 10_000;
const MAXIMUM_ANSWER_CHARACTERS = 65_536;
const WAIT_FOR_ORDERS_MS = 600_000;
const DEFAULT_TIME_LIMIT_MS = 10_000;
const DEFAULT_PATIENCE_MS = 3_000;
const DEFAULT_EVENT_PATIENCE_MS = 15_000;

export interface RunGradeOptions {
  readonly timeLimitMs?: number;
  readonly patienceMs?: number;
  readonly eventPatienceMs?: number;
  readonly eventFields: EventFields;
  readonly log: (line: string) => void;
}

/** Grades a webhook receiver. Throws if a URL is malformed or the shop creates too few checkouts. */
export async function runGrade(options: GradeOptions & RunGradeOptions): Promise<Grade> {
  const endpoint = readUrl(options.url, 'the endpoint');
  const probeUrl = options.probeUrl;
  if (probeUrl !== undefined && !probeUrl.includes('{payment_id}')) {
    throw new Error('--probe-url must contain {payment_id}');
  }
  if (options.payment !== undefined || options.ipnToken !== undefined) {
    return gradeOf(await gradeWithPayment(contextOf(options, endpoint), ownPayment(options)), null);
  }
  const service = await startStandInService(readPort(options.port), options.eventFields);
  try {
    options.log(
      `The shop must use ${service.baseUrl} as its service, with any key that begins with service_live_.`,
    );
    await collectOrders(service, options);
    const context = { ...contextOf(options, endpoint), service };
    const findings = await gradeReceiver(context);
    options.log(`Waiting up to ${context.eventPatienceMs / 1000} s for the shop to read the event log.`);
    return gradeOf(findings, await gradeEvents(context));
  } finally {
    await service.stop();
  }
}

const gradeOf = (findings: Grade['findings'], events: Grade['events']): Grade => ({
  met: findings.filter(({ mark }) => mark === 'met').length,
  findings,
  events,
});

function contextOf(options: GradeOptions & RunGradeOptions, endpoint: URL): Omit<GradeContext, 'service'> {
  const { probeUrl } = options;
  return {
    endpoint,
    readFulfilments: probeUrl === undefined ? null : (paymentId) => readFulfilments(probeUrl, paymentId),
    timeLimitMs: options.timeLimitMs ?? DEFAULT_TIME_LIMIT_MS,
    patienceMs: options.patienceMs ?? DEFAULT_PATIENCE_MS,
    eventPatienceMs: options.eventPatienceMs ?? DEFAULT_EVENT_PATIENCE_MS,
  };
}

/** Returns the order of `--payment` and `--ipn-token`. It stays unpaid; the shop's own service reports its status. */
function ownPayment({ payment, ipnToken, amount = '25.00', orderUrl }: GradeOptions): GradedOrder {
  if (payment === undefined || !isPaymentId(payment)) throw new Error('--payment must be a payment id');
  if (ipnToken === undefined || ipnToken === '') throw new Error('--payment needs --ipn-token');
  if (orderUrl !== undefined) throw new Error('--payment and --order-url exclude each other');
  return { paymentId: payment, ipnToken, amount, currency: 'USD', status: 'unpaid', statusReads: 0 };
}

async function collectOrders(service: StandInService, options: GradeOptions & RunGradeOptions) {
  const { orderUrl, log } = options;
  if (orderUrl === undefined) {
    log(`Now create ${ORDERS_NEEDED} checkouts in the shop.`);
    const deadlineMs = performance.now() + WAIT_FOR_ORDERS_MS;
    while (service.orders.length < ORDERS_NEEDED) {
      if (performance.now() > deadlineMs)
        throw new Error('the shop created too few checkouts in ten minutes');
      await delay(200);
    }
    return;
  }
  const url = readUrl(orderUrl, '--order-url');
  for (let count = 1; count <= ORDERS_NEEDED; count++) {
    const response = await askShop(url, '--order-url', { amount: '25.00' });
    await response.body?.cancel();
    if (service.orders.length !== count) {
      throw new Error(
        `${url} answered ${response.status}, and no checkout was created at ${service.baseUrl}: is the shop configured to use it?`,
      );
    }
  }
}

/** Posts `body` as JSON, or sends a GET. Opens a new connection, because the shop may be closing idle connections. */
async function askShop(url: URL, option: string, body?: object): Promise<Response> {
  const headers = { 'content-type': 'application/json', connection: 'close' };
  const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
  const signal = AbortSignal.timeout(ORDER_TIMEOUT_MS);
  return fetch(url, { ...sent, headers, redirect: 'manual', signal }).catch((error: Error) => {
    const reason = error.cause instanceof Error ? error.cause.message : error.message;
    throw new Error(`${option}: ${url} did not answer (${reason}): is the shop running?`, { cause: error });
  });
}

async function readFulfilments(probeUrl: string, paymentId: string): Promise<number> {
  const url = readUrl(probeUrl.replaceAll('{payment_id}', paymentId), '--probe-url');
  const response = await askShop(url, '--probe-url');
  const text = (await response.text()).slice(0, MAXIMUM_ANSWER_CHARACTERS);
  const { fulfilments } = (response.status === 200 ? JSON.parse(text) : {}) as { fulfilments?: unknown };
  if (typeof fulfilments !== 'number') {
    throw new Error(
      `${url} must answer 200 with {"fulfilments": 0} or another number; it answered ${response.status}`,
    );
  }
  return fulfilments;
}

function readUrl(text: string, what: string): URL {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new Error(`${what} must be an http or https address`);
  }
  return url;
}

function readPort(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new Error('--port must be a port number');
  return port;
}
