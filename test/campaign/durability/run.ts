import { createRandom } from '../../support/random.ts';
import type { PartOptions, PromiseResult } from '../part.ts';
import { countSqliteCommits, judgeTrace } from './judge-trace.ts';
import { type Acknowledged, createUnderLoad, findLost } from './load.ts';
import { readSystemCalls } from './system-calls.ts';
import { type DurabilityTarget, openPostgresTarget, openSqliteTarget } from './target.ts';
import { traceProcesses } from './tracer.ts';

type Log = (line: string) => void;

const ROUNDS = 6;
/** The first kill comes after so many creates that were answered, the last one after all of them. */
const FEWEST = 20;
const MOST = 3_000;
/** Creates while calls are traced, which slows everything down. */
const TRACED_CREATES = 400;

/**
 * Kills the server under a load of creates and looks whether each that was answered is there. The long form: several
 * rounds with both engines, PostgreSQL itself ended under load, and system calls traced. The short form: one round on
 * SQLite.
 */
export async function runDurability(options: PartOptions): Promise<PromiseResult[]> {
  const { long, log } = options;
  const random = createRandom(options.seed);
  const results: PromiseResult[] = [];
  for (const open of long ? [() => openSqliteTarget(), openPostgresTarget] : [() => openSqliteTarget()]) {
    const target = await open();
    try {
      results.push(await killUnderLoad(target, long ? ROUNDS : 1, random, log));
      if (long && target.crashDatabase !== null) results.push(await crashUnderLoad(target, random, log));
      if (long) results.push(...(await traceCreates(target, log)));
    } finally {
      await target.stop();
    }
  }
  return results;
}

async function killUnderLoad(
  target: DurabilityTarget,
  rounds: number,
  random: () => number,
  log: Log,
): Promise<PromiseResult> {
  let cases = 0;
  let violations = 0;
  for (let round = 1; round <= rounds; round++) {
    const enough = drawEnough(random);
    let killed: Promise<void> | null = null;
    const acknowledged = await createUnderLoad(target.create(), ({ size }) => {
      if (size >= enough) killed ??= target.kill();
      return false;
    });
    await killed;
    await target.revive();
    const lost = await countLost(target, acknowledged, log);
    log(`${target.name}: killed after ${acknowledged.size} acknowledged creates, ${lost} of them lost`);
    cases += acknowledged.size;
    violations += lost;
  }
  return {
    promise: `Killed under load: every acknowledged create is stored, ${target.name}`,
    cases,
    violations,
  };
}

/** The database server ends at once under the service, which goes on with the new one. */
async function crashUnderLoad(
  target: DurabilityTarget,
  random: () => number,
  log: Log,
): Promise<PromiseResult> {
  const enough = drawEnough(random);
  let crashed: Promise<void> | null = null;
  let isBack = false;
  let sizeWhenBack = 0;
  const acknowledged = await createUnderLoad(target.create(), ({ size }) => {
    if (size >= enough) {
      crashed ??= (target.crashDatabase as () => Promise<void>)().then(() => {
        isBack = true;
        sizeWhenBack = size;
      });
    }
    return isBack && size > sizeWhenBack + FEWEST;
  });
  await crashed;
  const lost = await countLost(target, acknowledged, log);
  log(
    `${target.name}: ended itself under load, ${acknowledged.size} acknowledged creates, ${lost} of them lost`,
  );
  const promise = `${target.name} itself ended under load: every acknowledged create is stored`;
  return { promise, cases: acknowledged.size, violations: lost };
}

function drawEnough(random: () => number): number {
  return Math.floor(FEWEST * (MOST / FEWEST) ** random());
}

async function countLost(target: DurabilityTarget, acknowledged: Acknowledged, log: Log): Promise<number> {
  const lost = await findLost(target.create(), acknowledged);
  for (const id of lost.slice(0, 5)) log(`broken: ${target.name}: ${id} was acknowledged and is missing`);
  return lost.length;
}

/** Whether what is answered is on the disk before, as the system sees it. */
export async function traceCreates(target: DurabilityTarget, log: Log): Promise<PromiseResult[]> {
  const order = `No create is acknowledged before a sync of the log that contains its row, ${target.name} (system calls)`;
  const count = `At least one sync of the log for each commit, ${target.name} (system calls)`;
  const isSqlite = target.crashDatabase === null;
  const trace = await traceProcesses(await target.processIds());
  if ('unchecked' in trace) {
    log(`${target.name}: system calls not checked: ${trace.unchecked}`);
    const nothing = { cases: 0, violations: 0, unchecked: trace.unchecked };
    return [order, ...(isSqlite ? [count] : [])].map((promise) => ({ promise, ...nothing }));
  }
  const acknowledged = await createUnderLoad(target.create(), ({ size }) => size >= TRACED_CREATES);
  const calls = readSystemCalls(await trace.end());
  const found = judgeTrace(calls, [...acknowledged.keys()], target.isLog);
  // What cannot be followed is no proof, so it counts as a violation.
  const broken = [...found.answeredTooEarly, ...found.notSeen];
  log(
    `${target.name}: ${acknowledged.size} answered creates, ${found.answered} followed in the trace, ` +
      `${found.answeredTooEarly.length} answered too early, ${found.syncs} syncs`,
  );
  const results = [{ promise: order, cases: acknowledged.size, violations: broken.length }];
  if (!isSqlite) return results;
  const commits = countSqliteCommits(calls, target.isLog);
  log(`${target.name}: ${commits} commits, ${found.syncs} syncs`);
  return [...results, { promise: count, cases: commits, violations: Math.max(0, commits - found.syncs) }];
}
