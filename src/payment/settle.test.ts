import { describe, expect, it } from 'vitest';
import {
  applied,
  CREATED_MS,
  deposit,
  direct,
  ENOUGH,
  observations,
  payment,
  release,
  view,
} from '../../test/support/payment-views.ts';
import { UnknownStateError } from './errors.ts';
import type { Deposit, Payment, PaymentChange } from './payment.ts';
import { fieldsOf, nextState, type PaymentState, paymentTransitions, stateOf } from './payment-states.ts';
import type { PaymentView } from './payment-store.ts';
import { isOver, MINIMUM_SURPLUS_UNITS } from './release-schedule.ts';
import { QUICK_RELEASE_TRIES, refuseRelease, type SettleContext, settle, sumObservations } from './settle.ts';

const CENT = 10_000n;

const open: SettleContext = { nowMs: CREATED_MS + 1_000 };
const past: SettleContext = { nowMs: CREATED_MS + 2_000, expiredBeforeMs: CREATED_MS + 1 };

interface Case {
  readonly view: PaymentView;
  readonly context?: SettleContext;
  readonly change?: PaymentChange;
}

const enoughSeen = observations([deposit(100n, 11)]);
const finalDeposit = observations([deposit(100n, 5)]);
const releasedFinally = observations([deposit(100n, 5)], [release(100n, 9)]);
const refused = { releaseRefusals: 1, releaseRefusalReason: 'blocklisted' };
const abandoned = { ...refused, releaseRefusals: QUICK_RELEASE_TRIES };

