import { expect, it } from 'vitest';
import { createEventFeed } from './event-feed.ts';

const delivery = (number: number) => ({
  url: 'https://shop.example/hook',
  body: `{"number":${number}}`,
  signature: 'aa',
});

it('begins with what comes after the first question, and tells each listener everything once', async () => {
  const feed = createEventFeed(() => 7, 20);
  feed.record(delivery(1));
  const first = await feed.read(null);
  expect(first.events).toEqual([]);
  feed.record(delivery(2));
  feed.record(delivery(3));
  const second = await feed.read(first.cursor);
  expect(second).toMatchObject({ missed: 0, events: [delivery(2), { ...delivery(3), atMs: 7 }] });
  // Reading events leaves them available to other listeners.
  expect(await feed.read(first.cursor)).toEqual(second);
  expect((await feed.read(second.cursor)).events).toEqual([]);
});

it('answers as soon as something happens', async () => {
  const feed = createEventFeed(Date.now, 60_000);
  const { cursor } = await feed.read(null);
  const waiting = feed.read(cursor);
  feed.record(delivery(1));
  expect((await waiting).events).toMatchObject([delivery(1)]);
});

it('keeps a hundred, and says how many were missed', async () => {
  const feed = createEventFeed(Date.now, 20);
  const { cursor } = await feed.read(null);
  for (let number = 1; number <= 130; number++) feed.record(delivery(number));
  const page = await feed.read(cursor);
  expect(page.missed).toBe(30);
  expect(page.events).toHaveLength(100);
  expect(page.events[0]).toMatchObject(delivery(31));
});

it('tells a listener of before a restart all that happened since, and takes any text for a cursor', async () => {
  const before = createEventFeed(Date.now, 20);
  before.record(delivery(1));
  const { cursor } = await before.read(null);
  const feed = createEventFeed(Date.now, 20);
  feed.record(delivery(2));
  for (const other of [cursor, '', 'x', `${cursor}9`, `${(await feed.read(null)).cursor}x`]) {
    expect((await feed.read(other)).events, other).toMatchObject([delivery(2)]);
  }
});

it('lets listeners go when it stops', async () => {
  const feed = createEventFeed(Date.now, 600_000);
  const { cursor } = await feed.read(null);
  const waiting = feed.read(cursor);
  feed.stop();
  expect((await waiting).events).toEqual([]);
});
