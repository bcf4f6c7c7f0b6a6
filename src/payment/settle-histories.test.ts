import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CREATED_MS, deposit, direct, payment, release } from '../../test/support/payment-views.ts';
import type { Deposit, Payment, PaymentChange, Release } from './payment.ts';
import {
  fieldsOf,
  nextState,
  type PaymentState,
  paymentStates,
  paymentTransitions,
  stateOf,
} from './payment-states.ts';
import type { PaymentDecision, PaymentView } from './payment-store.ts';
import { MINIMUM_SURPLUS_UNITS } from './release-schedule.ts';
import { refuseRelease, type SettleContext, settle, sumObservations } from './settle.ts';

/** Number of histories, enough to reach every state. `npm run test:all` sets more. */
const RUNS = Number(process.env['SETTLE_HISTORIES'] ?? 1_000);

/** Event on the chain or in the service that affects a payment. */
type Command =
  | { readonly kind: 'deposit'; readonly units: number }
  | { readonly kind: 'release' }
  | { readonly kind: 'mine'; readonly blocks: number }
  | { readonly kind: 'finalize'; readonly blocks: number }
  | { readonly kind: 'reorganize'; readonly depth: number }
  | { readonly kind: 'openBatch' }
  | { readonly kind: 'closeBatch' }
  | { readonly kind: 'refuse' }
  | { readonly kind: 'cancel' }
  | { readonly kind: 'requestRelease' }
  | { readonly kind: 'expire' }
  | { readonly kind: 'rewind' };

const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('deposit' as const),
      units: fc.constantFrom(1, 40, 60, 99, 100, 101, Number(MINIMUM_SURPLUS_UNITS)),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('release' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('mine' as const), blocks: fc.integer({ min: 1, max: 4 }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('finalize' as const), blocks: fc.integer({ min: 1, max: 6 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('reorganize' as const), depth: fc.integer({ min: 1, max: 8 }) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('openBatch' as const, 'closeBatch' as const) }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constantFrom('refuse' as const, 'requestRelease' as const) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constantFrom('cancel' as const, 'expire' as const, 'rewind' as const) }),
  },
);

/** Model of a payment on a chain that mines, reorganizes and finalizes. Each command ends with a decision. */
class Model {
  payment: Payment;
  readonly isDirect: boolean;
  deposits: Deposit[] = [];
  releases: Release[] = [];
  head = 0;
  finalBlock = 0;
  nowMs = CREATED_MS;
  expiredBeforeMs: number | undefined = undefined;
  webhooks: string[] = [];
  readonly visited = new Set<PaymentState>(['unpaid/pending']);

  constructor(isDirect = false) {
    this.isDirect = isDirect;
    this.payment = isDirect ? direct('unpaid/pending') : payment('unpaid/pending');
  }

  get view(): PaymentView {
    const rows = { deposits: this.deposits, releases: this.releases, finalBlock: this.finalBlock };
    return { payment: this.payment, observations: rows, sessions: [] };
  }

  get context(): SettleContext {
    return { nowMs: this.nowMs, expiredBeforeMs: this.expiredBeforeMs };
  }

