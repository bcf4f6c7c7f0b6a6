import type { Payment } from '../../src/payment/payment.ts';
import { fieldsOf, type PaymentState } from '../../src/payment/payment-states.ts';
import type { PaymentView } from '../../src/payment/payment-store.ts';
import type { ProviderSession, SessionProgress } from '../../src/payment/provider-session.ts';
import { DEPOSIT_HASH, type ExamplePayments, RELEASE_HASH } from './example-payments.ts';

const enough = 24_500_000n;
const settled = {
  txidIn: DEPOSIT_HASH,
  txidOut: RELEASE_HASH,
  receivedUnits: enough,
  forwardedUnits: enough,
};
const withoutFee = { passFeeToCustomer: false, originalAmountCents: null, customerFeeCents: null };

/** States before money arrives. */
const waiting = {
  choose: ({ payment, view }) => view(payment()),
  'choose-euro': ({ payment, view }) => view(payment({ currency: 'EUR', ...withoutFee })),
  'choose-small': ({ payment, view }) =>
    view(payment({ amountCents: 3_00, usdUnits: 3_000_000n, ...withoutFee })),
  'choose-single': ({ payment, view }) =>
    view(payment({ provider: 'moonpay', email: 'jane.doe@example.com' })),
  direct: ({ payment, view }) => view(payment({ provider: 'direct', ...withoutFee })),
  'direct-part': ({ payment, view }) =>
    view(payment({ provider: 'direct', ...withoutFee }), { deposits: [1_123_456n] }),
  'none-can-serve': ({ payment, view }) =>
    view(payment({ amountCents: 50, usdUnits: 500_000n, ...withoutFee })),
  'at-provider': (examples) => visited(examples, {}),
  'visit-ended': (examples) => visited(examples, { expiresAtMs: examples.nowMs - 1 }),
  'taken-by-provider': (examples) => visited(examples, approved('delivering', examples.nowMs - 102_000)),
  'taken-for-long': (examples) => visited(examples, approved('delivering', examples.nowMs - 1_860_000)),
  'refused-by-provider': (examples) =>
    visited(examples, { progress: 'failed', progressAtMs: examples.nowMs - 1_000 }),
} as const satisfies Record<string, (examples: ExamplePayments) => PaymentView>;

function approved(progress: SessionProgress, approvedAtMs: number): Partial<ProviderSession> {
  return { progress, progressAtMs: approvedAtMs, approvedAtMs };
}

function visited({ payment, session, view }: ExamplePayments, change: Partial<ProviderSession>): PaymentView {
  const made = payment();
  return view(made, { sessions: [session(made, change)] });
}

/** States after money arrives or time runs out, each with the stored state, changed fields, deposits and releases. */
const arrived = {
  underpaid: ['unpaid/pending', {}, [10_123_456n], []],
  seen: ['unpaid/ready', {}, [enough], []],
  sending: ['unpaid/processing', {}, [enough], [enough]],
  delayed: ['unpaid/failed', {}, [enough], []],
  'needs-attention': ['unpaid/manual_required', {}, [enough], []],
  paid: ['paid/completed', settled, [enough], [enough]],
  overpaid: [
    'paid/completed',
    { ...settled, receivedUnits: 40_000_000n, forwardedUnits: 40_000_000n, amountMismatch: 'overpaid' },
    [40_000_000n],
    [40_000_000n],
  ],
  'paid-twice': [
    'paid/completed',
    { ...settled, receivedUnits: 2n * enough, forwardedUnits: 2n * enough, amountMismatch: 'overpaid' },
    [enough, enough],
    [2n * enough],
  ],
  'paid-again': ['paid/completed', settled, [enough], [enough]],
  canceled: ['canceled/canceled', { cancelReason: 'merchant' }, [], []],
  expired: ['canceled/canceled', { cancelReason: 'expired' }, [], []],
  'closed-with-money': ['canceled/manual_required', { cancelReason: 'expired' }, [10_000_000n], []],
  'closed-and-released': [
    'canceled/completed',
    { cancelReason: 'expired', ...settled, receivedUnits: 10_000_000n, forwardedUnits: 10_000_000n },
    [10_000_000n],
    [10_000_000n],
  ],
} as const satisfies Record<
  string,
  readonly [PaymentState, Partial<Payment>, readonly bigint[], readonly bigint[]]
>;

export type ExampleState = keyof typeof waiting | keyof typeof arrived;

export const stateNames = [...Object.keys(waiting), ...Object.keys(arrived)] as readonly ExampleState[];

export function isExampleState(name: string): name is ExampleState {
  return (stateNames as readonly string[]).includes(name);
}

export function exampleState(examples: ExamplePayments, name: ExampleState): PaymentView {
  if (name in waiting) return waiting[name as keyof typeof waiting](examples);
  const { payment, session, view, nowMs } = examples;
  const [state, change, deposits, releases] = arrived[name as keyof typeof arrived];
  const paidAtMs = state === 'paid/completed' ? nowMs - 5_000 : null;
  const made = payment({ ...fieldsOf(state), ...change, paidAtMs });
  const first = session(made, approved('delivered', nowMs - 43_000));
  const second = session(made, { provider: 'wert', ...approved('delivering', nowMs - 20_000) });
  const sessions = name === 'paid-again' ? [first, second] : [first];
  return view(made, { deposits, releases, sessions: deposits.length > 0 ? sessions : [] });
}
