import { createServer } from 'node:net';
import type { SandboxLog } from './sandbox-log.ts';

const LOOPBACK = '127.0.0.1';

/** Claims a loopback port; 0 lets the system choose. Resolves to the port, or null if it is taken. */
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
 * This port if it is free, otherwise 0, which is logged. The system then chooses at listen time, so that no other
 * process can take the port before.
 */
export async function preferLoopbackPort(port: number, log: SandboxLog, message: string): Promise<number> {
  if (port === 0 || (await claimLoopbackPort(port)) !== null) return port;
  log.warn({ port }, message);
  return 0;
}
