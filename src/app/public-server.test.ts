import { expect, it } from 'vitest';
import { connectionsWithin, readOpenFilesLimit } from './public-server.ts';

it('connections leave room for what the service opens itself', () => {
  expect(connectionsWithin(Number.POSITIVE_INFINITY)).toBe(16_000);
  expect(connectionsWithin(20_000)).toBe(16_000);
  expect(connectionsWithin(15_000)).toBe(11_000);
  expect(connectionsWithin(1_024)).toBe(256);
});

it('the limit of this process can be read', () => {
  expect(readOpenFilesLimit()).toBeGreaterThan(100);
});
