import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addressFamily,
  addressIdentity,
  canonicalPublicAddress,
  hostIdentity,
  isLoopbackHost,
  isPublicAddress,
  isPublicResolvedAddress,
  isSecureUrl,
  peerAddress,
} from './public-address.ts';

/** First and last address of each refused range, between the neighboring public addresses, if any. */
const EDGES = [
  ['9.255.255.255', '10.0.0.0', '10.255.255.255', '11.0.0.0'],
  ['100.63.255.255', '100.64.0.0', '100.127.255.255', '100.128.0.0'],
  ['126.255.255.255', '127.0.0.0', '127.255.255.255', '128.0.0.0'],
  ['168.63.129.15', '168.63.129.16', '168.63.129.16', '168.63.129.17'],
  ['169.253.255.255', '169.254.0.0', '169.254.255.255', '169.255.0.0'],
  ['172.15.255.255', '172.16.0.0', '172.31.255.255', '172.32.0.0'],
  ['191.255.255.255', '192.0.0.0', '192.0.0.255', '192.0.1.0'],
  ['192.0.1.255', '192.0.2.0', '192.0.2.255', '192.0.3.0'],
  ['192.88.98.255', '192.88.99.0', '192.88.99.255', '192.88.100.0'],
  ['192.167.255.255', '192.168.0.0', '192.168.255.255', '192.169.0.0'],
  ['198.17.255.255', '198.18.0.0', '198.19.255.255', '198.20.0.0'],
  ['198.51.99.255', '198.51.100.0', '198.51.100.255', '198.51.101.0'],
  ['203.0.112.255', '203.0.113.0', '203.0.113.255', '203.0.114.0'],
  ['223.255.255.255', '224.0.0.0', '255.255.255.255', null],
  [null, '0.0.0.0', '0.255.255.255', '1.0.0.0'],
  [null, '::', '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2000::'],
  ['2000:ffff::', '2001::', '2001:1ff:ffff::', '2001:200::'],
  ['2001:db7:ffff::', '2001:db8::', '2001:db8:ffff::', '2001:db9::'],
  ['2001:ffff::', '2002::', '2002:ffff::', '2003::'],
  ['3ffe:ffff::', '3fff::', '3fff:fff::', '3fff:1000::'],
  ['3fff:ffff:ffff::', '4000::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', null],
] as const;

describe('the edges of the refused ranges', () => {
  it.each(EDGES)('%s | %s to %s | %s', (below, first, last, above) => {
    expect(isPublicAddress(first)).toBe(false);
    expect(isPublicAddress(last)).toBe(false);
    expect(isPublicResolvedAddress(last)).toBe(false);
    for (const neighbor of [below, above]) {
      if (neighbor === null) continue;
      expect(isPublicAddress(neighbor)).toBe(true);
      expect(isPublicResolvedAddress(neighbor)).toBe(true);
    }
  });
});

describe('an address wrapped for NAT64', () => {
  it('is judged by the wrapped address in a DNS answer, and refused as a literal', () => {
    expect(isPublicResolvedAddress('64:ff9b::808:808')).toBe(true);
    expect(isPublicResolvedAddress('64:ff9b::8.8.8.8')).toBe(true);
    expect(isPublicResolvedAddress('64:ff9b::a00:1')).toBe(false);
    expect(isPublicResolvedAddress('64:ff9b::a83f:8110')).toBe(false);
    expect(isPublicAddress('64:ff9b::808:808')).toBe(false);
  });

  it('is the same host as the wrapped address', () => {
    expect(addressIdentity('64:ff9b::808:808')).toBe(addressIdentity('8.8.8.8'));
    expect(addressIdentity('::ffff:8.8.8.8')).toBe(addressIdentity('8.8.8.8'));
    expect(addressIdentity('2606:4700::1')).toBe(addressIdentity('2606:4700:0:0::0001'));
    expect(addressIdentity('::FFFF:8.8.8.8')).toBe('8.8.8.8');
    expect(addressIdentity('2606:4700:0:0:0::0A')).toBe('2606:4700::a');
    expect(addressIdentity('::8.8.8.8')).not.toBe(addressIdentity('8.8.8.8'));
  });
});

