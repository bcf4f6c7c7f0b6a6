import { expect, it } from 'vitest';
import type { Payment } from './payment.ts';
import { eventsOfChange, type PaymentEventType } from './payment-events.ts';
import { fieldsOf, type PaymentEvent, paymentTransitions } from './payment-states.ts';

const plain = { provider: 'moonpay', amountMismatch: null, receivedUnits: 0n } as const;

/** Expected event type by the state table's event. */
const said: Readonly<Record<PaymentEvent, PaymentEventType>> = {
  threshold_reached: 'payment.deposit_seen',
  deposit_final: 'payment.paid',
  deposit_reverted: 'payment.deposit_reverted',
  release_sent: 'payment.updated',
  release_dropped: 'payment.updated',
  release_refused: 'payment.updated',
  release_possible: 'payment.updated',
  release_abandoned: 'payment.attention_required',
  released_finally: 'payment.forwarded',
  expired_empty: 'payment.canceled',
  expired_underpaid: 'payment.attention_required',
  canceled_by_request: 'payment.canceled',
  deposit_after_cancel: 'payment.attention_required',
};

it('makes one event of each transition, which is paid where the payment becomes paid', () => {
  for (const { from, event, to } of paymentTransitions) {
    const isForwarding = from.startsWith('paid/') || event === 'deposit_final';
    const fields = { ...plain, provider: isForwarding ? 'direct' : 'moonpay' } as const;
    const events = eventsOfChange({ ...fieldsOf(from), ...fields }, { ...fieldsOf(to), ...fields });
    const becomesPaid = fieldsOf(to).status === 'paid' && fieldsOf(from).status !== 'paid';
    expect(events).toEqual([becomesPaid ? 'payment.paid' : said[event]]);
  }
});

it('names a difference to the price once', () => {
  const unpaid = fieldsOf('unpaid/pending');
  const part = { ...unpaid, ...plain, amountMismatch: 'partially_paid', receivedUnits: 1n } as const;
  expect(eventsOfChange({ ...unpaid, ...plain }, part)).toEqual(['payment.partially_paid']);
  expect(eventsOfChange(part, part)).toEqual([]);
  expect(eventsOfChange(part, { ...unpaid, ...plain })).toEqual([]);
  const paid = {
    ...fieldsOf('paid/completed'),
    ...plain,
    amountMismatch: 'overpaid',
    receivedUnits: 3n,
  } as const;
  expect(eventsOfChange(part, paid)).toEqual(['payment.paid', 'payment.overpaid']);
});

it('says paid and forwarded where a direct payment becomes both at once, and paid of a card payment', () => {
  const [before, after] = [fieldsOf('unpaid/pending'), fieldsOf('paid/completed')];
  const eventsOf = (provider: Payment['provider']) =>
    eventsOfChange({ ...before, ...plain, provider }, { ...after, ...plain, provider });
  expect(eventsOf('direct')).toEqual(['payment.paid', 'payment.forwarded']);
  expect(eventsOf('moonpay')).toEqual(['payment.paid']);
});

it('asks for attention each time that a cent or more arrives for a canceled payment', () => {
  const waiting = { ...fieldsOf('canceled/manual_required'), ...plain, receivedUnits: 1n };
  const more = { ...waiting, receivedUnits: 10_001n };
  expect(eventsOfChange(waiting, { ...waiting, receivedUnits: 10_000n })).toEqual([]);
  expect(eventsOfChange(waiting, more)).toEqual(['payment.attention_required']);
  expect(eventsOfChange(more, more)).toEqual([]);
  expect(eventsOfChange(more, waiting)).toEqual([]);
  for (const state of ['unpaid/manual_required', 'canceled/completed'] as const) {
    const other = { ...fieldsOf(state), ...plain };
    expect(eventsOfChange(other, { ...other, receivedUnits: 10_000n })).toEqual([]);
  }
  // A reorganization removed a deposit after the deadline.
  const failed = { ...fieldsOf('unpaid/manual_required'), ...plain, receivedUnits: 1n };
  expect(eventsOfChange(failed, waiting)).toEqual(['payment.attention_required']);
});