  /** Runs a command. Returns false if the command is impossible in the current state. */
  run(step: Command): boolean {
    this.nowMs += 1_000;
    switch (step.kind) {
      case 'deposit':
        this.deposits = [...this.deposits, deposit(BigInt(step.units), ++this.head)];
        return this.decide();
      case 'release': {
        const { heldUnits } = sumObservations(this.view.observations);
        if (heldUnits === 0n) return false;
        this.releases = [...this.releases, release(heldUnits, ++this.head)];
        return this.decide();
      }
      case 'mine':
        this.head += step.blocks;
        return this.decide();
      case 'finalize':
        this.finalBlock = Math.min(this.head, this.finalBlock + step.blocks);
        return this.decide();
      case 'reorganize':
        this.forgetAbove(Math.max(this.finalBlock, this.head - step.depth));
        return this.decide();
      case 'rewind':
        this.finalBlock = Math.max(0, this.finalBlock - 5);
        this.forgetAbove(this.finalBlock);
        return this.decide();
      case 'openBatch':
        if (this.payment.releaseDueAtMs === null) return false;
        this.payment = { ...this.payment, relayBatchId: 1 };
        return this.decide({ releaseRefusals: 0, releaseRefusalReason: null });
      case 'closeBatch':
        if (this.payment.relayBatchId === null) return false;
        this.payment = { ...this.payment, relayBatchId: null };
        return this.decide({
          releaseDueAtMs: this.nowMs + 10_000,
          noOpBatches: this.payment.noOpBatches + 1,
        });
      case 'refuse':
        if (this.payment.releaseDueAtMs === null) return false;
        return this.take(refuseRelease(this.view, this.context, 'blocklisted'));
      case 'cancel':
        if (stateOf(this.payment) !== 'unpaid/pending' || this.deposits.length > 0) return false;
        return this.decide({
          ...fieldsOf(nextState('unpaid/pending', 'canceled_by_request')),
          cancelReason: 'merchant',
        });
      case 'requestRelease':
        if (
          sumObservations(this.view.observations).heldUnits === 0n ||
          stateOf(this.payment) === 'unpaid/pending'
        )
          return false;
        return this.decide({
          releaseRequested: true,
          releaseRefusals: 0,
          releaseRefusalReason: null,
          releaseDueAtMs: this.nowMs,
        });
      case 'expire':
        this.expiredBeforeMs = CREATED_MS + 1;
        return this.decide();
    }
  }

  forgetAbove(block: number): void {
    this.deposits = this.deposits.filter(({ blockNumber }) => blockNumber <= block);
    this.releases = this.releases.filter(({ blockNumber }) => blockNumber <= block);
  }

  decide(change?: PaymentChange): boolean {
    return this.take(settle(this.view, this.context, change));
  }

  take(decision: PaymentDecision | null): boolean {
    const before = this.payment;
    this.payment = { ...before, ...decision?.change };
    for (const { event } of decision?.webhooks ?? []) this.webhooks.push(event);
    this.visited.add(stateOf(this.payment));
    if (this.isDirect) this.checkDirect(before);
    else this.check(before, decision);
    return true;
  }

  check(before: Payment, decision: PaymentDecision | null): void {
    const now = this.payment;
    const sums = sumObservations(this.view.observations);
    expect(isReachable(stateOf(before), stateOf(now))).toBe(true);
    // The payment becomes paid exactly when final releases suffice, and the same decision queues the webhook.
    const becamePaid = before.status !== 'paid' && now.status === 'paid';
    expect(decision?.webhooks !== undefined).toBe(becamePaid);
    expect(decision?.receipt).toBe(becamePaid && now.email !== null ? true : undefined);
    expect(this.webhooks).toEqual(now.status === 'paid' ? ['payment.paid'] : []);
    const isSettled =
      sums.finalReleasedUnits >= now.paidThresholdUnits && sums.finalSeenUnits >= now.paidThresholdUnits;
    if (now.status === 'unpaid') expect(isSettled).toBe(false);
    if (becamePaid) {
      expect(sums.finalReleasedUnits >= now.paidThresholdUnits).toBe(true);
      expect(now).toMatchObject({
        receivedUnits: sums.finalReleasedUnits,
        forwardedUnits: sums.finalToMerchantUnits,
        paidAtMs: this.nowMs,
      });
    }
    if (before.status === 'paid') {
      const { releaseDueAtMs, releaseRefusals, releaseRefusalReason, relayBatchId } = now;
      const { noOpBatches, releaseRequested, amountMismatch } = now;
      const release = { releaseDueAtMs, releaseRefusals, releaseRefusalReason, noOpBatches };
      expect(now).toEqual({ ...before, ...release, relayBatchId, releaseRequested, amountMismatch });
    } else if (now.status !== 'paid' && now.txidOut === null) {
      // Until then, the payment shows what the current chain contains.
      expect(now.receivedUnits).toBe(sums.seenUnits);
      expect(now.txidIn === null).toBe(this.view.observations.deposits.length === 0);
    }
    if (now.status !== 'paid') expect(now.paidAtMs).toBeNull();
    expect(now.forwardedUnits <= now.receivedUnits).toBe(true);
    this.checkDue(sums.heldUnits);
    // A second decision on the same observations changes nothing.
    expect(settle(this.view, this.context)).toBeNull();
  }

