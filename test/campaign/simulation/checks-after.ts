import type { Store } from '../../../src/app/store/store.ts';
import { isDust } from '../../../src/payment/fees-and-paid-threshold.ts';
import type { Payment } from '../../../src/payment/payment.ts';
import { stateOf } from '../../../src/payment/payment-states.ts';
import { MINIMUM_SURPLUS_UNITS } from '../../../src/payment/release-schedule.ts';
import { depositsOf, releasesOf } from './chain-truth.ts';
import { EXPIRY_MS, type SimulatedWorld } from './simulated-world.ts';
import { balanceOf } from './token-state.ts';

/** Judges what is left once faults have stopped and everything has settled. */
export async function checkAfter(world: SimulatedWorld, raw: Store): Promise<void> {
  let feeUnits = 0n;
  for (const { id } of world.payments) {
    const view = await raw.payments.viewPayment(id);
    world.recorder.expect('acknowledged', view !== null, () => `${id} was acknowledged and is gone`);
    if (view === null) continue;
    feeUnits += await checkPayment(world, raw, view.payment, view.observations);
  }
  const atFeeWallet = balanceOf(world.chain.latest.state, world.feeWallet);
  const { recorder } = world;
  recorder.expect('conservation', atFeeWallet === feeUnits, () => `fees ${feeUnits}, wallet ${atFeeWallet}`);
  const open = await raw.relay.listOpenBatches(200);
  recorder.expect('liveness', open.length === 0, () => `${open.length} batches are still in flight`);
}

/** Returns the fees that were paid for it. */
async function checkPayment(
  world: SimulatedWorld,
  raw: Store,
  payment: Payment,
  observations: { readonly deposits: readonly unknown[]; readonly releases: readonly unknown[] },
): Promise<bigint> {
  const { recorder, chain } = world;
  const { id } = payment;
  const deposits = depositsOf(chain, payment);
  const releases = releasesOf(chain, payment);
  const books = asText(observations.deposits, observations.releases);
  const truth = asText(deposits, releases);
  recorder.expect('creditedOnce', books === truth, () => `${id}: the books say ${books}, the chain ${truth}`);

  const deposited = sum(deposits.map(({ units }) => units));
  const forwarded = sum(releases.map(({ toMerchantUnits }) => toMerchantUnits));
  const fees = sum(releases.map((release) => release.feeUnits));
  const held = balanceOf(chain.latest.state, payment.depositAddress);
  const atMerchant = balanceOf(chain.latest.state, payment.payoutAddress);
  recorder.expect(
    'conservation',
    deposited === atMerchant + fees + held && atMerchant === forwarded,
    () =>
      `${id}: ${deposited} deposited, ${atMerchant} at the merchant (${forwarded}), ${fees} fees, ${held} held`,
  );
  checkAmounts(world, payment, releases);
  checkEnd(world, payment, { deposited, held, inTime: depositedInTime(world, payment) });
  await checkWebhooks(world, raw, payment);
  return fees;
}

function asText(deposits: readonly unknown[], releases: readonly unknown[]): string {
  const rows = [...deposits, ...releases] as Record<string, unknown>[];
  const fields = ['blockNumber', 'logIndex', 'transactionHash', 'units', 'toMerchantUnits', 'feeUnits'];
  return rows.map((row) => fields.map((field) => String(row[field] ?? '')).join(' ')).join('\n');
}

function sum(units: readonly bigint[]): bigint {
  return units.reduce((total, one) => total + one, 0n);
}

/** What the payment says it received and forwarded is what some of its releases add up to, the fee rounded down. */
function checkAmounts(
  { recorder }: SimulatedWorld,
  payment: Payment,
  releases: readonly { readonly toMerchantUnits: bigint; readonly feeUnits: bigint }[],
): void {
  if (stateOf(payment) !== 'paid/completed' && stateOf(payment) !== 'canceled/completed') return;
  let sums = [{ received: 0n, forwarded: 0n }];
  for (const { toMerchantUnits, feeUnits } of releases) {
    const added = sums.map(({ received, forwarded }) => ({
      received: received + toMerchantUnits + feeUnits,
      forwarded: forwarded + toMerchantUnits,
    }));
    sums = [...sums, ...added];
  }
  const { id, receivedUnits, forwardedUnits } = payment;
  recorder.expect(
    'conservation',
    sums.some(({ received, forwarded }) => received === receivedUnits && forwarded === forwardedUnits),
    () => `${id}: received ${receivedUnits} and forwarded ${forwardedUnits} is the sum of no releases`,
  );
}

function depositedInTime({ chain }: SimulatedWorld, payment: Payment): bigint {
  const deadlineMs = payment.createdAtMs + EXPIRY_MS;
  return sum(
    depositsOf(chain, payment)
      .filter(({ blockNumber }) => (chain.blocks[blockNumber]?.timestampMs ?? 0) < deadlineMs)
      .map(({ units }) => units),
  );
}

/** Every payment is at the end that its deposits call for. */
function checkEnd(
  { recorder }: SimulatedWorld,
  payment: Payment,
  money: { readonly deposited: bigint; readonly held: bigint; readonly inTime: bigint },
): void {
  const state = stateOf(payment);
  const { deposited, held, inTime } = money;
  const isEnough = deposited >= payment.paidThresholdUnits;
  const story = () =>
    `${payment.id} is ${state} (${payment.cancelReason}) with ${deposited} of ${payment.paidThresholdUnits}, ${held} held, ` +
    `${inTime} in time, batch ${payment.relayBatchId}, due ${payment.releaseDueAtMs}`;
  recorder.expect('liveness', payment.relayBatchId === null && isRightEnd(), story);
  const isWronglyExpired = payment.cancelReason === 'expired' && inTime >= payment.paidThresholdUnits;
  recorder.expect('notEarly', !isWronglyExpired, story);

  function isRightEnd(): boolean {
    if (payment.status === 'paid') return isEnough && held < MINIMUM_SURPLUS_UNITS;
    if (payment.status === 'unpaid') return state === 'unpaid/pending' && !isEnough;
    if (isDust(payment, deposited)) return state === 'canceled/canceled';
    return state === 'canceled/completed' && isDust(payment, held);
  }
}

async function checkWebhooks(world: SimulatedWorld, raw: Store, { id, status }: Payment): Promise<void> {
  const rows = await raw.webhooks.listWebhooks(id);
  const posts = world.posts.get(id) ?? 0;
  const wanted = status === 'paid' ? 1 : 0;
  const ended = rows.every((row) => row.status !== 'pending' && row.status !== 'sending');
  const story = () => `${id} is ${status}: ${posts} POSTs, rows ${rows.map((row) => row.status).join(', ')}`;
  world.recorder.expect('webhookRow', rows.length === wanted && ended, story);
  const isDelivered = rows.some((row) => row.status === 'delivered');
  world.recorder.expect('postedOnce', posts <= rows.length && (!isDelivered || posts === 1), story);
}
