import { setTimeout as delay } from 'node:timers/promises';
import { type EndToEndService, startEndToEndService } from '../../support/e2e-service.ts';
import { type Address, drip, isError, openRaw, type RawConnection, untilClosed } from './connections.ts';

/** How bad the callers are. */
export interface Callers {
  /** Connections on which nothing is ever said. */
  readonly idle: number;
  /** Connections on which headers or a body drip in. */
  readonly dripping: number;
  /** Of each kind of oversized request. */
  readonly oversized: number;
  /** Requests of a healthy caller beside them. */
  readonly healthy: number;
  /** Whether to wait until the server closes idle connections. */
  readonly isWatchedToTheEnd: boolean;
}

export interface CallerFindings {
  readonly idleOpened: number;
  /** Idle connections that were not closed in time, or got something else than 408. */
  readonly idleWrong: number;
  readonly drippingWrong: number;
  readonly oversizedCases: number;
  readonly oversizedWrong: readonly string[];
  /** Of a healthy create while all of that goes on, ms. */
  readonly latenciesMs: readonly number[];
  readonly healthyFailed: number;
}

/** The server's own limits, and the second between its looks at the clock, and a machine that does other things. */
const HEADERS_MS = 10_000;
const REQUEST_MS = 15_000;
const GRACE_MS = 10_000;
const none = { idleWrong: 0, drippingWrong: 0 };
const OPENED_AT_A_TIME = 200;
const DRIP_MS = 300;

/** Lets bad callers do what they can to a real server process, and a healthy one create payments meanwhile. */
export async function watchCallers(callers: Callers): Promise<CallerFindings> {
  const service = await startEndToEndService({ RATE_LIMIT_CREATE_PER_MINUTE: '100000' });
  const address = { host: '127.0.0.1', port: Number(service.environment['PORT']) };
  const idle: RawConnection[] = [];
  try {
    while (idle.length < callers.idle) {
      const count = Math.min(OPENED_AT_A_TIME, callers.idle - idle.length);
      idle.push(...(await Promise.all(Array.from({ length: count }, () => openRaw(address)))));
    }
    const [latencies, drippingWrong, oversized] = await Promise.all([
      createBeside(service, callers.healthy),
      dripBeside(address, service.process().demoKey(), callers.dripping),
      sendOversized(address, service.process().demoKey(), callers.oversized),
    ]);
    if (!callers.isWatchedToTheEnd) return { ...none, idleOpened: idle.length, ...oversized, ...latencies };
    await Promise.all(idle.map((connection) => untilClosed(connection, HEADERS_MS + GRACE_MS)));
    const idleWrong = idle.filter(({ answer }) => !isError(answer(), 408) || answer().closedAfterMs === null);
    return {
      idleOpened: idle.length,
      idleWrong: idleWrong.length,
      drippingWrong,
      ...oversized,
      ...latencies,
    };
  } finally {
    for (const { socket } of idle) socket.destroy();
    await service.stop();
  }
}

async function createBeside(service: EndToEndService, healthy: number) {
  const latenciesMs: number[] = [];
  let healthyFailed = 0;
  for (let done = 0; done < healthy; done++) {
    const startMs = performance.now();
    await service.create().catch(() => healthyFailed++);
    latenciesMs.push(performance.now() - startMs);
    await delay(20);
  }
  return { latenciesMs, healthyFailed };
}

/** Half of them drip headers, half a body. Returns how many were answered otherwise than by 408, or not in time. */
async function dripBeside(address: Address, apiKey: string, count: number): Promise<number> {
  const head = `POST /api/v1/wallet HTTP/1.1\r\nHost: x\r\nX-API-Key: ${apiKey}\r\n`;
  const outcomes = await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const isBody = index % 2 === 1;
      const connection = await openRaw(address);
      if (isBody)
        connection.socket.write(`${head}Content-Type: application/json\r\nContent-Length: 10000\r\n\r\n`);
      const boundMs = (isBody ? REQUEST_MS : HEADERS_MS) + GRACE_MS;
      await Promise.race([
        drip(connection, isBody ? ' '.repeat(1_000) : `${head}X-Slow: ${'x'.repeat(1_000)}`, DRIP_MS),
        untilClosed(connection, boundMs),
      ]);
      const isRight = isError(connection.answer(), 408) && connection.answer().closedAfterMs !== null;
      connection.socket.destroy();
      return isRight;
    }),
  );
  return outcomes.filter((isRight) => !isRight).length;
}

/** What is too large in some way, and the status it must get. */
function oversizedRequests(apiKey: string): readonly { what: string; status: number; text: string }[] {
  const key = `Host: x\r\nX-API-Key: ${apiKey}\r\n`;
  const post = `POST /api/v1/wallet HTTP/1.1\r\n${key}Content-Type: application/json\r\n`;
  const chunk = `4000\r\n${' '.repeat(0x4000)}\r\n`;
  return [
    {
      what: 'one long header',
      status: 431,
      text: `GET / HTTP/1.1\r\n${key}X-Long: ${'x'.repeat(20_000)}\r\n\r\n`,
    },
    {
      what: 'a million headers',
      status: 431,
      text: `GET / HTTP/1.1\r\n${key}${'A: b\r\n'.repeat(1_000_000)}\r\n`,
    },
    {
      what: 'headers without end',
      status: 431,
      text: `GET / HTTP/1.1\r\n${key}X-Long: ${'x'.repeat(4_000_000)}`,
    },
    { what: 'a long URL', status: 431, text: `GET /${'a'.repeat(20_000)} HTTP/1.1\r\n${key}\r\n` },
    {
      what: 'a URL just below',
      status: 404,
      text: `GET /${'a'.repeat(15_000)} HTTP/1.1\r\n${key}Connection: close\r\n\r\n`,
    },
    { what: 'a long body', status: 413, text: `${post}Content-Length: 20000\r\n\r\n${' '.repeat(20_000)}` },
    { what: 'a body of gigabytes', status: 413, text: `${post}Content-Length: 9999999999\r\n\r\n{` },
    {
      what: 'chunks without end',
      status: 413,
      text: `${post}Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(100)}`,
    },
    {
      what: 'an endless chunk extension',
      status: 413,
      text: `${post}Transfer-Encoding: chunked\r\n\r\n1;${'x'.repeat(1_000_000)}`,
    },
    {
      what: 'endless trailers',
      status: 431,
      text: `${post}Transfer-Encoding: chunked\r\n\r\n0\r\n${'A: b\r\n'.repeat(100_000)}`,
    },
  ];
}

async function sendOversized(address: Address, apiKey: string, times: number) {
  const wrong: string[] = [];
  const requests = oversizedRequests(apiKey);
  for (let round = 0; round < times; round++) {
    for (const { what, status, text } of requests) {
      const connection = await openRaw(address);
      connection.socket.write(text);
      await untilClosed(connection, REQUEST_MS + GRACE_MS);
      const answer = connection.answer();
      if (!isError(answer, status) || answer.closedAfterMs === null) {
        wrong.push(
          `${what}: ${answer.status} ${answer.body.slice(0, 100)}, closed after ${answer.closedAfterMs} ms`,
        );
      }
      connection.socket.destroy();
    }
  }
  return { oversizedCases: requests.length * times, oversizedWrong: wrong };
}
