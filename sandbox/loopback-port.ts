import { createServer } from 'node:net';
import type { SandboxLog } from './sandbox-log.ts';

const LOOPBACK = '127.0.0.1';

/** Tries a loopback port, where 0 lets the system choose. Resolves to the port, or to null if it is taken. */
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
 * Returns this port if it is free. Otherwise logs that and returns 0, so that the system chooses at listen time and no
 * other process can take the port before.
 */
export async function preferLoopbackPort(port: number, log: SandboxLog, message: string): Promise<number> {
  if (port === 0 || (await claimLoopbackPort(port)) !== null) return port;
  log.warn({ port }, message);
  return 0;
}