/** One case for each transition, by state and event. */
const cases: Record<string, Case> = {
  'unpaid/pending threshold_reached': { view: view(payment('unpaid/pending'), enoughSeen) },
  'unpaid/pending expired_empty': { view: view(payment('unpaid/pending')), context: past },
  'unpaid/pending expired_underpaid': {
    view: view(
      payment('unpaid/pending', { paidThresholdUnits: CENT + 1n }),
      observations([deposit(CENT, 11)]),
    ),
    context: past,
  },
  'unpaid/pending canceled_by_request': {
    view: view(payment('unpaid/pending')),
    change: { ...fieldsOf(nextState('unpaid/pending', 'canceled_by_request')), cancelReason: 'merchant' },
  },
  'unpaid/pending released_finally': { view: view(payment('unpaid/pending'), releasedFinally) },

  'unpaid/ready release_sent': {
    view: view(payment('unpaid/ready'), enoughSeen),
    change: { relayBatchId: 1 },
  },
  'unpaid/ready release_refused': { view: view(payment('unpaid/ready'), enoughSeen), change: refused },
  'unpaid/ready deposit_reverted': { view: view(payment('unpaid/ready'), observations([deposit(99n, 11)])) },
  'unpaid/ready released_finally': { view: view(payment('unpaid/ready'), releasedFinally) },

  'unpaid/processing release_dropped': { view: view(payment('unpaid/processing'), enoughSeen) },
  'unpaid/processing deposit_reverted': { view: view(payment('unpaid/processing', { relayBatchId: 1 })) },
  'unpaid/processing released_finally': {
    view: view(payment('unpaid/processing', { relayBatchId: 1 }), releasedFinally),
  },

  'unpaid/failed release_sent': {
    view: view(payment('unpaid/failed', refused), enoughSeen),
    change: { relayBatchId: 1, releaseRefusals: 0, releaseRefusalReason: null },
  },
  'unpaid/failed release_possible': {
    view: view(payment('unpaid/failed', refused), enoughSeen),
    change: { releaseRefusals: 0, releaseRefusalReason: null },
  },
  'unpaid/failed release_abandoned': {
    view: view(payment('unpaid/failed', refused), enoughSeen),
    change: abandoned,
  },
  'unpaid/failed deposit_reverted': { view: view(payment('unpaid/failed', refused)) },
  'unpaid/failed released_finally': { view: view(payment('unpaid/failed', refused), releasedFinally) },

  'unpaid/manual_required release_sent': {
    view: view(
      payment('unpaid/manual_required', abandoned),
      observations([deposit(100n, 5)], [release(100n, 11)]),
    ),
  },
  'unpaid/manual_required release_possible': {
    view: view(payment('unpaid/manual_required', abandoned), enoughSeen),
    change: { releaseRefusals: 0 },
  },
  'unpaid/manual_required deposit_reverted': { view: view(payment('unpaid/manual_required', abandoned)) },
  'unpaid/manual_required released_finally': {
    view: view(payment('unpaid/manual_required', abandoned), releasedFinally),
  },

  'unpaid/pending deposit_final': { view: view(direct('unpaid/pending'), finalDeposit) },
  'paid/ready release_sent': { view: view(direct('paid/ready'), finalDeposit), change: { relayBatchId: 1 } },
  'paid/ready release_refused': { view: view(direct('paid/ready'), finalDeposit), change: refused },
  'paid/ready released_finally': { view: view(direct('paid/ready'), releasedFinally) },
  'paid/processing release_dropped': { view: view(direct('paid/processing'), finalDeposit) },
  'paid/processing released_finally': {
    view: view(direct('paid/processing', { relayBatchId: 1 }), releasedFinally),
  },
  'paid/failed release_sent': {
    view: view(direct('paid/failed', refused), finalDeposit),
    change: { relayBatchId: 1, releaseRefusals: 0, releaseRefusalReason: null },
  },
  'paid/failed release_possible': {
    view: view(direct('paid/failed', refused), finalDeposit),
    change: { releaseRefusals: 0, releaseRefusalReason: null },
  },
  'paid/failed release_abandoned': {
    view: view(direct('paid/failed', refused), finalDeposit),
    change: abandoned,
  },
  'paid/failed released_finally': { view: view(direct('paid/failed', refused), releasedFinally) },
  'paid/manual_required release_sent': {
    view: view(
      direct('paid/manual_required', abandoned),
      observations([deposit(100n, 5)], [release(100n, 11)]),
    ),
  },
  'paid/manual_required release_possible': {
    view: view(direct('paid/manual_required', abandoned), finalDeposit),
    change: { releaseRefusals: 0 },
  },
  'paid/manual_required released_finally': {
    view: view(direct('paid/manual_required', abandoned), releasedFinally),
  },

  'canceled/canceled deposit_after_cancel': {
    view: view(payment('canceled/canceled'), observations([deposit(100n, 11)])),
  },
  'canceled/manual_required deposit_reverted': { view: view(payment('canceled/manual_required')) },
  'canceled/manual_required released_finally': {
    view: view(payment('canceled/manual_required'), observations([deposit(100n, 5)], [release(100n, 9)])),
  },
  'canceled/completed deposit_after_cancel': {
    view: view(
      payment('canceled/completed', { receivedUnits: 100n }),
      observations([deposit(100n, 5), deposit(100n, 11)], [release(100n, 9)]),
    ),
  },
};

describe('each row of the state table', () => {
  it('has a case here', () => {
    expect(Object.keys(cases).sort()).toEqual(
      paymentTransitions.map(({ from, event }) => `${from} ${event}`).sort(),
    );
  });

  it.each(paymentTransitions)('$from, $event → $to', ({ from, event, to }) => {
    const { view: before, context = open, change } = cases[`${from} ${event}`] as Case;
    expect(stateOf(before.payment)).toBe(from);
    const decision = settle(before, context, change);
    const result = applied(before, decision);
    expect(stateOf(result)).toBe(to);
    const becamePaid = from.startsWith('unpaid') && to.startsWith('paid');
    const isForwarded = from.startsWith('paid') && to === 'paid/completed';
    expect(decision?.webhooks?.map((webhook) => webhook.event) ?? []).toEqual([
      ...(becamePaid ? ['payment.paid'] : []),
      ...(isForwarded ? ['payment.forwarded'] : []),
    ]);
    if (becamePaid) expect(result.paidAtMs).toBe(open.nowMs);
    if (event.startsWith('expired')) expect(result.cancelReason).toBe('expired');
    if (event === 'deposit_reverted')
      expect(result).toMatchObject({ releaseRefusals: 0, releaseRefusalReason: null });
    // A second decision on the same observations changes nothing.
    expect(settle({ ...before, payment: result }, context)).toBeNull();
  });
});

