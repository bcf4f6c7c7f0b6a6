import type { Payment } from '../../src/domain/payment.ts';
import { fieldsOf, type PaymentState } from '../../src/domain/payment-states.ts';
import type { PaymentView } from '../../src/domain/ports/payment-store.ts';
import { DEPOSIT_HASH, type ExamplePayments, RELEASE_HASH } from './example-payments.ts';

/** The states of a checkout that a customer can meet, by the names that addresses, tests and screenshots use. */
export const stateNames = [
  'choose',
  'choose-euro',
  'choose-small',
  'choose-single',
  'direct',
  'direct-part',
  'none-can-serve',
  'at-provider',
  'visit-ended',
  'taken-by-provider',
  'refused-by-provider',
  'underpaid',
  'seen',
  'sending',
  'delayed',
  'needs-attention',
  'paid',
  'overpaid',
  'paid-twice',
  'canceled',
  'expired',
  'closed-with-money',
  'closed-and-released',
] as const;
export type ExampleState = (typeof stateNames)[number];

export function isExampleState(name: string): name is ExampleState {
  return (stateNames as readonly string[]).includes(name);
}

const enough = 24_500_000n;
const settled = {
  txidIn: DEPOSIT_HASH,
  txidOut: RELEASE_HASH,
  receivedUnits: enough,
  forwardedUnits: enough,
};
const withoutFee = { passFeeToCustomer: false, originalAmountCents: null, customerFeeCents: null };

/** A new payment in this state. */
export function exampleState(examples: ExamplePayments, name: ExampleState): PaymentView {
  return beforeArrival(examples, name) ?? afterArrival(examples, name);
}

function beforeArrival(examples: ExamplePayments, name: ExampleState): PaymentView | null {
  const { payment, view, session, nowMs } = examples;
  const visited = (change: Parameters<typeof session>[1]) => {
    const made = payment();
    return view(made, { sessions: [session(made, change)] });
  };
  switch (name) {
    case 'choose':
      return view(payment());
    case 'choose-euro':
      return view(payment({ currency: 'EUR', ...withoutFee }));
    case 'choose-small':
      return view(payment({ amountCents: 3_00, usdUnits: 3_000_000n, ...withoutFee }));
    case 'choose-single':
      return view(payment({ provider: 'moonpay', email: 'jane.doe@example.com' }));
    case 'direct':
      return view(payment({ provider: 'direct', ...withoutFee }));
    case 'direct-part':
      return view(payment({ provider: 'direct', ...withoutFee }), { deposits: [1_123_456n] });
    case 'none-can-serve':
      return view(payment({ amountCents: 50, usdUnits: 500_000n, ...withoutFee }));
    case 'at-provider':
      return visited({});
    case 'visit-ended':
      return visited({ expiresAtMs: nowMs - 1 });
    case 'taken-by-provider':
      return visited({ progress: 'delivering', progressAtMs: nowMs - 1_000 });
    case 'refused-by-provider':
      return visited({ progress: 'failed', progressAtMs: nowMs - 1_000 });
    default:
      return null;
  }
}

/** How each of the others is stored, and what has arrived and was sent on. */
const arrived = {
  underpaid: ['unpaid/pending', {}, [10_123_456n], []],
  seen: ['unpaid/ready', {}, [enough], []],
  sending: ['unpaid/processing', {}, [enough], [enough]],
  delayed: ['unpaid/failed', {}, [enough], []],
  'needs-attention': ['unpaid/manual_required', {}, [enough], []],
  paid: ['paid/completed', settled, [enough], [enough]],
  overpaid: [
    'paid/completed',
    { ...settled, receivedUnits: 40_000_000n, amountMismatch: 'overpaid' },
    [40_000_000n],
    [40_000_000n],
  ],
  'paid-twice': [
    'paid/completed',
    { ...settled, receivedUnits: 2n * enough, amountMismatch: 'overpaid' },
    [enough, enough],
    [2n * enough],
  ],
  canceled: ['canceled/canceled', { cancelReason: 'merchant' }, [], []],
  expired: ['canceled/canceled', { cancelReason: 'expired' }, [], []],
  'closed-with-money': ['canceled/manual_required', { cancelReason: 'expired' }, [10_000_000n], []],
  'closed-and-released': [
    'canceled/completed',
    { cancelReason: 'expired', ...settled, receivedUnits: 10_000_000n, forwardedUnits: 10_000_000n },
    [10_000_000n],
    [10_000_000n],
  ],
} as const satisfies Partial<
  Record<ExampleState, readonly [PaymentState, Partial<Payment>, readonly bigint[], readonly bigint[]]>
>;

function afterArrival({ payment, session, view, nowMs }: ExamplePayments, name: ExampleState): PaymentView {
  const [state, change, deposits, releases] = arrived[name as keyof typeof arrived];
  const paidAtMs = state === 'paid/completed' ? nowMs - 5_000 : null;
  const made = payment({ ...fieldsOf(state), ...change, paidAtMs });
  return view(made, { deposits, releases, sessions: deposits.length > 0 ? [session(made)] : [] });
}
