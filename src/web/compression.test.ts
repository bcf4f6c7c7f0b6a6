import { describe, expect, it } from 'vitest';
import { chooseCoding, isSafeToCompress } from './compression.ts';

describe('the coding of an answer', () => {
  it.each([
    [undefined, null],
    ['', null],
    ['identity', null],
    ['deflate', null],
    ['gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['gzip, deflate, br, zstd', 'br'],
    ['br ; q=0.8 , gzip ; q=0.8', 'br'],
    ['br;q=0, gzip', 'gzip'],
    ['br;q=0.000, gzip;q=0', null],
    [';;,,=;q=1,', null],
  ])('for %j is %j', (header, coding) => {
    expect(chooseCoding(header)).toBe(coding);
  });
});

describe('a page with secrets is compressed', () => {
  it.each([
    ['none', '/dashboard/payments?q=jane', true],
    ['same-origin', '/dashboard/payments?q=jane', true],
    ['same-site', '/dashboard', false],
    ['cross-site', '/dashboard', false],
    [undefined, '/dashboard/payments', true],
    [undefined, '/dashboard/payments?q=jane', false],
  ])('when the browser says %j of %s: %j', (site, url, isSafe) => {
    expect(isSafeToCompress({ headers: { 'sec-fetch-site': site }, url })).toBe(isSafe);
  });
});
