import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { checksumAddress } from '../../../src/payment/address.ts';
import { isWithHigherFees, type KillPoint, killPoints } from '../../support/kill-points/points.ts';
import { waitFor } from '../../support/wait-for.ts';
import { startCustomer } from './customer.ts';
import type { KillFindings } from './promises.ts';
import type { KillStage } from './stage.ts';

const RECOVERY_MS = 30_000;
/** From the create to the point; higher fees are paid only after some time. */
const REACH_MS = 75_000;
/** From the last answer that was looked at to the webhook's outcome. */
const WEBHOOK_MS = 15_000;

/** Between two looks at whether a process was killed once more. */
const RETRY_INTERVAL_MS = 100;
/** How much of what a process printed is shown of a payment that was not paid. */
const MAXIMUM_OUTPUT = 4_000;

interface Shown {
  readonly payment_id: string;
  readonly payout_address: string;
  readonly forwarded_amount: string;
  readonly deposits: readonly { readonly amount: string }[];
  readonly releases: readonly { readonly to_merchant: string; readonly fee: string }[];
  readonly webhooks: readonly { readonly status: string }[];
}

/** One payment during which a process is killed. */
export interface Kill {
  readonly point: KillPoint;
  /** Kills once more while that is recovered from: after so many further points. Null: never. */
  readonly againAfter: number | null;
  readonly random: () => number;
}

/**
 * Takes one payment through its life with a kill. Returns what judges what has become of it; where a webhook was cut off
 * that may take minutes, in which others can be killed.
 */
export async function killOnce(
  stage: KillStage,
  kill: Kill,
  findings: KillFindings,
): Promise<() => Promise<void>> {
  const { point, againAfter, random } = kill;
  const { control } = stage;
  const merchant = randomAddress(random);
  const where = `${stage.name}, killed at "${point}"${againAfter === null ? '' : ` and ${againAfter} points later`}`;
  const customer = startCustomer(stage, merchant, randomUUID());
  if (isWithHigherFees(point)) control.holdBroadcasts();
  control.arm(point);
  const isReached = await untilKilled(stage);
  findings.expect('reached', isReached, () => where);
  let killedAtMs = performance.now();
  control.disarm();
  if (isReached && againAfter !== null) control.arm(againAfter);
  let isKilledAgain = false;
  let isPriceHigh = isWithHigherFees(point);
  await untilOver(customer.paid, async () => {
    if (!isKilledAgain && againAfter !== null && control.reached() !== null) {
      isKilledAgain = true;
      killedAtMs = performance.now();
    }
    if (stage.isKilled()) await reviveWhatever(stage, againAfter !== null);
    // Else the sandbox, which mines when something can be mined, would wait for the price to fall by itself.
    if (isPriceHigh)
      isPriceHigh = await stage.setGasPrice('usual').then(
        () => false,
        () => true,
      );
  });

  const id = await customer.paid.catch((error: unknown) => {
    const lastWords = stage.output().slice(-MAXIMUM_OUTPUT);
    findings.expect('recovered', false, () => `${where}: ${String(error)}\n${lastWords}`);
    return null;
  });
  control.disarm();
  if (id === null) return async () => {};
  const paidAfterMs = performance.now() - killedAtMs;
  await waitFor('a process that answers', RECOVERY_MS, () => isComplete(stage, id));
  return () => judge(stage, kill, findings, { id, merchant, where, customer, paidAfterMs });
}

/** Does something again and again until a promise is settled, which has a bound of its own. */
async function untilOver(promise: Promise<unknown>, act: () => Promise<void>): Promise<void> {
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  promise.then(end, end);
  while (!isOver) {
    await act();
    await Promise.race([promise.catch(() => {}), delay(RETRY_INTERVAL_MS)]);
  }
}

async function untilKilled(stage: KillStage): Promise<boolean> {
  let isRaised = false;
  try {
    await waitFor('the kill', REACH_MS, async () => {
      if (!isRaised && stage.control.hasHeld()) {
        isRaised = true;
        await stage.setGasPrice('high');
      }
      return stage.isKilled();
    });
    return true;
  } catch {
    return false;
  }
}

/** Starts what was killed. A second kill may come before it is ready, and then the caller sees that it is gone. */
async function reviveWhatever(stage: KillStage, mayBeKilled: boolean): Promise<void> {
  try {
    await stage.revive();
  } catch (error) {
    if (!mayBeKilled || stage.control.reached() === null) throw error;
  }
}

