import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UnknownStateError } from './errors.ts';
import { feeUnits } from './fees.ts';
import {
  type ChainObservations,
  type Deposit,
  noOrder,
  type Payment,
  type PaymentChange,
  type Release,
  untouchedProgress,
} from './payment.ts';
import {
  fieldsOf,
  nextState,
  type PaymentState,
  paymentStates,
  paymentTransitions,
  stateOf,
} from './payment-states.ts';
import type { PaymentDecision, PaymentView } from './ports/payment-store.ts';
import {
  MINIMUM_SURPLUS_UNITS,
  QUICK_RELEASE_TRIES,
  refuseRelease,
  type SettleContext,
  settle,
  sumObservations,
} from './settle.ts';

const ADDRESS = '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359';
const CREATED_MS = Date.UTC(2026, 10, 20);
const ENOUGH = 100n;
const CENT = 10_000n;

const open: SettleContext = { nowMs: CREATED_MS + 1_000 };
const past: SettleContext = { nowMs: CREATED_MS + 2_000, expiredBeforeMs: CREATED_MS + 1 };

function payment(state: PaymentState, change: Partial<Payment> = {}): Payment {
  return {
    ...untouchedProgress,
    ...noOrder,
    id: '019a9d5a-0000-7000-8000-000000000000',
    accountId: 'account',
    createdAtMs: CREATED_MS,
    amountCents: 1,
    currency: 'USD',
    originalAmountCents: null,
    customerFeeCents: null,
    passFeeToCustomer: false,
    feeBasisPoints: 250,
    provider: 'multi',
    callbackUrl: 'https://shop.example.com/hook',
    email: null,
    note: null,
    tokenFingerprint: 'abcdef',
    chainId: 137,
    factory: ADDRESS,
    payoutAddress: ADDRESS,
    feeWallet: ADDRESS,
    depositAddress: ADDRESS,
    usdUnits: 100n,
    toleranceBasisPoints: 200,
    maxProviderFeeBasisPoints: 3_000,
    paidThresholdUnits: ENOUGH,
    ...fieldsOf(state),
    ...change,
  };
}

/** One that is paid from a wallet; what it received is known from the moment it is paid. */
function direct(state: PaymentState, change: Partial<Payment> = {}): Payment {
  const received = state.startsWith('paid')
    ? { receivedUnits: ENOUGH, txidIn: 'in 5', paidAtMs: CREATED_MS, releaseDueAtMs: null }
    : {};
  return payment(state, { provider: 'direct', ...received, ...change });
}

function deposit(units: bigint, blockNumber: number): Deposit {
  return { units, blockNumber, logIndex: 0, transactionHash: `in ${blockNumber}` };
}

function release(units: bigint, blockNumber: number): Release {
  const fee = feeUnits(units, 250);
  return {
    toMerchantUnits: units - fee,
    feeUnits: fee,
    blockNumber,
    logIndex: 1,
    transactionHash: `out ${blockNumber}`,
  };
}

/** Blocks up to 10 are final. */
function observations(
  deposits: readonly Deposit[] = [],
  releases: readonly Release[] = [],
): ChainObservations {
  return { deposits, releases, finalBlock: 10 };
}

function view(of: Payment, rows: ChainObservations = observations()): PaymentView {
  return { payment: of, observations: rows, sessions: [] };
}

function applied(before: PaymentView, decision: PaymentDecision | null): Payment {
  return { ...before.payment, ...decision?.change };
}

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

/** One case for each row of the table, by its state and event. */
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
    // Settled means settled: the same facts decide nothing more.
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

/** What can happen to one payment, on the chain and in our own hands. */
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

/** One payment on a chain that mines, reorganizes and finalizes, decided after everything that happens. */
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

  /** False when the command makes no sense now. */
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
    // Paid exactly when final releases reach enough, with the webhook on that very decision.
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
      // Shown while nothing is counted yet: what is seen now, which the chain may take back.
      expect(now.receivedUnits).toBe(sums.seenUnits);
      expect(now.txidIn === null).toBe(this.view.observations.deposits.length === 0);
    }
    if (now.status !== 'paid') expect(now.paidAtMs).toBeNull();
    expect(now.forwardedUnits <= now.receivedUnits).toBe(true);
    this.checkDue(sums.heldUnits);
    // Whoever decides again on the same facts changes nothing.
    expect(settle(this.view, this.context)).toBeNull();
  }

  checkDirect(before: Payment): void {
    const now = this.payment;
    const sums = sumObservations(this.view.observations);
    const isCompleted = now.status === 'paid' && now.forwardStatus === 'completed';
    expect(isReachable(stateOf(before), stateOf(now))).toBe(true);
    // Each event once, the second only after the first.
    const events = ['payment.paid', 'payment.forwarded'];
    const due = isCompleted ? 2 : 1;
    expect(this.webhooks).toEqual(now.status === 'paid' ? events.slice(0, due) : []);
    if (now.status === 'unpaid') {
      expect(now.forwardStatus).toBe('pending');
      expect(sums.finalSeenUnits < now.paidThresholdUnits).toBe(true);
      // Nothing that may still be taken back is sent on.
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

/** Whether the table leads from one state to another, in no, one or several rows. */
function isReachable(from: PaymentState, to: PaymentState): boolean {
  const reached = new Set([from]);
  for (const state of reached) {
    for (const row of paymentTransitions) if (row.from === state) reached.add(row.to);
  }
  return reached.has(to);
}

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

describe('whatever happens to a payment', () => {
  /** Runs many histories and returns the states that occurred. */
  function visit(isDirect: boolean, numRuns: number): PaymentState[] {
    const visited = new Set<PaymentState>();
    fc.assert(
      // `size`: by itself the list is mostly short, and six refusals in a row may not come up in any.
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
    expect(visit(false, 3_000)).toEqual(all.filter((state) => !after(state)));
  }, 120_000);

  it('from a wallet makes it paid at finality and forwarded after it, each told once', () => {
    expect(visit(true, 3_000)).toEqual(all.filter((state) => !before(state)));
  }, 120_000);
});