describe('a payment that becomes paid', () => {
  it('names the deposit that reached the paid threshold, and the last final release', () => {
    const rows = observations(
      [deposit(60n, 1), deposit(39n, 2), deposit(1n, 3), deposit(5n, 4)],
      [release(60n, 5), release(45n, 9)],
    );
    const before = view(payment('unpaid/processing'), rows);
    const decision = settle(before, open);
    expect(applied(before, decision)).toMatchObject({
      txidIn: 'in 3',
      txidOut: 'out 9',
      receivedUnits: 105n,
      forwardedUnits: 103n,
    });
    expect(decision?.webhooks?.[0]?.fields).toMatchObject({ txidIn: 'in 3', txidOut: 'out 9' });
  });

  it('counts final releases only, and leaves the others to its observations', () => {
    const rows = observations([deposit(100n, 1), deposit(50n, 10)], [release(100n, 10), release(50n, 11)]);
    const before = view(payment('unpaid/processing'), rows);
    expect(applied(before, settle(before, open))).toMatchObject({ receivedUnits: 100n, txidOut: 'out 10' });
  });

  it('is not paid by releases that are final but a unit short', () => {
    const before = view(payment('unpaid/processing'), observations([deposit(100n, 1)], [release(99n, 2)]));
    expect(applied(before, settle(before, open)).status).toBe('unpaid');
  });

  it('is paid though its deadline passed in the same pass', () => {
    const before = view(payment('unpaid/pending'), releasedFinally);
    expect(applied(before, settle(before, past)).status).toBe('paid');
  });
});

describe('the deadline', () => {
  it.each([
    { expiredBeforeMs: CREATED_MS, status: 'unpaid' },
    { expiredBeforeMs: CREATED_MS + 1, status: 'canceled' },
  ])('expires what was created before it, to the millisecond ($status)', ({ expiredBeforeMs, status }) => {
    const before = view(payment('unpaid/pending'));
    expect(applied(before, settle(before, { ...open, expiredBeforeMs })).status).toBe(status);
  });

  it.each(['unpaid/ready', 'unpaid/processing', 'unpaid/failed', 'unpaid/manual_required'] as const)(
    'passes %s by while enough is seen',
    (state) => {
      const refusals = { 'unpaid/failed': refused, 'unpaid/manual_required': abandoned };
      const change = {
        ...refusals[state as keyof typeof refusals],
        ...(state === 'unpaid/processing' && { relayBatchId: 1 }),
      };
      const before = view(payment(state, change), enoughSeen);
      expect(stateOf(applied(before, settle(before, past)))).toBe(state);
    },
  );
});

describe('a refused release', () => {
  it('is tried again after half a minute, two, ten, and then every hour', () => {
    let before = view(payment('unpaid/ready', { releaseDueAtMs: 0 }), enoughSeen);
    const delays: number[] = [];
    for (let refusal = 0; refusal < 6; refusal++) {
      const result = applied(before, refuseRelease(before, open, 'paused'));
      delays.push((result.releaseDueAtMs as number) - open.nowMs);
      before = { ...before, payment: result };
    }
    expect(delays).toEqual([30_000, 120_000, 600_000, 3_600_000, 3_600_000, 3_600_000]);
    expect(before.payment).toMatchObject({
      forwardStatus: 'manual_required',
      releaseRefusalReason: 'paused',
    });
  });

  it('of a canceled payment stays with the hand that asked for it', () => {
    const asked = payment('canceled/manual_required', { releaseRequested: true, releaseDueAtMs: 0 });
    const before = view(asked, observations([deposit(ENOUGH, 5)]));
    const result = applied(before, refuseRelease(before, open, 'paused'));
    expect(result).toMatchObject({
      ...fieldsOf('canceled/manual_required'),
      releaseRequested: true,
      releaseRefusals: 1,
    });
  });
});