describe('an IPv4 address within an IPv6 one', () => {
  it.each(['0.0.0.0', '0.0.0.1', '0.1.0.0', '10.0.0.1', '8.8.0.0', '255.255.255.255'])(
    'is the host %s, however the groups are shortened',
    (address) => {
      for (const prefix of ['64:ff9b::', '::ffff:', '0:0:0:0:0:ffff:', '0064:FF9B:0:0:0:0:']) {
        expect(addressIdentity(`${prefix}${address}`)).toBe(addressIdentity(address));
      }
      expect(isPublicResolvedAddress(`64:ff9b::${address}`)).toBe(isPublicAddress(address));
      expect(isPublicResolvedAddress(`::ffff:${address}`)).toBe(false);
    },
  );

  it('is found for every address', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        expect(addressIdentity(`64:ff9b::${address}`)).toBe(address);
        expect(addressIdentity(`::ffff:${address}`)).toBe(address);
      }),
    );
  });
});

describe('text that is no address', () => {
  it.each([
    '',
    'localhost',
    '1.2.3',
    '1.2.3.4.5',
    '01.2.3.4',
    '256.1.1.1',
    '1.2.3.4 ',
    '8.8.8.8:53',
    '0x8.8.8.8',
    ':',
    ':::',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1::2::3',
    '2606:4700::1%eth0',
    '64:ff9b::808:808%eth0',
    '::ffff:01.2.3.4',
    '64:ff9b::0x8.8.8.8',
    '::00001',
    '[2606:4700::1]',
    '2606:47000::1',
    '1:2:3:4:5:6:7::8:9',
    '1.2.3.4::',
    '2606:4700:1.2.3.4::',
  ])('%j is not public', (text) => {
    expect(isPublicAddress(text)).toBe(false);
    expect(isPublicResolvedAddress(text)).toBe(false);
    expect(addressIdentity(text)).toBeNull();
    expect(addressFamily(text)).toBeNull();
  });
});

describe('every address', () => {
  it('is read as one number, however IPv6 shortens it', () => {
    const groups = fc.array(fc.nat(0xffff), { minLength: 8, maxLength: 8 });
    fc.assert(
      fc.property(groups, (values) => {
        const full = values.map((value) => value.toString(16).padStart(4, '0')).join(':');
        const short = new URL(`http://[${full}]`).hostname.slice(1, -1);
        expect(addressIdentity(short)).toBe(addressIdentity(full));
        expect(isPublicAddress(short)).toBe(isPublicAddress(full));
      }),
    );
  });

  it('of either family is recognized', () => {
    fc.assert(fc.property(fc.ipV4(), (address) => addressFamily(address) === 4));
    fc.assert(fc.property(fc.ipV6(), (address) => addressFamily(address) === 6));
  });
});

it.each([
  'localhost',
  'LOCALHOST',
  '127.0.0.1',
  '127.8.9.10',
  '127.255.250.249',
  '127.200.199.100',
  '::1',
  '[::1]',
  '::ffff:127.0.0.1',
])('%s is this machine', (host) => {
  expect(isLoopbackHost(host)).toBe(true);
});

it.each([
  '',
  'example.com',
  'localhost.example.com',
  '127.0.0.1.example.com',
  '127.999.0.1',
  '127.256.0.1',
  '127.0.0.01',
  '127.0.0.1.1',
  'mylocalhost',
  '127.0.0.1\n',
  '10.0.0.1',
  '0.0.0.0',
  '::',
  '::2',
])('%j is another one', (host) => {
  expect(isLoopbackHost(host)).toBe(false);
});

