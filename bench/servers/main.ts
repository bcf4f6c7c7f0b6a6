/**
 * One server under measurement in a process of its own: `node bench/servers/main.ts NAME FOLDER [DATABASE_URL]`,
 * started by the bench with a channel to it.
 */
import { answerParent } from '../answer-parent.ts';
import type { BenchServer, ServerName, Usage } from './bench-server.ts';
import { startCeiling } from './ceilings.ts';
import { countCommits } from './count-commits.ts';
import { startRawGet, startRawPost } from './raw-servers.ts';

const [name, folder, databaseUrl = null] = process.argv.slice(2);
if (name === undefined || folder === undefined) throw new Error('give a server and a folder for its data');

const commits = countCommits();
const { stop, ...ready } = await start(name as ServerName, folder, databaseUrl);
answerParent(ready, usage, stop);

async function start(wanted: ServerName, dataDir: string, url: string | null): Promise<BenchServer> {
  switch (wanted) {
    case 'raw-get':
      return startRawGet();
    case 'raw-post':
      return startRawPost();
    case 'ceiling-a':
    case 'ceiling-b':
    case 'ceiling-postgres':
      return startCeiling(wanted, dataDir, url);
    case 'service-silent':
      // Before anything of the service is loaded.
      (await import('./switch-metrics-off.ts')).switchMetricsOff();
      return startService(dataDir, url, { isSilent: true });
    case 'service':
    case 'service-million':
    case 'service-postgres':
      return startService(dataDir, url, { isSilent: false });
    default:
      throw new Error(`there is no server ${wanted satisfies never}`);
  }
}

/** Loaded here only: a raw server is measured without the service in its memory. */
async function startService(dataDir: string, url: string | null, options: { isSilent: boolean }) {
  const { startRealService } = await import('./real-service.ts');
  return startRealService(dataDir, url, options);
}

function usage(): Usage {
  const { user, system } = process.cpuUsage();
  return { cpuMicroseconds: user + system, commits: commits() };
}
