import { startPostgres } from '../../support/postgres.ts';
import { createRandom } from '../../support/random.ts';
import type { PartOptions, PromiseResult } from '../part.ts';
import { addChannels } from './channels.ts';
import { createTally, type Tally } from './promises.ts';
import { searchFailedStarts, searchPlaces } from './search-places.ts';
import { openStage, type Stage } from './stage.ts';
import { checkDeadKeys, checkForeignIdempotency, checkForeignIds } from './tenancy.ts';
import { measureTiming } from './timing.ts';
import { meetUnreadableRow } from './unreadable-row.ts';
import { letOthersQuote, payToTheEnd, walkAnswers } from './walk.ts';

/**
 * Tenancy and secrets, on a real service in live mode of which every secret is a canary. The long form does it on both
 * engines, and measures how long answers take.
 */
export async function runSecrets(options: PartOptions): Promise<PromiseResult[]> {
  const { seed, long, log } = options;
  const random = createRandom(seed);
  const tally = createTally((line) => log(`seed ${seed} ${line}`));
  await onStage({ random, tally, databaseUrl: null }, (stage) =>
    walk(stage, { long, databaseUrl: null, log }),
  );
  if (!long) {
    tally.leaveOut('timing', 'measured in the long form only');
    return tally.rows();
  }
  const postgres = await startPostgres();
  try {
    const databaseUrl = await postgres.createDatabase();
    await onStage({ random, tally, databaseUrl }, (stage) => walk(stage, { long, databaseUrl, log }));
  } finally {
    await postgres.stop();
  }
  return tally.rows();
}

async function onStage(
  options: { random: () => number; tally: Tally; databaseUrl: string | null },
  act: (stage: Stage) => Promise<void>,
): Promise<void> {
  const stage = await openStage(options);
  try {
    await act(stage);
  } finally {
    await stage.stop();
  }
}

async function walk(
  stage: Stage,
  { long, databaseUrl, log }: { long: boolean; databaseUrl: string | null; log: (line: string) => void },
): Promise<void> {
  const asking = await stage.addMerchant('Asking shop');
  const owner = await stage.addMerchant('Owning shop');
  const own = await stage.create(asking);
  const unpaid = await stage.create(owner);
  const canceled = await stage.create(owner);
  await stage.command('payment cancel', { payment: canceled.payment_id });
  // Takes its time on the chain; the rest goes on meanwhile.
  const paying = payToTheEnd(stage, owner, 'delivered');
  const payingInSilence = payToTheEnd(stage, owner, 'failed');
  const failing = searchFailedStarts(stage, { long });
  await Promise.all([
    failing,
    paying,
    payingInSilence,
    (async () => {
      await checkForeignIds(stage, { asking, owner }, [unpaid, canceled], own);
      await checkDeadKeys(stage, owner, own);
      await checkForeignIdempotency(stage, { asking, owner });
      await walkAnswers(stage, asking, own);
      await addChannels(stage, owner);
    })(),
  ]);
  await checkForeignIds(stage, { asking, owner }, [await paying], own);
  if (long) await measureTiming(stage, asking, databaseUrl === null ? 'SQLite' : 'PostgreSQL', log);
  await letOthersQuote(stage);
  await meetUnreadableRow(stage, { asking, owner }, databaseUrl);
  await searchPlaces(stage, owner, databaseUrl);
}
