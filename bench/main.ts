/**
 * `npm run bench`: how close the service comes to what is possible on this machine, as ratios to servers that are
 * measured in turn with it. See docs/performance.md.
 *
 *   --quick            two short rounds
 *   --only NAME        one scenario (create-64, create-8, create-fresh-64, read-64)
 *   --profile          also writes a CPU profile of the service to test-output/profile
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { findLoadGenerator, isInstalled, type LoadGenerator, type Pin } from './load/run-load.ts';
import { prepareRequests, type RequestFiles } from './prepare-requests.ts';
import { runContender } from './run-contender.ts';
import { type Contender, type Scenario, scenarios } from './scenarios.ts';
import { type ServerProcess, startServerProcess } from './server-process.ts';
import { type ServerName, serverNames } from './servers/bench-server.ts';
import { orderOfRound, type Sample } from './statistics.ts';
import { formatSummary, summarize } from './summary.ts';

const FULL = { rounds: 8, seconds: 2, warmUpSeconds: 3 };
const QUICK = { rounds: 2, seconds: 1, warmUpSeconds: 1 };
const WARM_UP_CONNECTIONS = 64;

const { values: flags } = parseArgs({
  options: { quick: { type: 'boolean' }, only: { type: 'string' }, profile: { type: 'boolean' } },
});
const extent = flags.quick === true ? QUICK : FULL;
const chosen = scenarios.filter(({ name }) => flags.only === undefined || flags.only === name);
if (chosen.length === 0) throw new Error(`there is no scenario ${flags.only}`);

const outputFolder = join(import.meta.dirname, '..', 'test-output');
mkdirSync(outputFolder, { recursive: true });
// Below the project and not in the system's temporary folder, which may lie in memory: commits must reach a disk.
const folder = mkdtempSync(join(outputFolder, 'bench-'));
const isPinned = cpus().length > 1 && isInstalled('taskset');
const generator = findLoadGenerator(pinTo(1));
// This process reads the servers' logs: on the server's core it would take turns with it at each line.
if (isPinned) execFileSync('taskset', ['-a', '-c', '-p', '1', String(process.pid)], { stdio: 'ignore' });
const servers = new Map<ServerName, ServerProcess>();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    // The servers end by themselves when this process is gone.
    rmSync(folder, { recursive: true, force: true });
    process.exit(1);
  });
}

try {
  await main();
} finally {
  await Promise.all([...servers.values()].map((server) => server.stop()));
  rmSync(folder, { recursive: true, force: true });
}

async function main(): Promise<void> {
  const machine = {
    cpu: `${cpus().length} × ${cpus()[0]?.model}`,
    node: process.version,
    sqlite: process.versions['sqlite'],
    loadGenerator: generator.name,
    otherLoad: `load average ${loadavg()[0]?.toFixed(1)} before the run`,
    cores: isPinned ? 'server and load on a core each' : 'not pinned: taskset or a second core is missing',
  };
  console.log(`${Object.values(machine).join(' · ')}\n`);

  for (const name of serverNames) {
    const nodeFlags = flags.profile && name === 'service' ? profilerFlags() : [];
    servers.set(name, await startServerProcess(name, folder, pinTo(0), nodeFlags));
  }
  const files = await prepareRequests(serverOf('service'), folder);
  await warmUp(files);
  const samples = await runRounds(generator, files);

  const summaries = chosen.map((scenario) => summarize(scenario, samples.get(scenario) ?? []));
  for (const summary of summaries) console.log(formatSummary(summary));
  const report = { at: new Date().toISOString(), ...extent, machine, scenarios: summaries };
  const file = join(outputFolder, 'bench.json');
  writeFileSync(file, `${JSON.stringify({ ...report, samples: [...samples.values()].flat() }, null, 2)}\n`);
  console.log('Every request was answered with success. All figures: test-output/bench.json');
}

/** All scenarios in each round, so that a slow minute of the machine falls on all of them. */
async function runRounds(load: LoadGenerator, files: RequestFiles): Promise<Map<Scenario, Sample[]>> {
  const samples = new Map<Scenario, Sample[]>(chosen.map((scenario) => [scenario, []]));
  for (let round = 0; round < extent.rounds; round++) {
    for (const [scenario, collected] of samples) {
      for (const contender of orderOfRound(scenario.contenders, round)) {
        const options = { connections: scenario.connections, seconds: extent.seconds, round };
        collected.push(await runContender(load, serverOf(contender.server), files, contender, options));
      }
    }
    if (process.stderr.isTTY) process.stderr.write(`round ${round + 1} of ${extent.rounds}\n`);
  }
  return samples;
}

/** Until each server's code is compiled for what it will be asked. */
async function warmUp(files: RequestFiles): Promise<void> {
  const contenders = new Map<string, Contender>();
  for (const contender of chosen.flatMap((scenario) => scenario.contenders)) {
    contenders.set(`${contender.server} ${contender.requests.replace('-fresh', '')}`, contender);
  }
  const options = { connections: WARM_UP_CONNECTIONS, seconds: extent.warmUpSeconds, round: -1 };
  for (const contender of contenders.values()) {
    await runContender(generator, serverOf(contender.server), files, contender, options);
  }
}

function serverOf(name: ServerName): ServerProcess {
  const server = servers.get(name);
  if (server === undefined) throw new Error(`the server ${name} was not started`);
  return server;
}

function pinTo(core: number): Pin {
  return (command) => (isPinned ? ['taskset', '-c', String(core), ...command] : command);
}

function profilerFlags(): string[] {
  return ['--cpu-prof', '--cpu-prof-interval', '500', `--cpu-prof-dir=${join(outputFolder, 'profile')}`];
}