it('a requested release is forgotten when the chain takes the deposit back: a later one waits for its merchant', () => {
  const requested = payment('unpaid/ready', { releaseRequested: true, releaseDueAtMs: 0 });
  const before = view(requested, observations([deposit(5n, 11)]));
  const result = applied(before, settle(before, open));
  expect(result).toMatchObject({ ...fieldsOf('unpaid/pending'), releaseRequested: false });
});

describe('a canceled payment whose money was released', () => {
  const released = payment('canceled/completed', { receivedUnits: ENOUGH, txidOut: 'out 9' });

  it('waits for its merchant again when a reorganization takes the release and leaves the deposit', () => {
    const before = view(released, observations([deposit(ENOUGH, 5)]));
    const result = applied(before, settle(before, open));
    expect(result).toMatchObject({ ...fieldsOf('canceled/manual_required'), releaseRequested: false });
    expect(settle({ ...before, payment: result }, open)).toBeNull();
  });

  it('stays released while neither of both is seen, and once both are back', () => {
    expect(settle(view(released), open)).toBeNull();
    const both = observations([deposit(ENOUGH, 5)], [release(ENOUGH, 9)]);
    expect(settle(view({ ...released, txidIn: 'in 5' }, both), open)).toBeNull();
  });
});

describe('dust: less than 0.01 USDC, and not enough to be paid', () => {
  const terms = { usdUnits: 3_000_000n, paidThresholdUnits: 2_000_000n };
  const inState = (state: PaymentState, units: readonly bigint[], change: Partial<Payment> = {}) =>
    view(
      payment(state, { ...terms, ...change }),
      observations(units.map((each, index) => ({ ...deposit(each, 5), logIndex: index }))),
    );
  const settled = (before: PaymentView, context = open) => applied(before, settle(before, context));
  const many = Array.from({ length: 9_999 }, () => 1n);

  it.each(['unpaid/pending', 'canceled/canceled'] as const)(
    'changes no state in %s, and is counted',
    (state) => {
      for (const units of [[1n], [9_999n], many]) {
        const result = settled(inState(state, units));
        expect(stateOf(result)).toBe(state);
        expect(result.receivedUnits).toBe(units.reduce((sum, each) => sum + each));
        expect(result).toMatchObject({ amountMismatch: null, releaseDueAtMs: null });
      }
    },
  );

  it('is none from the unit on with which the sum is 0.01 USDC', () => {
    for (const units of [[10_000n], [...many, 1n]]) {
      expect(stateOf(settled(inState('canceled/canceled', units)))).toBe('canceled/manual_required');
      expect(stateOf(settled(inState('unpaid/pending', units), past))).toBe('canceled/manual_required');
    }
  });

  it('lets a payment expire as if nothing had arrived', () => {
    const result = settled(inState('unpaid/pending', many), past);
    expect(result).toMatchObject({ ...fieldsOf('canceled/canceled'), cancelReason: 'expired' });
  });

  it('is what a reorganization leaves of a canceled payment that held more', () => {
    expect(stateOf(settled(inState('canceled/manual_required', [9_999n])))).toBe('canceled/canceled');
    expect(stateOf(settled(inState('canceled/manual_required', [10_000n])))).toBe('canceled/manual_required');
  });

  it('pays a payment whose threshold is as small', () => {
    const tiny = { usdUnits: 9_000n, paidThresholdUnits: 8_000n };
    expect(stateOf(settled(inState('unpaid/pending', [7_999n], tiny)))).toBe('unpaid/pending');
    expect(stateOf(settled(inState('unpaid/pending', [7_999n, 1n], tiny)))).toBe('unpaid/ready');
    expect(stateOf(settled(inState('canceled/canceled', [7_999n], tiny)))).toBe('canceled/canceled');
    expect(stateOf(settled(inState('canceled/canceled', [8_000n], tiny)))).toBe('canceled/manual_required');
  });

  it('after a release asks its merchant for nothing, before the release is final and after it', () => {
    const held = (units: bigint) =>
      observations([deposit(50_000n, 3), deposit(units, 5)], [release(50_000n, 4)]);
    const completed = { ...terms, receivedUnits: 50_000n, txidOut: 'out 4' };
    const stateWith = (state: PaymentState, change: Partial<Payment>, units: bigint) =>
      stateOf(settled(view(payment(state, change), held(units))));
    expect(stateWith('canceled/completed', completed, 9_999n)).toBe('canceled/completed');
    expect(stateWith('canceled/completed', completed, 10_000n)).toBe('canceled/manual_required');
    const requested = { ...terms, releaseRequested: true };
    expect(stateWith('canceled/manual_required', requested, 9_999n)).toBe('canceled/completed');
    expect(stateWith('canceled/manual_required', requested, 10_000n)).toBe('canceled/manual_required');
  });

  it('that was released does not stand for what arrived after it', () => {
    const rows = observations([deposit(1n, 3), deposit(9_999n, 5)], [release(1n, 4)]);
    expect(stateOf(settled(view(payment('canceled/canceled', terms), rows)))).toBe(
      'canceled/manual_required',
    );
  });
});

