/**
 * `npm run bench`: how close the service comes to what is possible on this machine, as ratios to what is measured in
 * turn with it. See docs/performance.md.
 *
 *   --short            every part once: whether the bench runs at all
 *   --only NAME        one scenario or measurement, or several with commas between
 *   --profile          also writes a CPU profile of the service to test-output/profile
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { fullExtent, shortExtent } from './extent.ts';
import { fillStore } from './fill-store.ts';
import { evaluateGoals, type Findings } from './goals.ts';
import { examineMachine } from './machine.ts';
import { type LoadFindings, measureLoad } from './measure-load.ts';
import { lists } from './measurements/lists.ts';
import { logScan } from './measurements/log-scan.ts';
import type { Finding } from './measurements/measurement.ts';
import { millionLive } from './measurements/million-live.ts';
import { settlement } from './measurements/settlement.ts';
import { storeCreate } from './measurements/store-create.ts';
import { webhooks } from './measurements/webhooks.ts';
import type { BenchReport } from './report.ts';
import { scenarios } from './scenarios.ts';
import { startServerFleet } from './server-fleet.ts';
import type { ServerName } from './servers/bench-server.ts';
import { formatFinding, formatGoals, formatSummary } from './summary.ts';

const measurements = [storeCreate, webhooks, logScan, settlement, lists, millionLive];

const { values: flags } = parseArgs({
  options: {
    short: { type: 'boolean' },
    only: { type: 'string' },
    profile: { type: 'boolean' },
  },
});
const extent = flags.short === true ? shortExtent : fullExtent;
const chosenScenarios = chosenOf(scenarios);
const chosenMeasurements = chosenOf(measurements);
if (chosenScenarios.length + chosenMeasurements.length === 0) {
  const names = [...scenarios, ...measurements].map(({ name }) => name).join(', ');
  throw new Error(`there is nothing called ${flags.only}, only: ${names}`);
}

const outputFolder = join(import.meta.dirname, '../..', 'test-output');
mkdirSync(outputFolder, { recursive: true });
// Not in the system's temporary folder, which may be in memory: commits must reach a disk.
const folder = mkdtempSync(join(outputFolder, 'bench-'));
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    // Child processes exit when this process exits.
    rmSync(folder, { recursive: true, force: true });
    process.exit(1);
  });
}
const machine = examineMachine();
let filling: Promise<string> | null = null;

try {
  await main();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function main(): Promise<void> {
  const [at, startMs] = [new Date().toISOString(), performance.now()];
  console.log(`${Object.values(machine.description).join(' · ')}\n`);
  const load = await runLoad();
  for (const summary of load.summaries) console.log(`${formatSummary(summary)}\n`);
  const found: Finding[] = [];
  for (const { name, title, measure } of chosenMeasurements) {
    const own = join(folder, name);
    mkdirSync(own, { recursive: true });
    const series = await measure({ machine, extent, folder: own, millionDataDir });
    found.push({ name, title, series });
    console.log(`${formatFinding({ name, title, series })}\n`);
  }

  const findings: Findings = { scenarios: load.summaries, measurements: found, samples: load.samples };
  const goals = evaluateGoals(findings);
  console.log(`${formatGoals(goals)}\n`);
  const report: BenchReport = {
    at,
    machine: machine.description,
    extent,
    goals,
    minutes: (performance.now() - startMs) / 60_000,
    ...findings,
  };
  writeFileSync(join(outputFolder, 'bench.json'), `${JSON.stringify(report, null, 2)}\n`);
  const time = `${report.minutes.toFixed(1)} minutes`;
  console.log(`Every request was answered with success. ${time}, all figures: test-output/bench.json`);
}

async function runLoad(): Promise<LoadFindings> {
  const names = new Set(chosenScenarios.flatMap(({ contenders }) => contenders.map(({ server }) => server)));
  // A service writes the raw servers' requests, because it has keys and payments.
  if (names.size > 0) names.add('service');
  const fleet = await startServerFleet(names, {
    folder,
    machine,
    nodeFlagsOf,
    millionDataDir: names.has('service-million') ? await millionDataDir() : null,
  });
  try {
    return await measureLoad(machine, fleet, chosenScenarios, extent, folder);
  } finally {
    await fleet.stop();
  }
}

/** The service runs as `npm start` and the image start it: pages cost up to three times as much without the bound. */
function nodeFlagsOf(name: ServerName): readonly string[] {
  if (!name.startsWith('service')) return [];
  return [
    '--max-semi-space-size=16',
    ...(flags.profile === true && name === 'service' ? profilerFlags() : []),
  ];
}

function chosenOf<T extends { readonly name: string }>(all: readonly T[]): readonly T[] {
  const wanted = flags.only?.split(',');
  return all.filter(({ name }) => wanted === undefined || wanted.includes(name));
}

/** Created on first use, once per run; filled while nothing is measured. */
function millionDataDir(): Promise<string> {
  filling ??= (async () => {
    const dataDir = join(folder, 'million');
    mkdirSync(dataDir, { recursive: true });
    await fillStore(dataDir, extent.storedPayments, extent.storedPayments / 10);
    return dataDir;
  })();
  return filling;
}

function profilerFlags(): string[] {
  return ['--cpu-prof', '--cpu-prof-interval', '500', `--cpu-prof-dir=${join(outputFolder, 'profile')}`];
}
