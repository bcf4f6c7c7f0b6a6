import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createLiveUpdates, type LiveContent } from './live-updates.ts';

let content: LiveContent | null;
let reads: string[];
let errors: unknown[];
let fails: boolean;
let live: ReturnType<typeof createLiveUpdates>;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  content = { revision: 'first', text: '{}', isLast: false };
  reads = [];
  errors = [];
  fails = false;
  live = createLiveUpdates({
    read: async ({ paymentId, language }) => {
      reads.push(`${paymentId} ${language}`);
      if (fails) throw new Error('the store is down');
      return content;
    },
    everyMs: 1_000,
    maximumViewers: 3,
    maximumViewersOfAddress: 2,
    onError: (error) => errors.push(error),
  });
});
afterEach(() => {
  live.close();
  vi.useRealTimers();
});

function viewer(paymentId = 'payment', address = 'somewhere') {
  const events: string[] = [];
  const leave = live.follow({
    paymentId,
    address,
    language: 'en',
    userAgent: '',
    revision: 'first',
    send: ({ revision }) => events.push(revision),
    end: () => events.push('end'),
  });
  return { events, leave };
}

async function pass(ms: number): Promise<void> {
  vi.advanceTimersByTime(ms);
  for (let turns = 0; turns < 3; turns++) await turn();
}

it('tells each who looks at a payment of its change once', async () => {
  const [first, second] = [viewer('payment', 'a'), viewer('payment', 'b')];
  await pass(1_000);
  expect(reads).toEqual(['payment en', 'payment en']);
  content = { revision: 'second', text: '{}', isLast: false };
  await pass(1_000);
  await pass(1_000);
  expect([first.events, second.events]).toEqual([['second'], ['second']]);
});

it('ends with the last change', async () => {
  const { events } = viewer();
  content = { revision: 'paid', text: '{}', isLast: true };
  await pass(1_000);
  await pass(5_000);
  expect(events).toEqual(['paid', 'end']);
  expect(reads).toHaveLength(1);
});

it('reads nothing for those who have left', async () => {
  const { leave } = viewer();
  leave?.();
  await pass(5_000);
  expect(reads).toEqual([]);
});

it('takes in as many as it may, in all and from one address, and again when some have left', () => {
  const first = viewer('one', 'a');
  expect(viewer('two', 'a').leave).not.toBeNull();
  expect(viewer('three', 'a').leave).toBeNull();
  expect(viewer('three', 'b').leave).not.toBeNull();
  expect(viewer('four', 'c').leave).toBeNull();
  first.leave?.();
  first.leave?.();
  expect(viewer('four', 'a').leave).not.toBeNull();
  expect(viewer('five', 'd').leave).toBeNull();
});

it('goes on after a read that failed, and says so', async () => {
  const { events } = viewer();
  fails = true;
  await pass(1_000);
  fails = false;
  content = { revision: 'second', text: '{}', isLast: false };
  await pass(1_000);
  expect(errors).toHaveLength(1);
  expect(events).toEqual(['second']);
});

it('ends all streams when the server is about to close', async () => {
  const { events } = viewer();
  live.close();
  expect(events).toEqual(['end']);
  await pass(5_000);
  expect(reads).toEqual([]);
});