describe('a surplus', () => {
  const held = (units: bigint) => observations([deposit(100n, 1), deposit(units, 11)], [release(100n, 2)]);

  it.each([
    { units: MINIMUM_SURPLUS_UNITS - 1n, isDue: false },
    { units: MINIMUM_SURPLUS_UNITS, isDue: true },
  ])('of $units units is released by itself: $isDue', ({ units, isDue }) => {
    const before = view(payment('paid/completed'), held(units));
    expect(applied(before, settle(before, open)).releaseDueAtMs).toBe(isDue ? open.nowMs : null);
  });

  it('that is dust stays held, adds up, and is released when somebody asks', () => {
    const dust = view(payment('paid/completed'), held(1n));
    expect(sumObservations(dust.observations).heldUnits).toBe(1n);
    const more = {
      ...dust.observations,
      deposits: [...dust.observations.deposits, deposit(MINIMUM_SURPLUS_UNITS - 1n, 12)],
    };
    expect(settle({ ...dust, observations: more }, open)?.change.releaseDueAtMs).toBe(open.nowMs);

    const asked = applied(dust, settle(dust, open, { releaseRequested: true }));
    expect(asked.releaseDueAtMs).toBe(open.nowMs);
    const released = observations(dust.observations.deposits as Deposit[], [
      release(100n, 2),
      release(1n, 12),
    ]);
    const after = { ...dust, payment: { ...asked, noOpBatches: 2 }, observations: released };
    expect(applied(after, settle(after, open))).toEqual(payment('paid/completed'));
  });

  it('of an open payment is no surplus: what has become enough is released to the unit', () => {
    const before = view(payment('unpaid/ready'), observations([deposit(100n, 11)]));
    expect(applied(before, settle(before, open)).releaseDueAtMs).toBe(open.nowMs);
  });
});

