import { describe, expect, it } from 'vitest';
import { UnknownStateError } from '../../payment/errors.ts';
import type { Payment } from '../../payment/payment.ts';
import { fieldsOf, type PaymentState, paymentStates } from '../../payment/payment-states.ts';
import type { PaymentView } from '../../payment/payment-store.ts';
import type { ProviderSession } from '../../payment/provider-session.ts';
import {
  type CheckoutView,
  checkoutViewOf,
  isTakenByProvider,
  takesPayment,
  traitsOf,
} from './checkout-view.ts';

const nowMs = 1_000_000;
const paidThresholdUnits = 10_000_000n;

function viewIn(
  state: PaymentState,
  change: Partial<Payment> = {},
  rest: Partial<PaymentView> = {},
): PaymentView {
  const payment = {
    paidThresholdUnits,
    receivedUnits: 0n,
    txidIn: null,
    txidOut: null,
    cancelReason: null,
    ...fieldsOf(state),
    ...change,
  };
  return {
    payment: payment as Payment,
    observations: { deposits: [], releases: [], finalBlock: 0 },
    sessions: [],
    ...rest,
  };
}

function observationsOf(...units: bigint[]) {
  const deposits = units.map((amount, index) => ({
    units: amount,
    blockNumber: index,
    logIndex: 0,
    transactionHash: `deposit ${index + 1}`,
  }));
  return { deposits, releases: [], finalBlock: 0 };
}

function sessionAt(provider: ProviderSession['provider'], createdAtMs: number, expiresAtMs: number) {
  return {
    provider,
    createdAtMs,
    expiresAtMs,
    providerReference: `${provider} reference`,
    progress: null,
    receivedUnits: 0n,
  } as ProviderSession;
}

/** Expected view of each state, for a payment without sessions and observations. */
const kinds: Record<PaymentState, CheckoutView['kind']> = {
  'unpaid/pending': 'choose',
  'unpaid/ready': 'seen',
  'unpaid/processing': 'sending',
  'unpaid/failed': 'held',
  'unpaid/manual_required': 'held',
  'paid/ready': 'paid',
  'paid/processing': 'paid',
  'paid/failed': 'paid',
  'paid/manual_required': 'paid',
  'paid/completed': 'paid',
  'canceled/canceled': 'canceled',
  'canceled/manual_required': 'closed_with_money',
  'canceled/completed': 'closed_and_released',
};

describe('the view of a payment', () => {
  it.each(Object.keys(paymentStates) as PaymentState[])('exists for %s', (state) => {
    expect(checkoutViewOf(viewIn(state), nowMs).kind).toBe(kinds[state]);
  });

  it('refuses two fields that are no state together', () => {
    const view = viewIn('paid/completed', { forwardStatus: 'pending' });
    expect(() => checkoutViewOf(view, nowMs)).toThrow(UnknownStateError);
  });

  it('tells expired from canceled', () => {
    expect(checkoutViewOf(viewIn('canceled/canceled', { cancelReason: 'expired' }), nowMs).kind).toBe(
      'expired',
    );
    expect(checkoutViewOf(viewIn('canceled/canceled', { cancelReason: 'operator' }), nowMs).kind).toBe(
      'canceled',
    );
  });

  it('says how much is missing when less than the paid threshold was seen, whatever sessions there were', () => {
    const sessions = [sessionAt('wert', 1, nowMs + 1)];
    const view = checkoutViewOf(
      viewIn('unpaid/pending', {}, { observations: observationsOf(3_000_000n, 1n), sessions }),
      nowMs,
    );
    expect(view).toEqual({
      kind: 'underpaid',
      canBeCharged: true,
      receivedUnits: 3_000_001n,
      missingUnits: 6_999_999n,
    });
  });

  it('shows the visit for the rest, until more arrives', () => {
    const sessions = [
      sessionAt('wert', 1, nowMs),
      { ...sessionAt('moonpay', 2, nowMs + 1), receivedUnits: 3_000_000n },
    ];
    const viewAfter = (...units: bigint[]) =>
      checkoutViewOf(
        viewIn('unpaid/pending', {}, { observations: observationsOf(...units), sessions }),
        nowMs,
      );
    expect(viewAfter(3_000_000n)).toMatchObject({ kind: 'at_provider', provider: 'moonpay', isOpen: true });
    expect(viewAfter(3_000_000n, 1n)).toMatchObject({ kind: 'underpaid', canBeCharged: true });
  });

  it('charges no rest while a provider has the money and has not delivered it, for a day', () => {
    const viewAt = (progressAtMs: number) => {
      const sessions = [{ ...sessionAt('wert', 1, nowMs), progress: 'delivering' as const, progressAtMs }];
      return checkoutViewOf(
        viewIn('unpaid/pending', {}, { observations: observationsOf(3_000_000n), sessions }),
        nowMs,
      );
    };
    expect(takesPayment(viewAt(nowMs - 86_399_999))).toBe(false);
    expect(takesPayment(viewAt(nowMs - 86_400_000))).toBe(true);
  });

  it('shows the newest visit, and whether it can be gone on with', () => {
    const sessions = [sessionAt('wert', 2, nowMs + 1), sessionAt('moonpay', 1, nowMs + 1)];
    expect(checkoutViewOf(viewIn('unpaid/pending', {}, { sessions }), nowMs)).toEqual({
      kind: 'at_provider',
      hasLittleArrived: false,
      provider: 'wert',
      providerReference: 'wert reference',
      isOpen: true,
      progress: null,
    });
    const ended = [sessionAt('wert', 2, nowMs)];
    expect(checkoutViewOf(viewIn('unpaid/pending', {}, { sessions: ended }), nowMs)).toMatchObject({
      isOpen: false,
    });
  });

  it('lets the provider that has the money lead over one that was visited later, for a day', () => {
    const leads = (progressAtMs: number) => {
      const taken = { ...sessionAt('wert', 1, nowMs), progress: 'delivering' as const, progressAtMs };
      const sessions = [taken, sessionAt('moonpay', 2, nowMs + 1)];
      return checkoutViewOf(viewIn('unpaid/pending', {}, { sessions }), nowMs);
    };
    expect(leads(nowMs - 1)).toMatchObject({ provider: 'wert', progress: 'delivering' });
    expect(leads(nowMs - 86_400_000)).toMatchObject({ provider: 'moonpay', progress: null });
  });

  it('names who has a further payment, until as many have arrived as were taken', () => {
    const at = (
      provider: ProviderSession['provider'],
      progress: ProviderSession['progress'],
      atMs: number,
    ) => ({
      ...sessionAt(provider, 1, nowMs),
      progress,
      progressAtMs: nowMs - atMs,
    });
    const holdersAfter = (sessions: ProviderSession[], ...units: bigint[]) => {
      const rest = { observations: observationsOf(...units), sessions };
      return checkoutViewOf(viewIn('paid/completed', {}, rest), nowMs);
    };
    const one = [paidThresholdUnits, 9_999n];
    const both = [at('wert', 'delivering', 5), at('moonpay', 'delivered', 9)];
    expect(holdersAfter(both, ...one)).toMatchObject({ holders: ['wert'], surplus: 'paidAgain' });
    expect(traitsOf(holdersAfter(both, ...one)).refreshSeconds).not.toBeNull();
    const late = [at('wert', 'delivered', 5), at('moonpay', 'delivered', 9)];
    expect(holdersAfter(late, ...one)).toMatchObject({ holders: ['wert'] });
    const none = { holders: [], surplus: null };
    expect(holdersAfter(late, ...one, paidThresholdUnits)).toMatchObject(none);
    expect(holdersAfter([at('wert', 'delivering', 5)], ...one)).toMatchObject(none);
    expect(holdersAfter([at('wert', 'failed', 5), ...both.slice(1)], ...one)).toMatchObject(none);
  });
});

