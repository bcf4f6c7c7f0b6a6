import { join, resolve } from 'node:path';
import { CONTROL_SOCKET, callServer } from '../src/cli/control-socket.ts';
import type { ListenOptions } from '../src/cli/program.ts';
import type { Config } from '../src/config/config.ts';
import { listen } from './listen.ts';

/** Shows the events of the sandbox that serves this data folder until the user stops it. */
export async function listenToSandbox(config: Config, options: ListenOptions): Promise<void> {
  const socket = join(config.dataDir, CONTROL_SOCKET);
  return listen({
    ...options,
    dataDir: resolve(config.dataDir),
    readEvents: (cursor) => callServer(socket, 'listen', cursor === null ? {} : { cursor }),
    write: (text) => void process.stdout.write(text),
    writeError: (text) => void process.stderr.write(text),
  });
}