it.each([
  ['https://pay.example.com/1', true],
  ['http://127.0.0.1:8545', true],
  ['http://localhost:8545/x', true],
  ['http://[::1]:8545', true],
  ['http://pay.example.com/1', false],
  ['http://127.0.0.1.example.com/', false],
  ['http://localhost@example.com/', false],
  ['ftp://localhost/', false],
  ['javascript:alert(1)', false],
])('whether %s is secure: %s', (url, isSecure) => {
  expect(isSecureUrl(new URL(url))).toBe(isSecure);
});

it.each([
  ['8.8.8.8', '8.8.8.8'],
  ['::FFFF:8.8.8.8', '8.8.8.8'],
  ['2606:4700:0:0::00AB', '2606:4700::ab'],
])('the public address %s stands for a customer as %s', (address, canonical) => {
  expect(canonicalPublicAddress(address)).toBe(canonical);
});

it.each(['10.0.0.1', '::ffff:10.0.0.1', '127.0.0.1', '::1', 'fe80::1', 'example.com', '', '8.8.8.8:80'])(
  '%j never stands for a customer',
  (address) => {
    expect(canonicalPublicAddress(address)).toBeNull();
  },
);

describe('the host behind a URL', () => {
  it.each([
    ['https://RPC.example.com/v1/key', 'rpc.example.com'],
    ['http://rpc.example.com:8545', 'rpc.example.com'],
    ['https://rpc.example.com../other', 'rpc.example.com'],
    ['https://mylocalhost/', 'mylocalhost'],
    ['https://localhost.example.com', 'localhost.example.com'],
    ['https://ip6-localhost.example.com', 'ip6-localhost.example.com'],
    ['https://example.ip6-loopback', 'example.ip6-loopback'],
    ['https://8.8.8.8:8545', '8.8.8.8'],
    ['https://8.127.0.1', '8.127.0.1'],
    ['https://10.0.0.0', '10.0.0.0'],
    ['https://[::ffff:8.8.8.8]', '8.8.8.8'],
    ['https://[2606:4700:0::1]:8545', '2606:4700::1'],
    ['https://[::2]', '::2'],
    ['https://[1::1]', '1::1'],
    ['https://[::11]', '::11'],
  ])('of %s is %s, whatever port, path or key it names', (url, host) => {
    expect(hostIdentity(url)).toBe(host);
  });

  it.each([
    'http://localhost:8545',
    'http://LOCALHOST.:8545/key',
    'http://node.localhost:8545',
    'http://ip6-localhost:8545',
    'http://ip6-loopback:8545',
    'http://127.0.0.1:8545',
    'http://127.8.9.10:8545',
    'http://0.0.0.0:8545',
    'http://[::1]:8545',
    'http://[::]:8545',
    'http://[::ffff:127.0.0.1]:8545',
  ])('of %s is a port of this machine', (url) => {
    expect(hostIdentity(url)).toBe('localhost:8545');
  });

  it('has the port of its protocol on this machine where it names none', () => {
    expect(hostIdentity('http://localhost')).toBe('localhost:80');
    expect(hostIdentity('https://127.0.0.1')).toBe('localhost:443');
  });
});

it.each([
  ['8.8.88.88:4711', '8.8.88.88'],
  ['::ffff:8.8.8.8', '8.8.8.8'],
  [' "[2606:4700::1]:4711" ', '2606:4700::1'],
  ['[2606:4700::1]', '2606:4700::1'],
  ['fe80::1%eth0', 'fe80::1'],
  [`fe80::1%${'e'.repeat(92)}`, 'fe80::1'],
  [`fe80::1%${'e'.repeat(93)}`, null],
  ['[2606:4700::1]x', null],
  ['x[2606:4700::1]', null],
  ['8.8.8.8:4711x', null],
  ['"8.8.8.8', null],
  ['unknown', null],
])('reads the peer %j as the address %j', (text, address) => {
  expect(peerAddress(text)).toBe(address);
});