it('lets customers pay while the checkout is open and something is missing', () => {
  const open = (Object.keys(paymentStates) as PaymentState[]).filter((state) =>
    takesPayment(checkoutViewOf(viewIn(state), nowMs)),
  );
  expect(open).toEqual(['unpaid/pending']);
  const takesPaymentAfter = (units: bigint) =>
    takesPayment(
      checkoutViewOf(viewIn('unpaid/pending', {}, { observations: observationsOf(units) }), nowMs),
    );
  expect([takesPaymentAfter(1n), takesPaymentAfter(paidThresholdUnits / 10n + 1n)]).toEqual([true, true]);
  expect(takesPaymentAfter(paidThresholdUnits - 1n)).toBe(true);
  expect(takesPaymentAfter(paidThresholdUnits)).toBe(false);
});

it('says that a little has arrived, with and without a visit', () => {
  const observations = observationsOf(1n);
  expect(checkoutViewOf(viewIn('unpaid/pending', {}, { observations }), nowMs)).toEqual({
    kind: 'choose',
    hasLittleArrived: true,
  });
  const sessions = [sessionAt('wert', 1, nowMs + 1)];
  expect(checkoutViewOf(viewIn('unpaid/pending', {}, { observations, sessions }), nowMs)).toMatchObject({
    kind: 'at_provider',
    hasLittleArrived: true,
  });
});

it.each([
  ['paying', true, false],
  ['delivering', true, true],
  ['delivered', true, true],
  ['failed', false, false],
] as const)(
  'of a visit that is %s says whether to go on, and whether to leave it alone',
  (progress, isOpen, isTaken) => {
    const sessions = [{ ...sessionAt('wert', 1, nowMs + 1), progress }];
    const view = checkoutViewOf(viewIn('unpaid/pending', {}, { sessions }), nowMs);
    expect(view).toMatchObject({ kind: 'at_provider', isOpen, progress });
    expect(isTakenByProvider(view)).toBe(isTaken);
  },
);

it('stops looking again once nothing can change on its own', () => {
  const still = (Object.keys(paymentStates) as PaymentState[]).filter(
    (state) => traitsOf(checkoutViewOf(viewIn(state), nowMs)).refreshSeconds === null,
  );
  const paid = (Object.keys(paymentStates) as PaymentState[]).filter((state) => state.startsWith('paid/'));
  expect(still).toEqual([...paid, 'canceled/canceled', 'canceled/completed']);
});
