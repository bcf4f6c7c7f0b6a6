import type { Server, Socket } from 'node:net';

/** All connections are looked at this many times within the time that one may stand still. */
const LOOKS = 4;

/** What was found on a connection. */
interface Look {
  readonly bytes: number;
  /** Looks in a row that found no more than the one before. */
  readonly inVain: number;
}

const notYetLooked: Look = { bytes: -1, inVain: 0 };

/**
 * Closes connections on which nothing moved in either direction for `stalledMs`, or up to a quarter longer: of callers
 * who vanished, or who do not read their answer. They are looked at all together: a timer for each, as
 * `server.setTimeout` has it, is set anew with each read and write, which takes 3 to 4 % of a create.
 */
export function closeStalled(server: Server, stalledMs: number): void {
  const looks = new Map<Socket, Look>();

  const timer = setInterval(() => {
    for (const [socket, before] of looks) {
      const look = lookAgain(socket, before);
      if (look.inVain === LOOKS) socket.destroy();
      else looks.set(socket, look);
    }
  }, stalledMs / LOOKS);
  timer.unref();
  server.once('close', () => clearInterval(timer));
  // With TLS the handshake has a time limit of its own, and only what is above it counts bytes in both directions.
  const opened = 'setSecureContext' in server ? 'secureConnection' : 'connection';
  server.on(opened, (socket: Socket) => {
    looks.set(socket, notYetLooked);
    socket.once('close', () => looks.delete(socket));
  });
}

function lookAgain(socket: Socket, before: Look): Look {
  // What only waits to be written has not moved.
  const bytes = socket.bytesRead + socket.bytesWritten - socket.writableLength;
  return { bytes, inVain: bytes === before.bytes ? before.inVain + 1 : 0 };
}
