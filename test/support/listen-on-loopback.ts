import type { AddressInfo, Server } from 'node:net';
import { onTestFinished } from 'vitest';

/** Serves at a free port of loopback until the test ends; returns the URL. */
export async function listenOnLoopback(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    if ('closeAllConnections' in server) (server as { closeAllConnections(): void }).closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
