import { createServer } from 'node:net';
import type { SandboxLog } from './sandbox-log.ts';

const LOOPBACK = '127.0.0.1';

/** Whether this loopback port is free; with 0 the system picks one. Returns the port, or null when taken. */
export function claimLoopbackPort(port: number): Promise<number | null> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(null);
      else reject(error);
    });
    server.listen(port, LOOPBACK, () => {
      const address = server.address();
      server.close(() => {
        if (address === null || typeof address === 'string') reject(new Error('the listener has no port'));
        else resolve(address.port);
      });
    });
  });
}

/**
 * The port for a server that may have another one: this port where it is free, else 0, which the log says. A free port is
 * picked when the server listens, and not before, when another process could still take it.
 */
export async function preferLoopbackPort(port: number, log: SandboxLog, message: string): Promise<number> {
  if (port === 0 || (await claimLoopbackPort(port)) !== null) return port;
  log.warn({ port }, message);
  return 0;
}
