/** The parts of docs/payment-lifecycle.md that follow from the state table. */
import {
  type PaymentState,
  paymentEvents,
  paymentStates,
  paymentTransitions,
} from '../src/domain/payment-states.ts';
import { code, table } from './markdown.ts';

/** Every state and what it means. */
export function stateTable(): string {
  return table(
    ['`status`', '`forward_status`', 'what it means'],
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

/** The same table as a picture; transitions between the same two states share an arrow. */
export function stateDiagram(): string {
  const arrows = new Map<string, string[]>();
  for (const { from, event, to } of paymentTransitions) {
    const arrow = `${nodeOf(from)} --> ${nodeOf(to)}`;
    arrows.set(arrow, [...(arrows.get(arrow) ?? []), event]);
  }
  const states = Object.keys(paymentStates) as PaymentState[];
  return [
    '```mermaid',
    'stateDiagram-v2',
    ...states.map((state) => `  state "${state.replace('/', ' / ')}" as ${nodeOf(state)}`),
    `  [*] --> ${nodeOf('unpaid/pending')}`,
    ...[...arrows].map(([arrow, events]) => `  ${arrow}: ${events.join(', ')}`),
    '```',
  ].join('\n');
}

function nodeOf(state: PaymentState): string {
  return state.replace('/', '_');
}
