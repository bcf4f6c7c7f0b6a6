import { describe, expect, it } from 'vitest';
import { UnknownStateError } from './errors.ts';
import {
  fieldsOf,
  nextState,
  type PaymentEvent,
  type PaymentState,
  paymentEvents,
  paymentStates,
  paymentTransitions,
  stateOf,
} from './payment-states.ts';

const states = Object.keys(paymentStates) as PaymentState[];
const events = Object.keys(paymentEvents) as PaymentEvent[];
const rows = new Map(paymentTransitions.map((row) => [`${row.from} ${row.event}`, row]));

describe('the state table', () => {
  it('has one row for a state and an event', () => {
    expect(rows.size).toBe(paymentTransitions.length);
  });

  it('names only known states and events, and every event', () => {
    for (const { from, event, to } of paymentTransitions) {
      expect(states).toContain(from);
      expect(states).toContain(to);
      expect(events).toContain(event);
    }
    expect(new Set(paymentTransitions.map(({ event }) => event))).toEqual(new Set(events));
  });

  it('reaches every state from a new payment', () => {
    const reached = new Set<PaymentState>(['unpaid/pending']);
    // The loop also visits states that its body adds to the set.
    for (const state of reached) {
      for (const { from, to } of paymentTransitions) if (from === state) reached.add(to);
    }
    expect([...reached].sort()).toEqual([...states].sort());
  });

  it('never leaves paid, and never makes a canceled payment paid or open again', () => {
    for (const { from, to } of paymentTransitions) {
      expect(from).not.toBe('paid/completed');
      if (from.startsWith('canceled/')) expect(to).toMatch(/^canceled\//);
    }
  });

  it('makes a payment paid only by final releases', () => {
    const paying = paymentTransitions.filter(
      ({ from, to }) => from.startsWith('unpaid/') && to === 'paid/completed',
    );
    expect(new Set(paying.map(({ event }) => event))).toEqual(new Set(['released_finally']));
    expect(paying.map(({ from }) => from).sort()).toEqual(
      states.filter((state) => state.startsWith('unpaid/')).sort(),
    );
  });

  it('makes a direct payment paid only by a final deposit, and completes it only by final releases', () => {
    const paying = paymentTransitions.filter(({ to }) => to === 'paid/ready');
    expect(paying.filter(({ from }) => !from.startsWith('paid/'))).toEqual([
      expect.objectContaining({ from: 'unpaid/pending', event: 'deposit_final' }),
    ]);
    for (const { from, to, event } of paymentTransitions.filter(({ from }) => from.startsWith('paid/'))) {
      expect(to).toMatch(/^paid\//);
      expect(to === 'paid/completed', from).toBe(event === 'released_finally');
    }
  });
});

describe.each(states)('in %s', (from) => {
  it.each(events)('%s leads where the table says, and throws where it says nothing', (event) => {
    const row = rows.get(`${from} ${event}`);
    if (row === undefined) expect(() => nextState(from, event)).toThrow(UnknownStateError);
    else expect(nextState(from, event)).toBe(row.to);
  });

  it('both fields make the state, and the state both fields', () => {
    expect(stateOf(fieldsOf(from))).toBe(from);
  });
});

describe('a pair of fields that does not exist', () => {
  const statuses = [...new Set(states.map((state) => fieldsOf(state).status))];
  const forwardStatuses = [...new Set(states.map((state) => fieldsOf(state).forwardStatus))];
  const pairs = statuses
    .flatMap((status) => forwardStatuses.map((forwardStatus) => ({ status, forwardStatus })))
    .filter(({ status, forwardStatus }) => !states.includes(`${status}/${forwardStatus}` as PaymentState));

  it.each(pairs)('$status/$forwardStatus is refused', (pair) => {
    expect(() => stateOf(pair)).toThrow(UnknownStateError);
  });

  it.each(['constructor', 'toString', '__proto__', ''])('such as %j is refused', (word) => {
    expect(() => stateOf({ status: word, forwardStatus: word } as never)).toThrow(UnknownStateError);
    expect(() => nextState(word as PaymentState, word as PaymentEvent)).toThrow(UnknownStateError);
  });

  it('is named in the error', () => {
    expect(() => stateOf({ status: 'paid', forwardStatus: 'pending' })).toThrow(
      'no such payment state: paid/pending',
    );
    expect(() => nextState('paid/completed', 'release_sent')).toThrow(
      'no transition for release_sent in paid/completed',
    );
  });
});
