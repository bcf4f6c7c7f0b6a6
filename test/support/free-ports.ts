import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';

/**
 * Below the ports that the system gives away by itself (on Linux from 32,768 on), to listeners on port 0 and to every
 * connection that is opened: of those one may be gone again before the process that is told of it listens.
 */
const FIRST_PORT = 12_000;
/** Workers of a test run go side by side, so each has ports of its own; worker 0 is whoever runs without vitest. */
const PORTS_OF_A_WORKER = 4_000;
const WORKERS = 5;

/** A sandbox takes the ports up to five above its own. */
const DISTANCE = 6;
const PLACES = Math.floor(PORTS_OF_A_WORKER / DISTANCE);

/** Given away by this process, whether somebody listens on them yet or not. */
const given = new Set<number>();

/**
 * Ports of the loopback interface that nobody listens on at this moment, and that nobody else is told of.
 *
 * @param start the place among the worker's ports where the search begins; by chance, because another run may be on this machine
 */
export async function freePorts(count: number, start = randomInt(PLACES)): Promise<number[]> {
  const worker = Number(process.env['VITEST_POOL_ID'] ?? 0) % WORKERS;
  const ports: number[] = [];
  for (let tried = 0; ports.length < count; tried++) {
    if (tried === PLACES) throw new Error(`there are not ${count} free ports`);
    const port = FIRST_PORT + worker * PORTS_OF_A_WORKER + ((start + tried) % PLACES) * DISTANCE;
    if (given.has(port)) continue;
    given.add(port);
    if (await isFree(port)) ports.push(port);
  }
  return ports;
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(false);
      else reject(error);
    });
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

/** Whether this machine listens on `::1`; containers without IPv6 do not. */
export function hasIpv6Loopback(): boolean {
  return Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'));
}