  checkDirect(before: Payment): void {
    const now = this.payment;
    const sums = sumObservations(this.view.observations);
    const isCompleted = now.status === 'paid' && now.forwardStatus === 'completed';
    expect(isReachable(stateOf(before), stateOf(now))).toBe(true);
    // Each webhook is queued once, the second only after the first.
    const events = ['payment.paid', 'payment.forwarded'];
    const due = isCompleted ? 2 : 1;
    expect(this.webhooks).toEqual(now.status === 'paid' ? events.slice(0, due) : []);
    if (now.status === 'unpaid') {
      expect(now.forwardStatus).toBe('pending');
      expect(sums.finalSeenUnits < now.paidThresholdUnits).toBe(true);
      // Deposits that are not final must not be released.
      expect(now.releaseDueAtMs).toBeNull();
    }
    if (before.status !== 'paid' && now.status === 'paid') {
      expect(now.receivedUnits >= now.paidThresholdUnits && now.receivedUnits <= sums.finalSeenUnits).toBe(
        true,
      );
      expect(now).toMatchObject({ paidAtMs: this.nowMs, txidIn: expect.any(String) });
    }
    if (before.status === 'paid') {
      expect(now).toMatchObject({ status: 'paid', paidAtMs: before.paidAtMs, txidIn: before.txidIn });
      if (before.forwardStatus === 'completed') expect(now.forwardStatus).toBe('completed');
    }
    if (isCompleted && before.forwardStatus !== 'completed') {
      expect(now).toMatchObject({
        receivedUnits: sums.finalReleasedUnits,
        forwardedUnits: sums.finalToMerchantUnits,
        txidOut: expect.any(String),
      });
    } else if (now.status === 'paid' && !isCompleted) {
      expect(now).toMatchObject({ forwardedUnits: 0n, txidOut: null });
      if (sums.heldUnits > 0n && now.relayBatchId === null) expect(now.releaseDueAtMs).not.toBeNull();
    }
    expect(settle(this.view, this.context)).toBeNull();
  }

  checkDue(heldUnits: bigint): void {
    const { status, forwardStatus, releaseRequested, relayBatchId, releaseDueAtMs } = this.payment;
    const isSurplus = status === 'paid' && heldUnits >= MINIMUM_SURPLUS_UNITS;
    const mayRelease = status === 'unpaid' ? forwardStatus !== 'pending' : isSurplus || releaseRequested;
    const isDue = heldUnits > 0n && mayRelease && relayBatchId === null;
    expect(releaseDueAtMs !== null).toBe(isDue);
  }
}

/** Returns whether any number of transitions, including none, leads from one state to another. */
function isReachable(from: PaymentState, to: PaymentState): boolean {
  const reached = new Set([from]);
  for (const state of reached) {
    for (const row of paymentTransitions) if (row.from === state) reached.add(row.to);
  }
  return reached.has(to);
}

describe('whatever happens to a payment', () => {
  /** Runs many histories and returns the states that occurred. */
  function visit(isDirect: boolean, numRuns: number): PaymentState[] {
    const visited = new Set<PaymentState>();
    fc.assert(
      // Lists of the default `size` are mostly too short for several refusals in a row.
      fc.property(fc.array(command, { minLength: 1, maxLength: 40, size: 'max' }), (commands) => {
        const model = new Model(isDirect);
        for (const step of commands) model.run(step);
        for (const state of model.visited) visited.add(state);
      }),
      { numRuns },
    );
    return [...visited].sort();
  }
  const all = Object.keys(paymentStates).sort() as PaymentState[];
  const before = (state: PaymentState) => /^unpaid.(ready|processing|failed|manual_required)$/.test(state);
  const after = (state: PaymentState) => /^paid.(ready|processing|failed|manual_required)$/.test(state);

  it('by card moves it along the table, makes it paid at most once, and loses no unit', () => {
    expect(visit(false, RUNS)).toEqual(all.filter((state) => !after(state)));
  }, 120_000);

  it('from a wallet makes it paid at finality and forwarded after it, each told once', () => {
    expect(visit(true, RUNS)).toEqual(all.filter((state) => !before(state)));
  }, 120_000);
});
