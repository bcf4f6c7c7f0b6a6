import { type KillPoint, killPointNames, killPoints } from '../../support/kill-points/points.ts';
import { createRandom } from '../../support/random.ts';
import { waitFor } from '../../support/wait-for.ts';
import type { PartOptions, PromiseResult } from '../part.ts';
import { type Kill, killOnce } from './kill-once.ts';
import { createKillFindings, type KillFindings } from './promises.ts';
import { type KillStage, openPostgresStage, openSqliteStage } from './stage.ts';

/** After a kill so many further points at most until the second one. */
const LONGEST_RESPITE = 12;
const SHORT_POINTS = 2;

/**
 * Kills processes at named points. The long form: with each engine at every point, and on SQLite at every point once
 * more with a second kill during the recovery. The short form: some points on SQLite.
 */
export async function runKills(options: PartOptions): Promise<PromiseResult[]> {
  const { long, log } = options;
  const random = createRandom(options.seed);
  const findings = createKillFindings(log);
  const once = (point: KillPoint): Kill => ({ point, againAfter: null, random });
  const twice = (point: KillPoint): Kill => ({
    ...once(point),
    againAfter: Math.floor(random() * LONGEST_RESPITE),
  });
  const sqlite = long
    ? [...killPointNames.map(once), ...killPointNames.map(twice)]
    : drawQuickPoints(random).map(once);
  await play(await openSqliteStage(), sqlite, findings, log);
  if (long) await play(await openPostgresStage(), killPointNames.map(once), findings, log);
  return findings.results();
}

/** Different points that are reached soon. */
function drawQuickPoints(random: () => number): KillPoint[] {
  const quick = killPointNames.filter((point) => !point.startsWith('higher fees'));
  return Array.from({ length: SHORT_POINTS }, () => {
    const [drawn] = quick.splice(Math.floor(random() * quick.length), 1);
    return drawn as KillPoint;
  });
}

async function play(
  stage: KillStage,
  kills: readonly Kill[],
  findings: KillFindings,
  log: (line: string) => void,
): Promise<void> {
  /** Of webhooks that were cut off, and that are waited for together. */
  const judgements: (() => Promise<void>)[] = [];
  try {
    for (const kill of kills) {
      const startedAtMs = performance.now();
      const judge = await killOnce(stage, kill, findings);
      if (killPoints[kill.point].outcome !== 'delivered') judgements.push(judge);
      else await judge();
      const again = kill.againAfter === null ? '' : ` + ${kill.againAfter}`;
      log(
        `${stage.name}: ${kill.point}${again}: ${Math.round((performance.now() - startedAtMs) / 100) / 10} s`,
      );
    }
    for (const judge of judgements) await judge();
    const report = await verifyWhenScanned(stage);
    findings.expect(
      'verified',
      report.discrepancies.length === 0,
      () => `${stage.name}: ${JSON.stringify(report)}`,
    );
  } finally {
    await stage.stop();
  }
}

/** Until a restarted service has scanned a block, the block that it scanned last is one whose state the chain lost. */
const SCANNED_MS = 30_000;

function verifyWhenScanned(stage: KillStage): Promise<{ readonly discrepancies: readonly unknown[] }> {
  return waitFor('a block that was scanned since the restart', SCANNED_MS, async () => {
    try {
      return (await stage.operate('verify', {})) as { readonly discrepancies: readonly unknown[] };
    } catch (error) {
      if (String(error).includes('The chain cannot be read')) return undefined;
      throw error;
    }
  });
}
