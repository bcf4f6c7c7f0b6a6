import { describe, expect, it } from 'vitest';
import { paymentEvents, paymentStates, paymentTransitions } from '../../src/payment/payment-states.ts';
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

  it('documents every transition with its effects and no other', () => {
    const documented = rows.filter(
      ([from, event]) =>
        from !== undefined && from in paymentStates && event !== undefined && event in paymentEvents,
    );
    expect(sorted(documented.map((cells) => cells.join(' | ')))).toEqual(
      sorted(
        paymentTransitions.map(({ from, event, to, effects }) => [from, event, to, effects].join(' | ')),
      ),
    );
  });

  it('draws every state once, and no arrow that does not exist', () => {
    const picture = read('docs/images/states.svg');
    const drawn = [...picture.matchAll(/data-state="([^"]+)"/g)].map(([, state]) => state ?? '');
    expect(sorted(drawn)).toEqual(sorted(Object.keys(paymentStates)));
    const arrows = [...picture.matchAll(/data-from="([^"]+)" data-to="([^"]+)"/g)];
    expect(arrows.length).toBeGreaterThan(10);
    const exists = (from: string, to: string) =>
      paymentTransitions.some((each) => each.from === from && each.to === to);
    for (const [, from = '', to = ''] of arrows) {
      // What leads there from each state of a group is drawn once, from its frame.
      const sources = from.endsWith('/*')
        ? Object.keys(paymentStates).filter((state) => state.startsWith(from.slice(0, -1)))
        : [from];
      for (const source of sources) expect(exists(source, to), `${source} → ${to}`).toBe(true);
    }
  });

  it('documents every event and no other', () => {
    const documented = rows.filter((cells) => cells.length === 2 && /^[a-z]+_[a-z_]+$/.test(cells[0] ?? ''));
    expect(sorted(documented.map((cells) => cells.join(' ')))).toEqual(
      sorted(Object.entries(paymentEvents).map(([event, meaning]) => `${event} ${meaning}`)),
    );
  });
});
