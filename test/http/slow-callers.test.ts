import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { expect, it } from 'vitest';
import { createApiService, validRequest } from '../support/api-service.ts';

const IDLE = 2_000;
const SLOW = 100;
const OPENED_AT_A_TIME = 200;
const CREATES = 50;
const SLOWEST_CREATE_MS = 2_000;
/** The server's own limit for headers and for a whole request, and ten seconds that a busy machine may be late. */
const CLOSED_AFTER_MS = { headers: 20_000, body: 25_000 };
const TOO_LATE = '{"error":"The complete request did not arrive in time."}';

async function openCaller(port: number, opening: string | undefined) {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  await once(socket, 'connect');
  const openedMs = performance.now();
  if (opening !== undefined) socket.write(opening);
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk) => (text += chunk));
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve())).then(() => {
    const boundMs = CLOSED_AFTER_MS[opening?.endsWith('\r\n\r\n') ? 'body' : 'headers'];
    const isAnswered = text.startsWith('HTTP/1.1 408 ') && text.endsWith(TOO_LATE);
    return isAnswered && performance.now() - openedMs < boundMs;
  });
  return { socket, closed };
}

it('answers creates in time beside idle and slow connections, and closes these in time with 408', async () => {
  const service = await createApiService({ requestsPerMinute: 1_000_000 });
  await service.server.listen({ host: '127.0.0.1', port: 0 });
  const { port } = service.server.server.address() as AddressInfo;
  const head = 'POST /api/v1/wallet HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
  const slow = [`${head}X-Slow: `, `${head}X-API-Key: ${service.apiKey}\r\nContent-Length: 10000\r\n\r\n`];
  const callers: Awaited<ReturnType<typeof openCaller>>[] = [];
  const dripping = setInterval(() => {
    for (const { socket } of callers.slice(IDLE)) if (socket.writable) socket.write(' ');
  }, 300);
  try {
    while (callers.length < IDLE + SLOW) {
      const first = callers.length;
      const next = Array.from({ length: Math.min(OPENED_AT_A_TIME, IDLE + SLOW - first) }, (_, index) =>
        openCaller(port, first + index < IDLE ? undefined : slow[index % slow.length]),
      );
      callers.push(...(await Promise.all(next)));
    }
    for (let done = 0; done < CREATES; done++) {
      const startedMs = performance.now();
      const headers = { 'content-type': 'application/json', 'x-api-key': service.apiKey };
      const init = { method: 'POST', headers, body: JSON.stringify(validRequest) };
      const created = await fetch(`http://127.0.0.1:${port}/api/v1/wallet`, init);
      expect(await created.json()).toHaveProperty('payment_id');
      expect(performance.now() - startedMs).toBeLessThan(SLOWEST_CREATE_MS);
    }
    expect(callers.filter(({ socket }) => socket.closed)).toEqual([]);
    const inTime = await Promise.all(callers.map(({ closed }) => closed));
    expect(inTime.filter((isInTime) => !isInTime)).toEqual([]);
  } finally {
    clearInterval(dripping);
    for (const { socket } of callers) socket.destroy();
    await service.close();
  }
}, 60_000);
