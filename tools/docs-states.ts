/** The parts of docs/payment-lifecycle.md that follow from the state table. */
import { paymentEvents, paymentStates, paymentTransitions } from '../src/payment/payment-states.ts';
import { code, table } from './markdown.ts';

/** Every state and what it means. */
export function stateTable(): string {
  return table(
    ['`status`', '`forward_status`', 'meaning'],
    Object.entries(paymentStates).map(([state, meaning]) => [...state.split('/').map(code), meaning]),
  );
}

/** Every event and when it happens. */
export function eventTable(): string {
  return table(
    ['event', 'when'],
    Object.entries(paymentEvents).map(([event, meaning]) => [code(event), meaning]),
  );
}

/** Every transition that exists. */
export function transitionTable(): string {
  return table(
    ['from', 'event', 'to', 'written in the same transaction'],
    paymentTransitions.map(({ from, event, to, effects }) => [code(from), code(event), code(to), effects]),
  );
}
