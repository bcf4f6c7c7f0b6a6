/** Generates the parts of docs/payment-lifecycle.md from the state table. */
import { paymentEvents, paymentStates, paymentTransitions } from '../src/payment/payment-states.ts';
import { code, meanings, table } from './markdown.ts';

/** All states with their meanings. */
export function stateTable(): string {
  return table(
    ['`status`', '`forward_status`', 'meaning'],
    Object.entries(paymentStates).map(([state, meaning]) => [...state.split('/').map(code), meaning]),
  );
}

/** All events, and when they happen. */
export const eventTable = (): string => meanings(['event', 'when'], paymentEvents);

/** All transitions. */
export function transitionTable(): string {
  return table(
    ['from', 'event', 'to', 'written in the same transaction'],
    paymentTransitions.map(({ from, event, to, effects }) => [code(from), code(event), code(to), effects]),
  );
}
