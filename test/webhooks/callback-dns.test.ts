import { afterEach, describe, expect, it } from 'vitest';
import { parseCallbackUrl } from '../../src/payment/callback-url.ts';
import { addressIdentity } from '../../src/platform/public-address.ts';
import {
  createCallbackHostCheck,
  createHostResolver,
  createOwnAddresses,
  type HostResolver,
} from '../../src/webhooks/callback-host.ts';
import cases from '../cases/callback-urls.json' with { type: 'json' };
import { type StubDnsAnswer, type StubDnsServer, startDnsServer } from '../support/dns-server.ts';

const OWN_ADDRESS = '93.184.216.40';
const ownAddresses = () => new Set([String(addressIdentity(OWN_ADDRESS))]);
const dnsCases = cases.filter((row) => row.stage === 'create+dns');
const open: { close(): unknown }[] = [];

afterEach(async () => {
  for (const part of open.splice(0)) await part.close();
});

async function setUp(
  answer: (name: string, type: string, earlier: number) => StubDnsAnswer,
  settings: Partial<Parameters<typeof createHostResolver>[0]> = {},
): Promise<{ dns: StubDnsServer; resolver: HostResolver }> {
  const dns = await startDnsServer(answer);
  const resolver = createHostResolver({
    servers: [dns.server],
    timeoutMs: 20_000,
    ...settings,
  });
  open.push(dns);
  return { dns, resolver };
}

/** The stubbed answer of a row, with this machine's own address where the row asks for it. */
function answerOf(row: (typeof dnsCases)[number]): StubDnsAnswer {
  if (row.dns === undefined) throw new Error(`the row ${row.url} has no DNS answer`);
  return JSON.parse(JSON.stringify(row.dns).replace('<own address>', OWN_ADDRESS));
}

describe('the callback cases that need DNS', () => {
  it('are all here', () => {
    expect(dnsCases).toHaveLength(11);
  });

  it.each(dnsCases)('$verdict: $why', async (row) => {
    const { dns, resolver } = await setUp(() => answerOf(row));
    const parsed = parseCallbackUrl(row.url, new Set());
    if (!parsed.ok) throw new Error(`the text alone was refused: ${parsed.reason}`);
    expect(parsed.kind).toBe('name');
    const refusal = await createCallbackHostCheck(resolver, ownAddresses)(parsed.hostname);
    expect(refusal === null ? 'accept' : 'reject').toBe(row.verdict);
    expect(dns.questions.map(({ type }) => type).sort()).toEqual(['A', 'AAAA']);
  });
});

describe('the check at creation', () => {
  it('refuses a private answer of either family, wherever it stands among public ones', async () => {
    const answers: Record<string, StubDnsAnswer> = {
      'a.example.com': { A: ['8.8.8.8'], AAAA: ['2606:4700::1', 'fd00::1'] },
      'b.example.com': { A: ['8.8.8.8', '1.1.1.1', '192.168.0.1'], AAAA: ['2606:4700::1'] },
    };
    const { resolver } = await setUp((name) => answers[name] ?? {});
    for (const name of Object.keys(answers)) {
      expect(await createCallbackHostCheck(resolver, ownAddresses)(name)).toMatch(
        /^must not resolve to a private, local or reserved address\. Use a public host name\. .*listen --forward-to/,
      );
    }
  });

  it('refuses an own address also as a literal, and when it comes wrapped for NAT64', async () => {
    const { dns, resolver } = await setUp(() => ({ AAAA: ['64:ff9b::5db8:d828'] }));
    const refused = 'must not resolve to this service';
    expect(await createCallbackHostCheck(resolver, ownAddresses)(OWN_ADDRESS)).toBe(refused);
    expect(dns.questions).toHaveLength(0);
    expect(await createCallbackHostCheck(resolver, ownAddresses)('n.example.com')).toBe(refused);
  });

  it('judges a cached answer anew when this machine has got another address', async () => {
    const { dns, resolver } = await setUp(() => ({ A: ['8.8.8.8'] }));
    let own: ReadonlySet<string> = new Set();
    const check = createCallbackHostCheck(resolver, () => own);
    expect(await check('shop.example.com')).toBeNull();
    expect(await check('shop.example.com')).toBeNull();
    own = new Set([addressIdentity('8.8.8.8') as string]);
    expect(await check('shop.example.com')).toBe('must not resolve to this service');
    expect(dns.questions).toHaveLength(2);
  });

  it('accepts a name when the DNS server is silent, within the bound', async () => {
    const { resolver } = await setUp(() => ({ silent: true }), { timeoutMs: 300 });
    expect(await createCallbackHostCheck(resolver, ownAddresses)('silent.example.com')).toBeNull();
  });

  it.each([
    ['fails', { error: 'SERVFAIL' }],
    ['is silent, without waiting for the whole bound', { silent: true }],
  ] as const)('still judges the family that answered when the other one %s', async (_, other) => {
    const { resolver } = await setUp((_name, type) => (type === 'A' ? { A: ['10.1.1.1'] } : other), {
      // Which no test has.
      timeoutMs: 600_000,
    });
    expect(await createCallbackHostCheck(resolver, ownAddresses)('half.example.com')).toMatch(
      /^must not resolve/,
    );
  });
});

