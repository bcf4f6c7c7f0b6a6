import { setTimeout as delay } from 'node:timers/promises';
import type { Extent } from './extent.ts';
import type { Machine } from './machine.ts';
import { prepareRequests, type RequestFiles } from './prepare-requests.ts';
import { type RunOptions, runContender } from './run-contender.ts';
import type { Contender, Scenario } from './scenarios.ts';
import type { ServerFleet } from './server-fleet.ts';
import type { ServerProcess } from './server-process.ts';
import { orderOfRound, type Sample } from './statistics.ts';
import { type ScenarioSummary, summarize } from './summary.ts';

const MOST_WARM_UPS = 20;

/** Results of the load scenarios, with each run. */
export interface LoadFindings {
  readonly summaries: readonly ScenarioSummary[];
  readonly samples: readonly Sample[];
}

/** Parameters common to all runs of load. */
interface LoadContext {
  readonly machine: Machine;
  readonly fleet: ServerFleet;
  readonly extent: Extent;
  readonly filesOf: (contender: Contender) => RequestFiles;
}

/** Runs these scenarios against servers that were started for them. `folder` takes the files of requests. */
export async function measureLoad(
  machine: Machine,
  fleet: ServerFleet,
  chosen: readonly Scenario[],
  extent: Extent,
  folder: string,
): Promise<LoadFindings> {
  const context = { machine, fleet, extent, filesOf: await prepareFiles(fleet, chosen, folder) };
  // One after the other, so that no server of a scenario is stopped for longer than the others' turns: the files of one
  // that was stopped for a minute are no longer in memory on some machines, however much of that is free.
  const samples = new Map<Scenario, readonly Sample[]>();
  for (const scenario of chosen) {
    samples.set(scenario, await measureScenario(context, scenario));
    if (process.stderr.isTTY) process.stderr.write(`${scenario.title}\n`);
  }
  return {
    summaries: [...samples].map(([scenario, collected]) => summarize(scenario, collected)),
    samples: [...samples.values()].flat(),
  };
}

async function measureScenario(context: LoadContext, scenario: Scenario): Promise<readonly Sample[]> {
  const { contenders } = scenario;
  const { rounds, seconds } = context.extent;
  for (const contender of contenders) {
    await takeTurn(context, contender, (server) => warmUp(context, server, contender));
  }
  const samples: Sample[] = [];
  for (let round = 0; round < rounds; round++) {
    for (const contender of orderOfRound(contenders, round)) {
      const options = { seconds, round };
      samples.push(
        await takeTurn(context, contender, (server) => wakeAndMeasure(context, server, contender, options)),
      );
    }
  }
  return samples;
}

/** Runs load against this contender's server while all others are paused. */
async function takeTurn<T>(
  { fleet }: LoadContext,
  contender: Contender,
  work: (server: ServerProcess) => Promise<T>,
): Promise<T> {
  const server = fleet.get(contender.server);
  server.resume();
  try {
    return await work(server);
  } finally {
    server.pause();
  }
}

/** Sends load until the server's code is compiled for these requests, even on a slow machine. */
async function warmUp(context: LoadContext, server: ServerProcess, contender: Contender): Promise<void> {
  const { warmUpSeconds, warmUpRequests } = context.extent;
  const options = { seconds: warmUpSeconds, round: -1 };
  for (let requests = 0, runs = 0; requests < warmUpRequests && runs < MOST_WARM_UPS; runs++) {
    requests += (await run(context, server, contender, options)).requests;
  }
}

/**
 * The same load first until the server is awake: it was stopped while the others had their turns, its code and data
 * have left the processor's caches, and what it does by the clock is all due at once. No server in use meets that, and
 * the larger one would pay more for it.
 */
async function wakeAndMeasure(
  context: LoadContext,
  server: ServerProcess,
  contender: Contender,
  options: RunOptions,
): Promise<Sample> {
  await answeredRun(context, server, contender, { ...options, seconds: context.extent.wakeUpSeconds });
  return answeredRun(context, server, contender, options);
}

/** Runs again while nothing was answered: the short form runs for tenths of a second, beside other work. */
async function answeredRun(...parameters: Parameters<typeof run>): Promise<Sample> {
  for (let runs = 0; runs < MOST_WARM_UPS; runs++) {
    const sample = await run(...parameters);
    if (sample.requests > 0) return sample;
  }
  throw new Error(`${parameters[2].label}: nothing was answered`);
}

async function run(
  { machine, filesOf }: LoadContext,
  server: ServerProcess,
  contender: Contender,
  options: RunOptions,
): Promise<Sample> {
  try {
    return await runContender(machine.generator, server, filesOf(contender), contender, options);
  } finally {
    await untilQuiet(server);
  }
}

const QUIET_MS = 50;

/** Waits until requests in flight at the end of a run are stored, so that the next run does not count them. */
async function untilQuiet(server: ServerProcess): Promise<void> {
  let before: number;
  let after = await server.countPayments();
  do {
    before = after;
    await delay(QUIET_MS);
    await server.readUsage();
    after = await server.countPayments();
  } while (after !== before);
}

/** A service accepts only its own keys; raw servers and ceilings get the first service's requests. */
async function prepareFiles(
  fleet: ServerFleet,
  chosen: readonly Scenario[],
  folder: string,
): Promise<(contender: Contender) => RequestFiles> {
  const names = new Set(chosen.flatMap(({ contenders }) => contenders.map(({ server }) => server)));
  const filesByName = new Map<string, RequestFiles>();
  for (const name of names) {
    if (!name.startsWith('service')) continue;
    const server = fleet.get(name);
    server.resume();
    filesByName.set(name, await prepareRequests(server, folder));
    server.pause();
  }
  const [first] = filesByName.values();
  return ({ server }) => {
    const files = filesByName.get(server) ?? first;
    if (files === undefined) throw new Error('no service was started to prepare requests with');
    return files;
  };
}
