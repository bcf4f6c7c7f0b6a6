import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  addressGroupOf,
  createFixedWindowLimiter,
  enforceRateLimitFrom,
  limitersOf,
  widestNetworkOf,
} from './rate-windows.ts';

function limiterAt(limit: number, maximumWindows?: number) {
  const clock = { nowMs: 0 };
  return { clock, limiter: createFixedWindowLimiter(limit, () => clock.nowMs, maximumWindows) };
}

it('agrees with a plain model of fixed windows, whatever comes when', () => {
  const events = fc.array(
    fc.record({ waitMs: fc.integer({ min: 0, max: 30_000 }), key: fc.constantFrom('a', 'b', 'c') }),
    { maxLength: 200 },
  );
  fc.assert(
    fc.property(events, fc.integer({ min: 1, max: 5 }), (requests, limit) => {
      const { clock, limiter } = limiterAt(limit);
      const starts = new Map<string, { startMs: number; passed: number }>();
      for (const { waitMs, key } of requests) {
        clock.nowMs += waitMs;
        let window = starts.get(key);
        if (window === undefined || clock.nowMs >= window.startMs + 60_000) {
          window = { startMs: clock.nowMs, passed: 0 };
          starts.set(key, window);
        }
        const mayPass = window.passed < limit;
        if (mayPass) window.passed++;
        const expected = mayPass ? 0 : Math.ceil((window.startMs + 60_000 - clock.nowMs) / 1000);
        expect(limiter.takeNow(key)).toBe(expected);
      }
    }),
  );
});

it('remembers no more windows than it may, and forgets the oldest first', () => {
  const { clock, limiter } = limiterAt(1, 3);
  for (const key of ['a', 'b', 'c']) expect(limiter.takeNow(key)).toBe(0);
  expect(limiter.takeNow('b')).toBe(60);
  clock.nowMs = 1_000;
  expect(limiter.takeNow('d')).toBe(0);
  // Adding "d" removed "a", the oldest window, but not "c".
  expect([limiter.takeNow('c'), limiter.takeNow('d'), limiter.takeNow('a')]).toEqual([59, 60, 0]);
});

it.each([
  ['minute', 20_000],
  ['hour', 50_000],
] as const)('the windows of a %s number at most %i', async (kind, maximum) => {
  const limiters = limitersOf({ minute: [1, 60_000], hour: [1, 3_600_000] })(() => 0);
  const taken = Array.from({ length: maximum }, (_, count) => limiters[kind].take(`${count}`));
  expect(await limiters[kind].take('0')).toBeGreaterThan(0);
  await Promise.all([...taken, limiters[kind].take('one more')]);
  expect(await limiters[kind].take('0')).toBe(0);
});

it.each([
  ['203.0.113.7', '203.0.113.7'],
  ['203.0.113.7:51234', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['::FFFF:203.0.113.7', '203.0.113.7'],
  ['::ffff:cb00:7107', '203.0.113.7'],
  ['::ffff:203.0.113.7:51234', '203.0.113.7'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0DB8:0001:0002::1', '2001:db8:1:2::/64'],
  ['[2001:db8:1:2::9]:443', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['2001:db8:1:2:3:4:192.0.2.1', '2001:db8:1:2::/64'],
  ['2001:db8::192.0.2.1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['::', '0:0:0:0::/64'],
  ['1::', '1:0:0:0::/64'],
  ['1:2:3:4:5:6:7::', '1:2:3:4::/64'],
  ['unknown', 'unknown'],
  ['x'.repeat(10_000), 'unknown'],
  ['', 'unknown'],
])('counts %s as %s', (ip, group) => {
  expect(addressGroupOf(ip)).toBe(group);
});

it('counts the /56 and the /48 around an IPv6 address with four and sixteen times the limit', async () => {
  const { limiter } = limiterAt(2);
  const passes = (ip: string) =>
    enforceRateLimitFrom(limiter, ip).then(
      () => true,
      () => false,
    );
  const countPassed = async (count: number, ipOf: (index: number) => string) => {
    let passed = 0;
    for (let index = 0; index < count; index++) if (await passes(ipOf(index))) passed++;
    return passed;
  };
  const hex = (value: number) => value.toString(16);
  expect(await countPassed(5, () => '2001:db8:1:1::1')).toBe(2);
  // Refused attempts do not count against callers in the same wider network.
  expect(await countPassed(20, (index) => `2001:db8:1:${hex(2 + index)}::1`)).toBe(8 - 2);
  expect(await countPassed(200, (index) => `2001:db8:1:${hex(256 * (1 + (index % 255)))}::1`)).toBe(32 - 8);
  expect([await passes('2001:db8:2::1'), await countPassed(5, () => '192.0.2.1')]).toEqual([true, 2]);
  expect(['2001:db8:1:2::9', '192.0.2.1:5000'].map(widestNetworkOf)).toEqual([
    '2001:db8:1::/48',
    '192.0.2.1',
  ]);
});
