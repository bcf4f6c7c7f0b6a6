import { setTimeout as delay } from 'node:timers/promises';
import { type GradeContext, gradeReceiver, ORDERS_NEEDED } from './grade-receiver.ts';
import type { Grade, GradeOptions } from './present-grade.ts';
import { type StandInService, startStandInService } from './stand-in-service.ts';

const ORDER_TIMEOUT_MS = 10_000;
const MAXIMUM_ANSWER_CHARACTERS = 65_536;
const WAIT_FOR_ORDERS_MS = 600_000;
const DEFAULT_TIME_LIMIT_MS = 10_000;
const DEFAULT_PATIENCE_MS = 3_000;

/** How it is run, beside what is typed. */
export interface RunGradeOptions {
  readonly timeLimitMs?: number;
  readonly patienceMs?: number;
  /** Tells a person what to do. */
  readonly tell: (line: string) => void;
}

/**
 * Grades a receiver from this process: it sends only to the addresses that were typed on the command line, and nobody
 * can ask a running server to do it.
 *
 * @throws Error when an address is malformed, or the shop creates no checkouts at the stand-in service
 */
export async function runGrade(options: GradeOptions & RunGradeOptions): Promise<Grade> {
  const endpoint = readUrl(options.url, 'the endpoint');
  const probeUrl = options.probeUrl;
  if (probeUrl !== undefined && !probeUrl.includes('{payment_id}')) {
    throw new Error('--probe-url must contain {payment_id}');
  }
  const service = await startStandInService(readPort(options.port));
  try {
    options.tell(
      `The shop must use ${service.baseUrl} as its service, with any key that begins with service_live_.`,
    );
    await collectOrders(service, options);
    const context: GradeContext = {
      endpoint,
      service,
      readFulfilments: probeUrl === undefined ? null : (paymentId) => readFulfilments(probeUrl, paymentId),
      timeLimitMs: options.timeLimitMs ?? DEFAULT_TIME_LIMIT_MS,
      patienceMs: options.patienceMs ?? DEFAULT_PATIENCE_MS,
      nowMs: Date.now,
    };
    const findings = await gradeReceiver(context);
    return { met: findings.filter(({ mark }) => mark === 'met').length, findings };
  } finally {
    await service.stop();
  }
}

async function collectOrders(
  service: StandInService,
  { orderUrl, tell }: GradeOptions & RunGradeOptions,
): Promise<void> {
  if (orderUrl === undefined) {
    tell(`Now create ${ORDERS_NEEDED} checkouts in the shop.`);
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
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ amount: '25.00' }),
      redirect: 'manual',
      signal: AbortSignal.timeout(ORDER_TIMEOUT_MS),
    });
    await response.body?.cancel();
    if (service.orders.length !== count) {
      throw new Error(
        `${url} answered ${response.status}, and no checkout was created at ${service.baseUrl}: is the shop configured to use it?`,
      );
    }
  }
}

async function readFulfilments(probeUrl: string, paymentId: string): Promise<number> {
  const url = readUrl(probeUrl.replaceAll('{payment_id}', paymentId), '--probe-url');
  const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(ORDER_TIMEOUT_MS) });
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
