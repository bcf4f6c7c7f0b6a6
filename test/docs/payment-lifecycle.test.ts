import { expect, it } from 'vitest';
import { paymentStates, paymentTransitions } from '../../src/payment/payment-states.ts';
import { read, sorted } from './markdown.ts';

it('the picture of the life of a payment draws every state once, and no arrow that does not exist', () => {
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
