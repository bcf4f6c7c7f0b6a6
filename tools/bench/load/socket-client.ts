/**
 * A small load generator for machines without wrk: `node tools/bench/load/socket-client.ts OPTIONS` with the JSON of
 * `LoadOptions`. It writes prepared requests to plain sockets and reads no more of an answer than it must, because
 * the server is what is measured.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { FRESH_DIGITS } from './requests.ts';
import type { LoadOptions, LoadResult } from './run-load.ts';

const options = JSON.parse(process.argv[2] ?? '') as LoadOptions;
const requests = readRequests(options.requestsFile);
const latenciesMs: number[] = [];
let failures = 0;
let position = 0;

const startMs = performance.now();
const endMs = startMs + options.seconds * 1000;
await Promise.all(Array.from({ length: options.connections }, sendUntilEnd));
const durationMicroseconds = Math.round((performance.now() - startMs) * 1000);
latenciesMs.sort((left, right) => left - right);
const result: LoadResult = {
  requests: latenciesMs.length,
  durationMicroseconds,
  p50Microseconds: percentile(50),
  p99Microseconds: percentile(99),
  failures,
};
console.log(`RESULT ${JSON.stringify(result)}`);

/** One connection: a request, its answer, the next request. */
function sendUntilEnd(): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ port: options.port, host: '127.0.0.1', noDelay: true });
    let sentAtMs = 0;
    let received = '';
    const send = () => {
      sentAtMs = performance.now();
      received = '';
      socket.write(nextRequest());
    };
    socket.setEncoding('latin1');
    socket.on('connect', send);
    socket.on('data', (text: string) => {
      received += text;
      if (!isWhole(received)) return;
      if (received.startsWith('HTTP/1.1 2')) latenciesMs.push(performance.now() - sentAtMs);
      else failures++;
      if (performance.now() < endMs) send();
      else socket.end();
    });
    socket.on('error', () => {
      failures++;
    });
    socket.on('close', () => {
      // The server closed the connection during the run.
      if (performance.now() < endMs) failures++;
      resolve();
    });
  });
}

function isWhole(received: string): boolean {
  const headEnd = received.indexOf('\r\n\r\n');
  if (headEnd === -1) return false;
  const length = /\r\ncontent-length: (\d+)/i.exec(received)?.[1];
  if (length !== undefined) return received.length >= headEnd + 4 + Number(length);
  return received.endsWith('\r\n0\r\n\r\n');
}

function nextRequest(): string {
  const request = requests[position++ % requests.length] as string;
  return request.replace(FRESH_DIGITS, () => randomBytes(20).toString('hex'));
}

function readRequests(file: string): string[] {
  return readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => {
      const [method, path, apiKey, idempotencyKey, body = ''] = line.split('\t');
      const headers = [
        `Host: 127.0.0.1:${options.port}`,
        `Authorization: Bearer ${apiKey}`,
        ...(idempotencyKey === '' ? [] : [`Idempotency-Key: ${idempotencyKey}`]),
        ...(body === ''
          ? []
          : ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`]),
      ];
      return `${method} ${path} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n${body}`;
    });
}

function percentile(percent: number): number {
  const index = Math.min(latenciesMs.length - 1, Math.floor((latenciesMs.length * percent) / 100));
  return Math.round((latenciesMs[index] ?? 0) * 1000);
}
