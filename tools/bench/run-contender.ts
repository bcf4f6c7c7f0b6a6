import type { LoadGenerator } from './load/run-load.ts';
import type { RequestFiles } from './prepare-requests.ts';
import { CONNECTIONS, type Contender } from './scenarios.ts';
import type { ServerProcess } from './server-process.ts';
import type { Sample } from './statistics.ts';

export interface RunOptions {
  readonly seconds: number;
  readonly round: number;
}

/**
 * One run of load against one server. Throws when any request was not answered with success, and when the database
 * does not hold what was answered: a fast answer that stored nothing must not win.
 */
export async function runContender(
  generator: LoadGenerator,
  server: ServerProcess,
  files: RequestFiles,
  contender: Contender,
  { seconds, round }: RunOptions,
): Promise<Sample> {
  const [usageBefore, rowsBefore] = [await server.readUsage(), await server.countPayments()];
  const load = await generator.run({
    port: server.port,
    requestsFile: files[contender.requests],
    connections: CONNECTIONS,
    seconds,
  });
  const [usage, rowsAfter] = [await server.readUsage(), await server.countPayments()];

  const { label } = contender;
  if (load.failures > 0) throw new Error(`${label}: ${load.failures} requests failed`);
  const rows = rowsAfter - rowsBefore;
  const writes = contender.requests.startsWith('create');
  // Requests in flight at the end of a run are stored, but not counted as answered.
  if (writes && (rows < load.requests || rows > load.requests + 2 * CONNECTIONS)) {
    throw new Error(`${label}: ${load.requests} creates were answered, ${rows} payments are stored`);
  }
  const commits = usage.commits - usageBefore.commits;
  return {
    label,
    round,
    requests: load.requests,
    requestsPerSecond: (load.requests * 1_000_000) / load.durationMicroseconds,
    cpuMicrosecondsPerRequest: (usage.cpuMicroseconds - usageBefore.cpuMicroseconds) / load.requests,
    p50Microseconds: load.p50Microseconds,
    p99Microseconds: load.p99Microseconds,
    rowsPerCommit: writes && commits > 0 ? rows / commits : null,
  };
}