describe('a state that does not exist', () => {
  it.each([
    { status: 'paid', forwardStatus: 'pending' },
    { status: 'canceled', forwardStatus: 'processing' },
    { status: 'unpaid', forwardStatus: 'completed' },
    { status: 'unpaid', forwardStatus: 'canceled' },
  ] as const)('$status/$forwardStatus is refused loudly', (fields) => {
    expect(() => settle(view({ ...payment('unpaid/pending'), ...fields }, enoughSeen), open)).toThrow(
      UnknownStateError,
    );
  });

  it('of an unknown status is refused loudly', () => {
    const unknown = { ...payment('unpaid/pending'), status: 'refunded' } as unknown as Payment;
    expect(() => settle(view(unknown, enoughSeen), open)).toThrow(UnknownStateError);
  });
});

describe('a release whose deposit no node has shown', () => {
  const onlyReleased = view(payment('unpaid/pending'), observations([], [release(100n, 9)]));

  it('makes nothing paid: the webhook would name no deposit', () => {
    expect(settle(onlyReleased, open)).toBeNull();
    const partly = { ...onlyReleased, observations: observations([deposit(99n, 5)], [release(100n, 9)]) };
    expect(settle(partly, open)?.webhooks).toBeUndefined();
  });

  it('is not made up for by a deposit that the chain may still take back', () => {
    const later = { ...onlyReleased, observations: observations([deposit(100n, 11)], [release(100n, 9)]) };
    expect(settle(later, open)?.change).toMatchObject({ forwardStatus: 'processing' });
    expect(settle(later, open)?.webhooks).toBeUndefined();
  });

  it('is paid with both transactions as soon as the deposit is found', () => {
    const found = { ...onlyReleased, observations: observations([deposit(100n, 5)], [release(100n, 9)]) };
    expect(settle(found, open)?.change).toMatchObject({ status: 'paid', txidIn: 'in 5', txidOut: 'out 9' });
  });
});

describe('the sums of what was observed', () => {
  it('count what is final apart, and what is still held', () => {
    const rows = observations([deposit(60n, 10), deposit(45n, 11)], [release(40n, 10), release(20n, 11)]);
    expect(sumObservations(rows)).toEqual({
      seenUnits: 105n,
      finalSeenUnits: 60n,
      releasedUnits: 60n,
      finalReleasedUnits: 40n,
      finalToMerchantUnits: 39n,
      heldUnits: 45n,
    });
  });

  it('hold nothing where more was released than the deposits that are seen', () => {
    expect(sumObservations(observations([deposit(1n, 9)], [release(2n, 9)])).heldUnits).toBe(0n);
  });
});

describe('a decision', () => {
  it('sends a receipt with the payment that becomes paid, where there is an address', () => {
    const paid = (change: Partial<Payment>) =>
      settle(view(payment('unpaid/processing', change), releasedFinally), open);
    expect(paid({ email: 'customer@example.com' })?.receipt).toBe(true);
    expect(paid({})).not.toHaveProperty('receipt');
    const forwarded = direct('paid/processing', { email: 'customer@example.com', relayBatchId: 1 });
    expect(settle(view(forwarded, releasedFinally), open)).not.toHaveProperty('receipt');
  });

  it('brings a payment that fell back to waiting before the expiry step again', () => {
    const fallen = settle(view(payment('unpaid/ready'), observations([deposit(99n, 11)])), open);
    expect(fallen?.revisitExpiry).toBe(true);
    const reverted = settle(view(payment('canceled/manual_required')), open);
    expect(reverted?.change).toMatchObject({ forwardStatus: 'canceled' });
    expect(reverted).not.toHaveProperty('revisitExpiry');
    expect(settle(view(payment('unpaid/pending'), enoughSeen), open)).not.toHaveProperty('webhooks');
  });

  it('writes only what changed', () => {
    const before = view(
      payment('unpaid/pending', { receivedUnits: 5n, txidIn: 'in 11' }),
      observations([deposit(5n, 11)]),
    );
    expect(settle(before, open)).toBeNull();
    const more = { ...before, observations: observations([deposit(5n, 11), deposit(2n, 12)]) };
    expect(settle(more, open)).toEqual({ change: { receivedUnits: 7n, txidIn: 'in 12' } });
  });
});

