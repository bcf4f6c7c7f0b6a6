import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** Where a server listens. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** What came back on one connection. */
export interface RawAnswer {
  readonly status: number | null;
  readonly body: string;
  /** From the opening until it was closed, ms; null while it is open. */
  readonly closedAfterMs: number | null;
}

/** A connection that is written to byte by byte, or not at all. */
export interface RawConnection {
  readonly socket: Socket;
  /** As far as it has come. */
  answer(): RawAnswer;
}

const LONGEST_ANSWER = 64 * 1024;

/** Opens a connection and keeps the beginning of what comes back; resolves when it stands. */
export async function openRaw({ host, port }: Address): Promise<RawConnection> {
  const openedMs = performance.now();
  let text = '';
  let closedAfterMs: number | null = null;
  const socket = connect(port, host);
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
  // A server that has seen enough resets what is still being written.
  socket.on('error', () => {});
  socket.on('data', (chunk: Buffer) => {
    if (text.length < LONGEST_ANSWER) text += chunk.toString('utf8');
  });
  socket.on('close', () => {
    closedAfterMs = performance.now() - openedMs;
  });
  return {
    socket,
    answer: () => ({
      status: text === '' ? null : Number(/^HTTP\/1\.1 (\d{3}) /.exec(text)?.[1]),
      body: text.slice(text.indexOf('\r\n\r\n') + 4),
      closedAfterMs,
    }),
  };
}

/** Whether an answer is this error in the shape that every error has. */
export function isError({ status, body }: RawAnswer, expected: number): boolean {
  if (status !== expected) return false;
  try {
    const parsed = JSON.parse(body) as Record<string, unknown>;
    const names = Object.keys(parsed).filter((name) => name !== 'error' && name !== 'code');
    return typeof parsed['error'] === 'string' && names.length === 0;
  } catch {
    return false;
  }
}

/** Writes a text bit by bit until the server closes, or the text is at its end. */
export async function drip({ socket }: RawConnection, text: string, intervalMs: number): Promise<void> {
  for (const character of text) {
    if (socket.destroyed || !socket.writable) return;
    socket.write(character);
    await delay(intervalMs);
  }
}

/** Waits for the end of a connection, at most so long. */
export async function untilClosed({ socket }: RawConnection, boundMs: number): Promise<void> {
  if (socket.closed) return;
  await Promise.race([
    new Promise((resolve) => socket.once('close', resolve)),
    delay(boundMs, undefined, { ref: false }),
  ]);
}