/** Whether all processes run and one answers: one that was killed a moment ago is not known to be gone yet. */
async function isComplete(stage: KillStage, id: string): Promise<boolean> {
  await stage.complete();
  return stage.operate('payment show', { payment: id }).then(
    () => true,
    () => false,
  );
}

interface Ended {
  readonly id: string;
  readonly merchant: string;
  readonly where: string;
  readonly customer: ReturnType<typeof startCustomer>;
  readonly paidAfterMs: number;
}

async function judge(stage: KillStage, kill: Kill, findings: KillFindings, ended: Ended): Promise<void> {
  const { id, merchant, where, customer } = ended;
  const show = async () => (await stage.operate('payment show', { payment: id })) as Shown;
  const isCutOff = killPoints[kill.point].outcome !== 'delivered';
  const mayBeStale = isCutOff || kill.againAfter !== null;
  const shown = await waitFor(
    'the outcome of its webhook',
    mayBeStale ? stage.staleWebhookMs : WEBHOOK_MS,
    async () => {
      const now = await show();
      return now.webhooks.every(({ status }) => !['pending', 'sending'].includes(status)) && now;
    },
  ).catch(show);

  findings.expect(
    'recovered',
    ended.paidAfterMs <= RECOVERY_MS,
    () => `${where}: after ${ended.paidAfterMs} ms`,
  );
  await customer.create();
  const payments = ((await stage.operate('payment list', {})) as Shown[]).filter(
    ({ payout_address: address }) => address === merchant,
  );
  findings.expect(
    'created',
    customer.acknowledged.size === 1 && customer.timesMissing() === 0 && payments.length === 1,
    () => `${where}: acknowledged ${[...customer.acknowledged]}, there are ${payments.length}`,
  );
  const balance = await stage.readBalance(merchant);
  findings.expect(
    'paidOnce',
    isPaidOnce(shown, balance, customer.timesPaid()),
    () => `${where}: ${balance} units, ${JSON.stringify(shown)}`,
  );
  const posts = stage.receiver.received.filter(({ rawBody }) => rawBody.includes(id)).length;
  findings.expect(
    'oneWebhook',
    isOneWebhook(shown, posts, kill),
    () => `${where}: ${posts} POSTs, ${JSON.stringify(shown.webhooks)}`,
  );
}

/** Whoever pays twice, cut off at the provider, has sent twice as much: one release of both or one of each then. */
function isPaidOnce({ deposits, releases, ...shown }: Shown, balance: bigint, timesPaid: number): boolean {
  return (
    isFromTo(1, deposits.length, timesPaid) &&
    isFromTo(1, releases.length, deposits.length) &&
    sumOf(releases.map((release) => release.to_merchant)) === balance &&
    unitsOf(shown.forwarded_amount) === balance &&
    sumOf(deposits.map(({ amount }) => amount)) === balance + sumOf(releases.map(({ fee }) => fee))
  );
}

function isFromTo(least: number, value: number, most: number): boolean {
  return least <= value && value <= most;
}

function sumOf(amounts: readonly string[]): bigint {
  return amounts.reduce((sum, amount) => sum + unitsOf(amount), 0n);
}

/** After one kill the outcome is known in advance; a second one may cut off a delivery that the first one had not. */
function isOneWebhook({ webhooks }: Shown, posts: number, { point, againAfter }: Kill): boolean {
  const expected = killPoints[point];
  const status = webhooks[0]?.status;
  if (webhooks.length !== 1) return false;
  if (againAfter === null && expected.outcome !== 'either')
    return status === expected.outcome && posts === expected.posts;
  return status === 'delivered' ? posts === 1 : status === 'unknown' && posts <= 1;
}

/** 10⁻⁶ units of an amount as it is printed. */
function unitsOf(amount: string): bigint {
  const [whole = '', fraction = ''] = amount.split('.');
  return BigInt(whole) * 1_000_000n + BigInt(fraction.padEnd(6, '0'));
}

function randomAddress(random: () => number): string {
  return checksumAddress(
    Array.from({ length: 20 }, () =>
      Math.floor(random() * 256)
        .toString(16)
        .padStart(2, '0'),
    ).join(''),
  );
}
