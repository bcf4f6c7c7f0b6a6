import fc from 'fast-check';
import { expect, it } from 'vitest';
import { chooseWebhooks, type DeliveryBounds, fullHosts, type OpenDelivery } from './choose-webhooks.ts';
import { hostOfCallback, type WaitingWebhook } from './webhook.ts';

let number = 0;

function waitingOf(accountId: string, count: number, host = () => `host ${++number}`): WaitingWebhook[] {
  return Array.from({ length: count }, () => {
    const createdAtMs = ++number;
    return { id: `webhook ${String(createdAtMs).padStart(9, '0')}`, accountId, host: host(), createdAtMs };
  });
}

const bounds: DeliveryBounds = { open: 300, openPerHost: 40 };
const heldBy = (open: readonly OpenDelivery[], accountId: string) =>
  open.filter((delivery) => delivery.accountId === accountId).length;

it('an account alone takes half of the places, two a third each, and there are always some left', () => {
  const one = chooseWebhooks(waitingOf('one', 1_000), [], bounds);
  expect(one).toHaveLength(150);
  const both = chooseWebhooks([...waitingOf('one', 1_000), ...waitingOf('two', 1_000)], [], bounds);
  expect([heldBy(both, 'one'), heldBy(both, 'two')]).toEqual([100, 100]);
});

it('an account that comes late, after seven that took what they could, gets a place at once', () => {
  let open: OpenDelivery[] = [];
  for (let hostile = 0; hostile < 7; hostile++) {
    const taken = chooseWebhooks(waitingOf(`hostile ${hostile}`, 1_000), open, bounds);
    open = [...open, ...taken];
  }
  expect(chooseWebhooks(waitingOf('late', 1), open, bounds)).toHaveLength(1);
});

it('whoever holds least comes first, then the oldest', () => {
  const busy = waitingOf('busy', 3);
  const idle = waitingOf('idle', 2);
  const open = waitingOf('busy', 1);
  const chosen = chooseWebhooks([...idle, ...busy], open, { open: 6, openPerHost: 6 });
  expect(chosen).toEqual([idle[0], busy[0], idle[1]]);
});

it('a host gets no more than its places, and takes none from other hosts of the account', () => {
  const toOne = waitingOf('one', 100, () => 'hanging.example.com');
  const other = waitingOf('one', 1);
  const chosen = chooseWebhooks([...toOne, ...other], [], bounds);
  expect(chosen).toEqual([...toOne.slice(0, 40), ...other]);
  expect(fullHosts(chosen, bounds)).toEqual(['hanging.example.com']);
  expect(fullHosts(chosen.slice(1), bounds)).toEqual([]);
});

it('keeps every bound and leaves nothing waiting that could go, whatever waits', () => {
  const delivery = fc.record({
    accountId: fc.constantFrom('a', 'b', 'c', 'd'),
    host: fc.constantFrom('x', 'y', 'z'),
  });
  const small = { open: 12, openPerHost: 5 };
  fc.assert(
    fc.property(
      fc.array(delivery, { maxLength: 6 }),
      fc.array(delivery, { maxLength: 30 }),
      (open, asked) => {
        const waiting = asked.map((one, index) => ({ ...one, id: `${index}`, createdAtMs: index }));
        const chosen = chooseWebhooks(waiting, open, small);
        const all = [...open, ...chosen];
        expect(all.length).toBeLessThanOrEqual(small.open);
        for (const { host } of chosen) {
          expect(all.filter((one) => one.host === host).length).toBeLessThanOrEqual(small.openPerHost);
        }
        for (const { accountId } of chosen)
          expect(heldBy(all, accountId)).toBeLessThanOrEqual(
            small.open - all.length + 1 + others(chosen, accountId),
          );
        // Nothing is left that the bounds would let go.
        const left = waiting.filter((one) => !chosen.includes(one));
        expect(chooseWebhooks(left, all, small)).toEqual([]);
      },
    ),
  );
});

/** Places that others took in the same pass, maybe after this account had taken its last. */
function others(chosen: readonly WaitingWebhook[], accountId: string): number {
  return chosen.length - heldBy(chosen, accountId);
}

it('the host of a callback is the same however it is written', () => {
  expect(hostOfCallback('https://Shop.Example.COM.:8443/hook')).toBe('shop.example.com');
  expect(hostOfCallback('https://shop.example.com')).toBe('shop.example.com');
  expect(hostOfCallback('no URL')).toBe('');
});