describe('the resolver', () => {
  it('asks once for many callers at the same time, and then answers from its cache', async () => {
    const { dns, resolver } = await setUp(() => ({ A: ['8.8.8.8'] }));
    const all = await Promise.all(Array.from({ length: 50 }, () => resolver.resolve('many.example.com')));
    for (const one of all) expect(one).toEqual({ addresses: ['8.8.8.8'] });
    await resolver.resolve('many.example.com');
    expect(dns.questions).toHaveLength(2);
  });

  it('remembers a failure, so that a broken name is not asked for with every create', async () => {
    const { dns, resolver } = await setUp(() => ({ error: 'ENOTFOUND' }));
    expect(await resolver.resolve('gone.example.com')).toEqual({ failed: 'no_address' });
    expect(await resolver.resolve('gone.example.com')).toEqual({ failed: 'no_address' });
    expect(dns.questions).toHaveLength(2);
  });

  it('tells a name without usable addresses from a silent server', async () => {
    const answers: Record<string, StubDnsAnswer> = {
      'gone.example.com': { error: 'ENOTFOUND' },
      'empty.example.com': {},
      'broken.example.com': { error: 'SERVFAIL' },
      'silent.example.com': { silent: true },
      'flood.example.com': { A: Array.from({ length: 65 }, (_, index) => `8.8.8.${index}`) },
    };
    const { resolver } = await setUp((name) => answers[name] ?? {});
    const failures = await Promise.all(
      Object.entries(answers).map(([name, { silent }]) => resolver.resolveFresh(name, silent ? 400 : 20_000)),
    );
    expect(failures).toEqual(
      ['no_address', 'no_address', 'no_address', 'timeout', 'no_address'].map((failed) => ({ failed })),
    );
  });

  it('answers literals and localhost without DNS', async () => {
    const { dns, resolver } = await setUp(() => ({ A: ['8.8.8.8'] }));
    expect(await resolver.resolveFresh('2606:4700::1', 1_000)).toEqual({
      addresses: ['2606:4700::1'],
    });
    for (const name of ['localhost', 'shop.localhost']) {
      expect(await resolver.resolveFresh(name, 1_000)).toEqual({
        addresses: ['127.0.0.1', '::1'],
      });
    }
    expect(dns.questions).toHaveLength(0);
  });
});

describe("this machine's own addresses", () => {
  it('contain loopback, in the form that answers are compared with', () => {
    expect(createOwnAddresses()().has(String(addressIdentity('127.0.0.1')))).toBe(true);
  });

  it('must be readable when the service starts: otherwise every delivery would fail', () => {
    // As in a sandbox of systemd without netlink.
    const refused = () => {
      throw new Error('A system error occurred: uv_interface_addresses returned Unknown system error 97');
    };
    expect(() => createOwnAddresses(refused)).toThrow(/cannot be read: allow AF_NETLINK/);
  });
});
