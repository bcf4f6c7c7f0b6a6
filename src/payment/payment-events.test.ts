import { expect, it } from 'vitest';
import type { Payment } from './payment.ts';
import { eventsOfChange, paymentEventTypes } from './payment-events.ts';
import { fieldsOf, paymentTransitions } from './payment-states.ts';

const plain = { provider: 'moonpay', amountMismatch: null, receivedUnits: 0n } as const;

it('makes exactly one event of each transition', () => {
  for (const { from, to } of paymentTransitions) {
    const events = eventsOfChange({ ...fieldsOf(from), ...plain }, { ...fieldsOf(to), ...plain });
    expect(events).toHaveLength(1);
    expect(Object.keys(paymentEventTypes)).toContain(events[0]);
  }
});

it('says paid exactly where a payment becomes paid', () => {
  for (const { from, to } of paymentTransitions) {
    const becomesPaid = fieldsOf(to).status === 'paid' && fieldsOf(from).status !== 'paid';
    const events = eventsOfChange({ ...fieldsOf(from), ...plain }, { ...fieldsOf(to), ...plain });
    expect(events.includes('payment.paid')).toBe(becomesPaid);
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
  const open = fieldsOf('unpaid/pending');
  expect(eventsOfChange({ ...open, ...plain }, { ...open, ...plain, receivedUnits: 1n })).toEqual([]);
});
