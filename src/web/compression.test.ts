import { describe, expect, it } from 'vitest';
import { chooseCoding, isSafeToCompress } from './compression.ts';

describe('the coding of an answer', () => {
  it.each([
    [undefined, null],
    ['', null],
    ['identity', null],
    ['deflate', null],
    ['gzip', 'gzip'],
    ['x-gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['gzip, deflate, br, zstd', 'br'],
    ['br;q=0.5, gzip;q=0.8', 'gzip'],
    ['br ; q=0.8 , gzip ; q=0.8', 'br'],
    ['br;q=0, gzip', 'gzip'],
    ['br;q=0.000, gzip;q=0', null],
    ['*', 'br'],
    ['*;q=0', null],
    ['br;q=0, *', 'gzip'],
    ['gzip;q=0.5, identity', null],
    ['gzip;q=0.5, identity;q=0.5', 'gzip'],
    ['gzip, identity;q=0.5', 'gzip'],
    ['identity;q=0, br;q=0.001', 'br'],
    ['br;q=2, gzip;q=0.1', 'gzip'],
    ['br;q=-1', null],
    ['br;q=0.1234', null],
    ['br;q=', null],
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
