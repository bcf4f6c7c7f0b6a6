import { BlockList, isIP } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import cases from '../../test/cases/callback-urls.json' with { type: 'json' };
import { parseCallbackUrl } from './callback-url.ts';

const NONE: ReadonlySet<string> = new Set();
const createCases = cases.filter((row) => row.stage === 'create');

/**
 * Reimplements the check of addresses with Node's `BlockList`, so that the two implementations do not share a mistake.
 * A list for IPv4 and another for IPv6, because a `BlockList` also matches IPv4 addresses against its IPv6 ranges.
 */
const notPublicIpv4 = new BlockList();
const notPublicIpv6 = new BlockList();
for (const [network, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['168.63.129.16', 32],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const) {
  notPublicIpv4.addSubnet(network, bits, 'ipv4');
}
for (const [network, bits] of [
  ['::', 3],
  ['4000::', 2],
  ['8000::', 1],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const) {
  notPublicIpv6.addSubnet(network, bits, 'ipv6');
}

describe('the callback cases at creation', () => {
  it('are all here', () => {
    expect(cases).toHaveLength(250);
    expect(createCases).toHaveLength(217);
  });

  it.each(createCases.map((row, index) => ({ ...row, index })))(
    '$index $verdict: $why',
    ({ url, verdict }) => {
      const result = parseCallbackUrl(url, NONE);
      expect(result.ok ? 'accept' : 'reject').toBe(verdict);
      if (!result.ok) expect(result.reason).toMatch(/^(is|must) [ -~]+[^.]$/);
    },
  );
});

describe('an accepted callback', () => {
  it('says host name, port and kind as the delivery needs them', () => {
    expect(parseCallbackUrl('HTTPS://Shop.Example.COM.:8443/a?b', NONE)).toMatchObject({
      ok: true,
      hostname: 'shop.example.com',
      port: 8443,
      kind: 'name',
    });
    expect(parseCallbackUrl('https://[2001:4860:4860:0::8888]/', NONE)).toMatchObject({
      hostname: '2001:4860:4860::8888',
      port: 443,
      kind: 'address',
    });
    expect(parseCallbackUrl('https://8.8.8.8', NONE)).toMatchObject({ hostname: '8.8.8.8', kind: 'address' });
    expect(parseCallbackUrl('https://bücher.de/', NONE)).toMatchObject({ hostname: 'xn--bcher-kva.de' });
  });

  it('may be an international name written with its own full stop', () => {
    expect(parseCallbackUrl('https://例え。テスト/', NONE)).toMatchObject({ ok: true, kind: 'name' });
  });
});

describe('what the case list does not spell out', () => {
  it.each([
    'https://%65xample.com/',
    'https://ex%EF%BD%81mple.com/',
    'https://ｅxample.com/',
    'https://exam\u00adple.com/',
    'https://exam\u200bple.com/',
    'https://８.８.８.８/',
    'https://bücher.ｃom/',
    'https://example\u2024com/',
    'https://x.metadata.goog/',
    'https://metadata.packet.net./',
    'https://a.api.metadata.cloud.ibm.com/',
    'https://168.63.129.16.:8443/',
    'https://[64:ff9b::808:808]/',
    'https://example.com/\u2028',
    'https://example.com/\ud800',
    'https://-example.com/',
    `https://${'a'.repeat(64)}.com/`,
  ])('refuses %j', (url) => {
    expect(parseCallbackUrl(url, NONE).ok).toBe(false);
  });

  it('counts code points, not UTF-16 units', () => {
    const prefix = 'https://example.com/';
    const fill = (count: number) => prefix + '😀'.repeat(count - prefix.length);
    expect(parseCallbackUrl(fill(2048), NONE).ok).toBe(true);
    expect(parseCallbackUrl(fill(2049), NONE).ok).toBe(false);
  });
});

describe('the reason that a merchant reads', () => {
  it.each<[unknown, string]>([
    [undefined, 'is required'],
    [null, 'is required'],
    [5, 'must be a string'],
    [
      'https://shop.example.com/a b',
      'must not contain spaces, control characters, backslashes or text direction marks',
    ],
    ['https://shop.example.com/\ud800', 'must be valid Unicode text'],
    [
      'http://localhost:9000/webhook',
      expect.stringMatching(
        /^must begin with https:\/\/ and a host name\. .*listen --forward-to.*CALLBACK_ALLOWED_HOSTS$/,
      ),
    ],
    ['éhttps://shop.example.com/', 'must begin with https:// and a host name'],
    ['https://user@shop.example.com/', 'must not contain user:password credentials'],
    [
      'https://shop.example.com:99999/',
      'is not a valid URL: use one such as https://shop.example.com/webhook',
    ],
    ['https://shop.example.com:0/', 'must not use port 0'],
    [
      'https://10.0.0.1/',
      expect.stringMatching(
        /^must not point to a private, local or reserved address\. Use a public host name\. .*listen --forward-to.*CALLBACK_ALLOWED_HOSTS$/,
      ),
    ],
    [
      'https://shop/',
      expect.stringMatching(
        /^must use a public host name, such as shop\.example\.com\. .*listen --forward-to.*CALLBACK_ALLOWED_HOSTS$/,
      ),
    ],
    [
      'https://shop.local/',
      expect.stringMatching(
        /^must use a public host name, not a name of a private network\. .*listen --forward-to/,
      ),
    ],
    ['https://metadata.goog/', 'must not point to a cloud metadata service'],
    ['https://ｍünchen.de/', 'must have a plain host name, without encoded or look-alike characters'],
  ])('%j %s', (raw, reason) => {
    expect(parseCallbackUrl(raw, NONE)).toEqual({ ok: false, reason });
  });
});

describe('an international name', () => {
  it.each([
    ['with a joiner that its script needs', 'https://نامه\u200cای.example.com/'],
    ['with the other joiner', 'https://क्\u200dष.example.com/'],
    ['with a port', 'https://пример.рф:8443/'],
    ['of one letter', 'https://ü.example.com/'],
  ])('is accepted %s', (_what, url) => {
    expect(parseCallbackUrl(url, NONE)).toMatchObject({ ok: true, kind: 'name' });
  });

  it.each([
    ['a real letter beside a soft hyphen', 'https://mün\u00adchen.de/'],
    ['a letter that becomes two of ASCII', 'https://mün\ufb01sch.de/'],
    ['a full stop of another kind within a label', 'https://mün\u2024chen.de/'],
  ])('is refused with %s', (_what, url) => {
    expect(parseCallbackUrl(url, NONE).ok).toBe(false);
  });
});

describe('at the limits of a name', () => {
  const label = 'a'.repeat(63);
  const labels = `${label}.${label}.${label}.`;
  const ofLength = (length: number) => `${labels.padEnd(length - 4, 'b')}.com`;

  it('are 63 characters of a label and 253 of all', () => {
    expect(ofLength(253)).toHaveLength(253);
    expect(parseCallbackUrl(`https://${ofLength(253)}/`, NONE).ok).toBe(true);
    expect(parseCallbackUrl(`https://${ofLength(254)}/`, NONE).ok).toBe(false);
    expect(parseCallbackUrl(`https://${label}.com/`, NONE).ok).toBe(true);
    expect(parseCallbackUrl(`https://com.${label}/`, NONE).ok).toBe(true);
    expect(parseCallbackUrl(`https://com.a${label}/`, NONE).ok).toBe(false);
  });

  it.each([
    'https://a.b.de/',
    'https://_shop.example.com/',
    'https://a-b.example.c_d/',
    'https://9.example.com/',
  ])('%s is one', (url) => {
    expect(parseCallbackUrl(url, NONE).ok).toBe(true);
  });

  it.each([
    'https://shop-.example.com/',
    'https://shop.-example.com/',
    'https://shop.example.com-/',
    'https://shop..com/',
  ])('%s is none', (url) => {
    expect(parseCallbackUrl(url, NONE).ok).toBe(false);
  });
});

describe('the names of metadata services', () => {
  it.each([
    'notmetadata.goog',
    'metadata.goog.example.com',
    'fapi.metadata.cloud.ibm.com',
    'api.metadata.cloud.ibm.com.example.com',
  ])('%s is somebody else', (host) => {
    expect(parseCallbackUrl(`https://${host}/`, NONE).ok).toBe(true);
  });
});

describe("the operator's list of allowed hosts", () => {
  const allowed = new Set(['localhost:8443', '127.0.0.1:8443', '[::1]:443', 'receiver:443']);

  it.each([
    ['https://localhost:8443/hook', 'localhost'],
    ['https://LOCALHOST.:8443/hook', 'localhost'],
    ['https://127.0.0.1:8443/', '127.0.0.1'],
    ['https://[0::1]/', '::1'],
    ['https://receiver/', 'receiver'],
  ])('lets %s through as %s', (url, hostname) => {
    expect(parseCallbackUrl(url, allowed)).toMatchObject({ ok: true, kind: 'allowed', hostname });
  });

  it.each([
    'https://localhost/',
    'https://localhost:8444/',
    'https://foo.localhost:8443/',
    'http://localhost:8443/',
    'https://user@localhost:8443/',
    'https://ｌocalhost:8443/',
    'https://[::1]:8443/',
  ])('does not open %s', (url) => {
    expect(parseCallbackUrl(url, allowed).ok).toBe(false);
  });
});

describe('whatever is sent', () => {
  const octets = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255));
  const spellings = octets.chain(([a, b, c, d]) => {
    const number = ((a * 256 + b) * 256 + c) * 256 + d;
    const fullWidth = (text: string) => text.replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + +digit));
    const percent = (text: string) => text.replace(/\d/g, (digit) => `%3${digit}`);
    const hex = (value: number) => value.toString(16);
    const groups = `${hex(a * 256 + b)}:${hex(c * 256 + d)}`;
    const dotted = `${a}.${b}.${c}.${d}`;
    return fc.constantFrom(
      dotted,
      `${dotted}.`,
      `${number}`,
      `0x${hex(number)}`,
      `0${number.toString(8)}`,
      `${a}.${b * 65536 + c * 256 + d}`,
      `0x${hex(a)}.${b}.0${(c * 256 + d).toString(8)}`,
      `0${a.toString(8)}.0x${hex(b)}.${c}.${d}`,
      fullWidth(dotted),
      percent(dotted),
      dotted.replaceAll('.', '。'),
      `[::${dotted}]`,
      `[::ffff:${groups}]`,
      `[64:ff9b::${groups}]`,
      `[2002:${groups}::1]`,
      `[${groups}::${groups}]`,
    );
  });
  const pieces = fc.constantFrom(
    'localhost',
    'example',
    'com',
    'internal',
    '127',
    '0',
    '1',
    '0x7f',
    '.',
    '..',
    ':',
    '@',
    '/',
    '\\',
    '[',
    ']',
    '%6c',
    '%00',
    'ｌ',
    'ⓛ',
    '。',
    '\u00ad',
    '\u200d',
    '\t',
    '#',
    '?',
    '-',
    '_',
    'ü',
    'xn--',
    '443',
    '::1',
    'ffff',
  );
  const hosts = fc.oneof(
    { weight: 3, arbitrary: spellings },
    { weight: 3, arbitrary: fc.array(pieces, { maxLength: 8 }).map((parts) => parts.join('')) },
    { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
    { weight: 1, arbitrary: fc.ipV6().map((address) => `[${address}]`) },
    { weight: 1, arbitrary: fc.domain() },
  );
  const urls = fc.tuple(hosts, fc.constantFrom('', '/', ':8443/', '?@example.com', '@example.com/'));

  it('no accepted callback has a host that is not public in its canonical form', () => {
    const seen = { accepted: 0, refused: 0 };
    fc.assert(
      fc.property(urls, ([host, rest]) => {
        const raw = `https://${host}${rest}`;
        const result = parseCallbackUrl(raw, NONE);
        if (!result.ok) {
          seen.refused += 1;
          return;
        }
        seen.accepted += 1;
        const canonical = new URL(raw);
        const bare = canonical.hostname.replace(/^\[|\]$|\.$/g, '');
        expect(result.hostname).toBe(bare);
        expect([canonical.protocol, canonical.username, canonical.password]).toEqual(['https:', '', '']);
        const family = isIP(bare);
        if (family !== 0) {
          const refused = family === 4 ? notPublicIpv4.check(bare) : notPublicIpv6.check(bare, 'ipv6');
          expect(refused, bare).toBe(false);
        } else {
          expect(bare).toMatch(/^[a-z0-9_-]+(\.[a-z0-9_-]+)+$/);
          expect(bare).not.toMatch(/(^|\.)(localhost|internal|local|svc|arpa)$/);
        }
      }),
      { numRuns: 8_000 },
    );
    expect(seen.accepted).toBeGreaterThan(400);
    expect(seen.refused).toBeGreaterThan(400);
  });

  it('never throws, of whatever type it is', () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        const result = parseCallbackUrl(value, NONE);
        if (result.ok) expect(typeof value).toBe('string');
      }),
      { numRuns: 2000 },
    );
  });
});
