import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { SandboxLog } from './sandbox-log.ts';

const LOOPBACK = '127.0.0.1';

/** Tries a loopback port; 0 lets the system choose one. Resolves to the port, or null if it is taken. */
export async function claimLoopbackPort(port: number): Promise<number | null> {
  const server = createServer().listen(port, LOOPBACK);
  try {
    await once(server, 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return null;
    throw error;
  }
  const claimed = (server.address() as AddressInfo).port;
  await once(server.close(), 'close');
  return claimed;
}

/**
 * Returns the port if it is free. Otherwise, logs the message and returns 0, so that the system chooses a port at
 * listen time and no other process can take it before.
 */
export async function preferLoopbackPort(port: number, log: SandboxLog, message: string): Promise<number> {
  if (port === 0 || (await claimLoopbackPort(port)) !== null) return port;
  log.warn({ port }, message);
  return 0;
}
