import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { RequestContext } from '../support/recording-tls-server.ts';

/** What the server of "bomb" sends: 32 MiB in a few KiB. */
export const BOMB = gzipSync(Buffer.alloc(32 * 1024 * 1024));

/** The facts a row of the case list states about its server. */
export interface ServerFacts {
  readonly dns_sequence?: readonly string[];
  readonly dns_per_lookup?: readonly string[];
  readonly dns_delay_ms?: number;
  readonly status?: number;
  readonly location?: string;
  readonly connect?: 'blackhole';
  readonly tls?: 'stall' | 'expired' | 'self-signed' | 'wrong-host' | '1.0';
  readonly headers_delay_ms?: number;
  readonly drip?: boolean;
  readonly body?: 'endless';
  readonly encoding?: 'gzip';
  readonly headers_bytes?: number;
  readonly alpn?: readonly string[];
  readonly reset?: 'after_body';
  readonly env?: 'HTTPS_PROXY';
}

/** Answers as the row says. */
export async function behave(context: RequestContext, facts: ServerFacts): Promise<void> {
  const { socket, tcp, signal } = context;
  if (facts.reset === 'after_body') return void tcp.resetAndDestroy();
  if (facts.status === 100) {
    return void socket.end('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n');
  }
  if (facts.drip === true) return drip(context, `HTTP/1.1 200 OK\r\n${'X-Drip: 1\r\n'.repeat(100)}\r\n`);
  if (facts.headers_delay_ms !== undefined)
    await delay(facts.headers_delay_ms, null, { signal }).catch(() => {});
  const status = `HTTP/1.1 ${facts.status ?? 200} Status`;
  if (facts.body === 'endless') return pump(context, `${status}\r\n\r\n`);
  if (facts.encoding === 'gzip') {
    socket.write(`${status}\r\nContent-Encoding: gzip\r\nContent-Length: ${BOMB.length}\r\n\r\n`);
    return void socket.end(BOMB);
  }
  const location = facts.location === undefined ? '' : `Location: ${facts.location}\r\n`;
  const large = 'X-Large: 1234567890\r\n'.repeat(Math.ceil((facts.headers_bytes ?? 0) / 21));
  socket.write(`${status}\r\n${location}${large}Content-Length: 0\r\n\r\n`);
}

/** One byte a second. */
export async function drip({ socket, signal }: RequestContext, text: string): Promise<void> {
  for (const byte of text) {
    if (signal.aborted) return;
    socket.write(byte);
    await delay(1_000, null, { signal }).catch(() => {});
  }
}

/** Writes until the other side is gone. */
export async function pump({ socket, signal }: RequestContext, head: string): Promise<void> {
  socket.write(head);
  const chunk = Buffer.alloc(16 * 1024, 'x');
  while (!signal.aborted) {
    if (!socket.write(chunk)) {
      await new Promise<void>((resolve) => {
        socket.once('drain', resolve);
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
    }
  }
}
