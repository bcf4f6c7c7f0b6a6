import { join, resolve } from 'node:path';
import { CONTROL_SOCKET, callServer } from '../src/cli/control-socket.ts';
import type { ListenOptions } from '../src/cli/program.ts';
import type { Config } from '../src/config/config.ts';
import { listen } from './listen.ts';

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
