import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface Blackhole {
  readonly port: number;
  close(): Promise<void>;
}

/** Listens with the shortest queue and then never accepts. */
const FROZEN_LISTENER = `
  const server = require('node:net').createServer();
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    require('node:fs').writeSync(1, server.address().port + '\\n');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });
`;
/** A connection on loopback stands at once, unless its SYN is dropped. */
const DROPPED_AFTER_MS = 300;
const MAX_FILLERS = 16;

/**
 * A loopback port that drops every SYN: a process listens with a short queue, sleeps for ever, and its queue is
 * filled. So no route to a silent network is needed.
 */
export async function startBlackhole(): Promise<Blackhole> {
  const listener = spawn(process.execPath, ['-e', FROZEN_LISTENER], { stdio: ['ignore', 'pipe', 'inherit'] });
  const fillers: Socket[] = [];
  const close = async () => {
    for (const filler of fillers) filler.destroy();
    const ended = once(listener, 'exit');
    listener.kill('SIGKILL');
    await ended;
  };
  const [printed] = await once(listener.stdout, 'data');
  const port = Number(String(printed));
  while (fillers.length < MAX_FILLERS) {
    const filler = connect(port, '127.0.0.1');
    filler.on('error', () => {});
    fillers.push(filler);
    const connected = await once(filler, 'connect', { signal: AbortSignal.timeout(DROPPED_AFTER_MS) }).then(
      () => true,
      () => false,
    );
    if (!connected) return { port, close };
  }
  await close();
  throw new Error(`${MAX_FILLERS} connections did not fill the queue of a sleeping listener`);
}
