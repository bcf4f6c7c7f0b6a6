import { setTimeout as delay } from 'node:timers/promises';
import type { Extent } from './extent.ts';
import type { Machine } from './machine.ts';
import { prepareRequests, type RequestFiles } from './prepare-requests.ts';
import { runContender } from './run-contender.ts';
import type { Contender, Scenario } from './scenarios.ts';
import type { ServerFleet } from './server-fleet.ts';
import type { ServerProcess } from './server-process.ts';
import { orderOfRound, type Sample } from './statistics.ts';
import { type ScenarioSummary, summarize } from './summary.ts';

const WARM_UP_CONNECTIONS = 64;
const MOST_WARM_UPS = 20;

/** What the scenarios of load found, and every run behind it. */
export interface LoadFindings {
  readonly summaries: readonly ScenarioSummary[];
  readonly samples: readonly Sample[];
}

/** Runs these scenarios against servers that were started for them. `folder` takes the files of requests. */
export async function measureLoad(
  machine: Machine,
  fleet: ServerFleet,
  chosen: readonly Scenario[],
  extent: Extent,
  folder: string,
): Promise<LoadFindings> {
  const filesOf = await prepareFiles(fleet, chosen, folder);
  const run = async (
    contender: Contender,
    options: { connections: number; seconds: number; round: number },
  ) => {
    const server = fleet.get(contender.server);
    server.resume();
    try {
      await wakeUp(machine, server, filesOf(contender)[contender.requests], options.connections, extent);
      return await runContender(machine.generator, server, filesOf(contender), contender, options);
    } finally {
      await untilQuiet(server);
      server.pause();
    }
  };

  // Until each server's code is compiled for what it will be asked, however slow the machine is at the moment.
  for (const contender of distinctContenders(chosen)) {
    const options = { connections: WARM_UP_CONNECTIONS, seconds: extent.warmUpSeconds, round: -1 };
    for (let requests = 0, runs = 0; requests < extent.warmUpRequests && runs < MOST_WARM_UPS; runs++) {
      requests += (await run(contender, options)).requests;
    }
  }
  // All scenarios in each round, so that a slow minute of the machine falls on all of them.
  const samples = new Map<Scenario, Sample[]>(chosen.map((scenario) => [scenario, []]));
  for (let round = 0; round < extent.rounds; round++) {
    for (const [scenario, collected] of samples) {
      for (const contender of orderOfRound(scenario.contenders, round)) {
        const { connections } = scenario;
        collected.push(await run(contender, { connections, seconds: extent.seconds, round }));
      }
    }
    if (process.stderr.isTTY) process.stderr.write(`round ${round + 1} of ${extent.rounds}\n`);
  }
  return {
    summaries: [...samples].map(([scenario, collected]) => summarize(scenario, collected)),
    samples: [...samples.values()].flat(),
  };
}

/**
 * The same load as will be measured, until the server is awake: it was stopped for up to some minutes, its code and data
 * have left the processor's caches, and what it does by the clock is all due at once. No server in use meets that, and
 * the larger one would pay more for it: a create cost 212 µs in the first scenario of a round and 183 in the last.
 */
async function wakeUp(
  { generator }: Machine,
  server: ServerProcess,
  requestsFile: string,
  connections: number,
  { wakeUpSeconds }: Extent,
): Promise<void> {
  await generator.run({ port: server.port, requestsFile, connections, seconds: wakeUpSeconds });
  await untilQuiet(server);
}

const QUIET_MS = 50;

/** Until what was under way at the end of a run is stored: it must not be counted with the next run. */
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

/** Each service takes its own keys only; raw servers and ceilings are sent what the first service is sent. */
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

function distinctContenders(chosen: readonly Scenario[]): readonly Contender[] {
  const distinct = new Map<string, Contender>();
  for (const contender of chosen.flatMap((scenario) => scenario.contenders)) {
    distinct.set(`${contender.server} ${contender.requests.replace('-fresh', '')}`, contender);
  }
  return [...distinct.values()];
}
