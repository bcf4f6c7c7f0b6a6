import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A TCP proxy on loopback that can behave like a network that is partitioned. */
export interface CutOff {
  readonly port: number;
  /** Forwards nothing any more, in either direction, and closes nothing: both sides see silence. New connections too. */
  cut(): void;
  /** Forwards new connections again; those of before the cut stay silent. */
  mend(): void;
  close(): Promise<void>;
}

/** Starts a proxy in front of this port of loopback. */
export async function startCutOff(targetPort: number): Promise<CutOff> {
  let isCut = false;
  const sockets = new Set<Socket>();
  function keep(socket: Socket): void {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => sockets.delete(socket));
  }
  const server = createServer({ allowHalfOpen: true }, (inner) => {
    keep(inner);
    if (isCut) return void inner.pause();
    const outer = connect({ port: targetPort, host: '127.0.0.1', allowHalfOpen: true });
    keep(outer);
    inner.pipe(outer).pipe(inner);
    outer.once('close', () => inner.destroy());
    inner.once('close', () => outer.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      isCut = true;
      for (const socket of sockets) {
        socket.unpipe();
        socket.removeAllListeners('close');
        socket.once('close', () => sockets.delete(socket));
        socket.pause();
      }
    },
    mend() {
      isCut = false;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
