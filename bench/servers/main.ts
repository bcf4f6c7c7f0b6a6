/**
 * One server under measurement in a process of its own: `node bench/servers/main.ts NAME FOLDER`, started by the
 * bench with a channel to it. It ends when told to, and when the bench is gone.
 */

import { type BenchServer, type ServerMessage, type ServerName, serverNames } from './bench-server.ts';
import { startCeiling } from './ceilings.ts';
import { countCommits } from './count-commits.ts';
import { startRawGet, startRawPost } from './raw-servers.ts';

const [name, folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('give a server and a folder for its data');

const commits = countCommits();
const server = await start(
  serverNames.find((known) => known === name) ??
    (() => {
      throw new Error(`there is no server ${name}`);
    })(),
  folder,
);

process.on('message', (request) => {
  if (request === 'stop') return void stop();
  const { user, system } = process.cpuUsage();
  tell({ kind: 'usage', cpuMicroseconds: user + system, commits: commits() });
});
process.on('disconnect', () => void stop());
const { port, databaseFile, apiKeys } = server;
tell({ kind: 'ready', port, databaseFile, apiKeys });

async function start(wanted: ServerName, dataDir: string): Promise<BenchServer> {
  if (wanted === 'raw-get') return startRawGet();
  if (wanted === 'raw-post') return startRawPost();
  if (wanted === 'service') {
    // Loaded here only: a raw server is measured without the service in its memory.
    const { startRealService } = await import('./real-service.ts');
    return startRealService(dataDir);
  }
  return startCeiling(wanted, dataDir);
}

function tell(message: ServerMessage): void {
  process.send?.(message);
}

let stopping: Promise<void> | null = null;
function stop(): Promise<void> {
  stopping ??= server.stop().then(() => {
    if (process.connected) process.disconnect();
  });
  return stopping;
}