it('a paid payment to which clearly more arrives counts as overpaid, and says nothing else', () => {
  const terms = { usdUnits: 100n, paidThresholdUnits: ENOUGH };
  const rows = observations([deposit(100n, 5), deposit(200_000n, 11)], [release(100n, 9)]);
  expect(settle(view(payment('paid/completed', terms), rows), open)).toEqual({
    change: { amountMismatch: 'overpaid', releaseDueAtMs: open.nowMs },
  });
});

describe('a canceled payment', () => {
  it('that was released is never paid, and keeps the deposits that were counted', () => {
    const requested = payment('canceled/manual_required', { releaseRequested: true });
    // The request covers only the money from before the release. The later 7 units need another request.
    const rows = observations([deposit(60n, 3), deposit(50n, 4), deposit(7n, 11)], [release(110n, 9)]);
    const result = applied(view(requested), settle(view(requested, rows), open));
    expect(result).toMatchObject({
      ...fieldsOf('canceled/completed'),
      receivedUnits: 110n,
      forwardedUnits: 108n,
      txidIn: 'in 11',
      txidOut: 'out 9',
      paidAtMs: null,
      releaseRequested: false,
    });
  });

  it('keeps the request for a release while the chain shows nothing to release', () => {
    const requested = payment('canceled/manual_required', { releaseRequested: true, releaseRefusals: 2 });
    const result = applied(view(requested), settle(view(requested), open));
    expect(result).toMatchObject({
      ...fieldsOf('canceled/canceled'),
      releaseRequested: true,
      releaseRefusals: 0,
    });
  });

  it('is released only when its merchant asks', () => {
    const rows = observations([deposit(CENT, 5)]);
    const due = (change: Partial<Payment>) => {
      const before = view(payment('canceled/manual_required', change), rows);
      return applied(before, settle(before, open)).releaseDueAtMs;
    };
    expect(due({})).toBeNull();
    expect(due({ releaseRequested: true })).toBe(open.nowMs);
    expect(due({ releaseRequested: true, releaseDueAtMs: 5 })).toBe(5);
    expect(due({ releaseRequested: true, releaseDueAtMs: 5, relayBatchId: 1 })).toBeNull();
  });

  it('waits for its merchant when more arrives than was released, also before the release is seen again', () => {
    const released = payment('canceled/completed', { receivedUnits: ENOUGH, txidOut: 'out 9' });
    const rows = observations([deposit(ENOUGH + CENT, 5)], [release(ENOUGH + CENT, 11)]);
    const before = view(released, rows);
    expect(stateOf(applied(before, settle(before, open)))).toBe('canceled/manual_required');
  });
});

describe('a refusal', () => {
  it('names its reason, and sets the next try', () => {
    const ready = view(payment('unpaid/ready', { releaseDueAtMs: 0 }), enoughSeen);
    expect(refuseRelease(ready, open, 'blocklisted')?.change).toMatchObject({
      forwardStatus: 'failed',
      releaseRefusals: 1,
      releaseRefusalReason: 'blocklisted',
      releaseDueAtMs: open.nowMs + 30_000,
    });
  });

  it.each([
    [QUICK_RELEASE_TRIES - 2, 'unpaid/failed'],
    [QUICK_RELEASE_TRIES - 1, 'unpaid/manual_required'],
  ])('after %i others leaves the payment %s', (refusals, state) => {
    const failed = payment('unpaid/failed', { releaseRefusals: refusals, releaseDueAtMs: 0 });
    const before = view(failed, enoughSeen);
    expect(stateOf(applied(before, refuseRelease(before, open, 'paused')))).toBe(state);
  });
});

it.each([
  [999, false],
  [1_000, true],
  [-1, true],
])(
  'whether a wait of a second is over after %i ms, also where the clock was set back: %s',
  (passedMs, isDone) => {
    expect(isOver(5_000, 1_000, 5_000 + passedMs)).toBe(isDone);
  },
);
