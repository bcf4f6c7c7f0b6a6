import { describe, expect, it } from 'vitest';
import { paymentEvents, paymentStates, paymentTransitions } from '../../src/domain/payment-states.ts';
import { read, sorted, tableRows } from './markdown.ts';

describe('the life of a payment', () => {
  const text = read('docs/payment-lifecycle.md');
  const rows = tableRows(text).map((cells) => cells.map((cell) => cell.replaceAll('`', '')));

  it('documents every state and no other', () => {
    const documented = rows.filter(([status]) => /^(unpaid|paid|canceled)$/.test(status ?? ''));
    expect(sorted(documented.map(([status, forward, text]) => `${status}/${forward} ${text}`))).toEqual(
      sorted(Object.entries(paymentStates).map(([state, meaning]) => `${state} ${meaning}`)),
    );
  });

  it('documents every transition with its effects and no other, in the table and in the picture', () => {
    const documented = rows.filter(
      ([from, event]) =>
        from !== undefined && from in paymentStates && event !== undefined && event in paymentEvents,
    );
    expect(sorted(documented.map((cells) => cells.join(' | ')))).toEqual(
      sorted(
        paymentTransitions.map(({ from, event, to, effects }) => [from, event, to, effects].join(' | ')),
      ),
    );
    const arrows = [...text.matchAll(/^ {2}(\w+) --> (\w+): (.+)$/gm)].flatMap(([, from, to, events]) =>
      (events ?? '').split(', ').map((event) => `${from} ${event} ${to}`),
    );
    expect(sorted(arrows)).toEqual(
      sorted(paymentTransitions.map(({ from, event, to }) => `${from} ${event} ${to}`.replaceAll('/', '_'))),
    );
  });

  it('documents every event and no other', () => {
    const documented = rows.filter((cells) => cells.length === 2 && /^[a-z]+_[a-z_]+$/.test(cells[0] ?? ''));
    expect(sorted(documented.map((cells) => cells.join(' ')))).toEqual(
      sorted(Object.entries(paymentEvents).map(([event, meaning]) => `${event} ${meaning}`)),
    );
  });
});
