import { expect, it } from 'vitest';
import { eventsOfChange, paymentEventTypeOf, paymentEventTypes } from './payment-events.ts';
import { fieldsOf, paymentTransitions } from './payment-states.ts';

const plain = { amountMismatch: null } as const;

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
  const part = { ...unpaid, amountMismatch: 'partially_paid' } as const;
  expect(eventsOfChange({ ...unpaid, ...plain }, part)).toEqual(['payment.partially_paid']);
  expect(eventsOfChange(part, part)).toEqual([]);
  expect(eventsOfChange(part, { ...unpaid, ...plain })).toEqual([]);
  const paid = { ...fieldsOf('paid/completed'), amountMismatch: 'overpaid' } as const;
  expect(eventsOfChange(part, paid)).toEqual(['payment.paid', 'payment.overpaid']);
});

it('refuses a stored type that does not exist', () => {
  expect(() => paymentEventTypeOf('payment.refunded')).toThrow('no such event: payment.refunded');
  expect(() => paymentEventTypeOf('toString')).toThrow('no such event');
});
