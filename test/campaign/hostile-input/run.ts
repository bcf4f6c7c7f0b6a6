/**
 * Input that nobody should send, to the API, the pages and the adapters of providers: generated from what is valid,
 * mangled, or mere bytes. A seed brings the same input about again.
 */

import fc from 'fast-check';
import { startPostgres } from '../../support/postgres.ts';
import type { PartOptions, PromiseResult } from '../part.ts';
import { BrokenPromiseError } from './broken-promise.ts';
import { createBodyCase } from './create-bodies.ts';
import { createQueryCase, statusQueryCase } from './create-queries.ts';
import { emptyPostgres, emptySqlite, type HostileService, openHostileService } from './hostile-service.ts';
import { pageCase } from './pages.ts';
import { type HostileInputPromise, hostileInputPromises } from './promises.ts';
import { providerAnswerCase } from './provider-answers.ts';
import { rawConnectionCase } from './raw-connections.ts';

type CaseName = 'bodies' | 'queries' | 'questions' | 'connections' | 'pages' | 'providers';

/**
 * Seeds that broke a promise before it was mended, by the kind of case that did. Every run of this part repeats them on
 * both engines. A seed stands for its input only as long as the generators stay as they are, so what was found has a
 * plain test as well.
 */
const failedSeeds: Readonly<Record<CaseName, readonly number[]>> = {
  bodies: [76000099, 62386619, 180520355, 1068465590, 1755445245],
  queries: [76000099],
  questions: [1909048209],
  pages: [1],
  providers: [],
  connections: [1, 11, 33, 187927108, 20261126, 20261135, 1350772466, 76000003, 76000022, 76000035, 76000056],
};

/** Runs of each kind in one round, which is on one engine. The short form is one on each. */
const runs: Readonly<Record<CaseName, number>> = {
  bodies: 400,
  queries: 250,
  questions: 100,
  pages: 250,
  providers: 60,
  connections: 150,
};
/** The long form takes no other seed after this. */
const LONG_FORM_MS = 10 * 60_000;
const PROGRESS_SEEDS = 10;

/** What each kind of case looks at. */
const looksAt: Readonly<Record<CaseName, readonly HostileInputPromise[]>> = {
  bodies: ['createBodies', 'judgement'],
  queries: ['createQueries', 'judgement'],
  questions: ['createQueries'],
  connections: ['rawBytes'],
  pages: ['pages'],
  providers: ['providerAnswers'],
};

type Property = fc.IAsyncPropertyWithHooks<[never]> | fc.IAsyncProperty<[never]>;
type SeedsOf = (name: CaseName) => readonly number[];
type Tally = Map<HostileInputPromise, { cases: number; violations: number }>;

export async function runHostileInput({ seed, long, log }: PartOptions): Promise<PromiseResult[]> {
  const names = Object.keys(hostileInputPromises) as HostileInputPromise[];
  const tally: Tally = new Map(names.map((name) => [name, { cases: 0, violations: 0 }]));
  const postgres = await startPostgres();
  const engines = [emptySqlite, () => emptyPostgres(postgres)];
  const runRounds = async (seedsOf: SeedsOf, { endOnFailure = false } = {}) => {
    for (const emptyDatabase of engines) {
      const hostile = await openHostileService(await emptyDatabase());
      await runRound(hostile, { seedsOf, endOnFailure }, tally, log);
    }
  };
  const startedMs = performance.now();
  let seeds = 0;
  try {
    await runRounds((name) => failedSeeds[name], { endOnFailure: true });
    do {
      const current = seed + seeds;
      await runRounds(() => [current]);
      seeds++;
      if (seeds % PROGRESS_SEEDS === 0) log(`  ${seeds} seeds of hostile input, each on both engines`);
    } while (long && performance.now() - startedMs < LONG_FORM_MS);
  } finally {
    await postgres.stop();
  }
  return names.map((name) => ({
    promise: hostileInputPromises[name],
    ...(tally.get(name) as { cases: number; violations: number }),
  }));
}

/** Each round has a service of its own, so that what one round stored does not slow the next one down. */
async function runRound(
  hostile: HostileService,
  { seedsOf, endOnFailure }: { readonly seedsOf: SeedsOf; readonly endOnFailure: boolean },
  tally: Tally,
  log: PartOptions['log'],
): Promise<void> {
  const pages = pageCase();
  const providers = await providerAnswerCase();
  try {
    const cases: readonly (readonly [CaseName, unknown])[] = [
      ['bodies', createBodyCase(hostile)],
      ['queries', createQueryCase(hostile)],
      ['questions', await statusQueryCase(hostile)],
      ['pages', pages.check],
      ['providers', providers.check],
      // The last of them: from now on the server listens, and is closed with what it has of connections.
      ['connections', await rawConnectionCase(hostile)],
    ];
    for (const [name, property] of cases) {
      for (const seed of seedsOf(name)) {
        const found = await fc.check(property as Property, { seed, numRuns: runs[name], endOnFailure });
        count(tally, name, found, log);
      }
    }
  } finally {
    await hostile.close();
    await pages.close();
    await providers.close();
  }
}

function count(tally: Tally, name: CaseName, found: fc.RunDetails<[never]>, log: PartOptions['log']): void {
  for (const promise of looksAt[name]) {
    const row = tally.get(promise);
    if (row !== undefined) row.cases += found.numRuns;
  }
  if (!found.failed) return;
  const cause = found.errorInstance;
  // What throws anything else is broken in a way that nobody thought of.
  const promise =
    cause instanceof BrokenPromiseError ? cause.promise : (looksAt[name][0] as HostileInputPromise);
  const row = tally.get(promise);
  if (row !== undefined) row.violations += 1;
  log(
    `seed ${found.seed} (${name}, path ${found.counterexamplePath}) broke "${promise}": ${String(cause).slice(0, 2_000)}`,
  );
}
