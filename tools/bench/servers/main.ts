/**
 * Runs one measured server as a process: `node tools/bench/servers/main.ts NAME FOLDER [DATABASE_URL]`,
 * started by the bench with a channel to it.
 */
import { answerParent } from '../answer-parent.ts';
import type { BenchServer, ServerName, Usage } from './bench-server.ts';
import { startCeiling } from './ceilings.ts';
import { countCommits, recordStatements } from './count-commits.ts';
import { startRawGet } from './raw-servers.ts';

const [name, folder, databaseUrl = null] = process.argv.slice(2);
if (name === undefined || folder === undefined) throw new Error('give a server and a folder for its data');

const commits = countCommits();
const takeStatements = process.env['BENCH_RECORDS'] === undefined ? () => [] : recordStatements();
const { stop, ...ready } = await start(name as ServerName, folder, databaseUrl);
answerParent(ready, (question) => (question === 'usage' ? usage() : takeStatements()), stop);

async function start(wanted: ServerName, dataDir: string, url: string | null): Promise<BenchServer> {
  switch (wanted) {
    case 'raw-get':
      return startRawGet();
    case 'ceiling-a':
    case 'ceiling-postgres':
      return startCeiling(dataDir, url);
    case 'service':
    case 'service-million':
    case 'service-postgres': {
      // Loaded on demand, so that a raw server runs without the service in its memory.
      const { startRealService } = await import('./real-service.ts');
      return startRealService(dataDir, url);
    }
    default:
      throw new Error(`there is no server ${wanted satisfies never}`);
  }
}

function usage(): Usage {
  const { user, system } = process.cpuUsage();
  return { cpuMicroseconds: user + system, commits: commits() };
}
