import { expect, it } from 'vitest';
import {
  assessBaseUrl,
  assessClock,
  assessCopy,
  assessDisk,
  assessEndpoints,
  assessEnvFile,
  assessOpenFiles,
  assessProviders,
  assessProxy,
  assessScan,
  checkRelayer,
} from './doctor.ts';

it.each([
  [Number.POSITIVE_INFINITY, 'ok'],
  [20_000, 'ok'],
  [19_999, 'warn'],
  [1_024, 'warn'],
])('%d open files are %s, because connections and webhooks share them', (limit, level) => {
  expect(assessOpenFiles(limit).level).toBe(level);
});

it.each([
  ['600', 0o100600, 'ok'],
  ['640', 0o100640, 'ok'],
  ['644', 0o100644, 'warn'],
  ['660', 0o100660, 'warn'],
  ['601', 0o100601, 'warn'],
])('a file of secrets with the mode %s is %s', (_, mode, level) => {
  expect(assessEnvFile(mode, ['SECRET_KEY']).level).toBe(level);
});

it('variables in .env that only Node reads, from the environment, are named', () => {
  expect(assessEnvFile(0o100600, ['SECRET_KEY', 'NODE_EXTRA_CA_CERTS'])).toMatchObject({
    level: 'warn',
    detail: 'Node does not read NODE_EXTRA_CA_CERTS from .env: set it in the environment of the service',
  });
});

it.each([
  ['https://pay.example', null, [], 'warn', /set TRUST_PROXY/],
  ['https://pay.example', null, ['127.0.0.1'], 'ok', /127\.0\.0\.1/],
  ['https://pay.example', { certFile: 'c', keyFile: 'k' }, [], 'ok', /none is expected/],
  ['http://localhost:3000', null, [], 'ok', /none is expected/],
  ['http://localhost:3000', null, ['10.0.0.0/8'], 'warn', /BASE_URL is not https/],
] as const)(
  'BASE_URL %s with the certificate %j and the proxies %j is %s',
  (baseUrl, tls, trustProxy, level, sentence) => {
    expect(assessProxy({ baseUrl, tls, trustProxy })).toMatchObject({
      level,
      detail: expect.stringMatching(sentence),
    });
  },
);

it.each([
  [50, 1_000, 'fail'],
  [99.9, 100_000, 'fail'],
  [101, 900, 'ok'],
  [5_000, 100_000, 'warn'],
  [10_000, 100_000, 'ok'],
])('%d MB free of %d MB is %s', (freeMb, allMb, level) => {
  expect(assessDisk(freeMb, allMb).level).toBe(level);
});

/** Creates an endpoint. `localhost` and `127.0.0.1` are one host. The label is spelled as in `POLYGON_RPC_URL`. */
const endpointAt = (label: string) => ({ host: label.replace('127.0.0.1', 'localhost'), label });

it.each([
  [['a'], 'warn', /one host \(a\) is trusted in everything it reports/],
  [['a', 'a'], 'warn', /one host \(a\)/],
  [['127.0.0.1:1', 'a'], 'ok', /two hosts \(127\.0\.0\.1:1, a\)/],
  [['a', 'b'], 'ok', /two hosts \(a, b\).*nothing becomes paid while one is down or they disagree/],
  [['a', 'b', 'c'], 'ok', /3 hosts \(a, b, c\) confirm each other: one may fail or lie/],
])('endpoints on the hosts %j that all answer are %s', (hosts, level, sentence) => {
  const endpoints = hosts.map(endpointAt);
  const found = assessEndpoints(
    endpoints,
    hosts.map(() => 1),
    { contradictions: [], finalNumbers: hosts.map(() => 100) },
  );
  expect(found).toMatchObject({ level, detail: expect.stringMatching(sentence) });
});

it('the continuous copy is as far behind as its newest generation', () => {
  const older = 'file  2c1a  59s  2026-11-30T21:00:00Z  2026-11-30T21:08:00Z';
  const newest = 'file  9f00  -12ms  2026-11-30T21:09:00Z  2026-11-30T21:09:59Z';
  expect(assessCopy(`name  generation  lag  start  end\n${older}\n${newest}`).detail).toMatch(/is 0s behind/);
  expect(assessCopy(older)).toMatchObject({ level: 'ok', detail: 'the continuous copy is 59s behind' });
  expect(assessCopy(older.replace('59s', '1m2.5s')).level).toBe('warn');
});

const silent = (label: string) => new Error(`${label} answered eth_chainId with HTTP 401`);
const unknownFinality = { contradictions: [], finalNumbers: [] };

it('a host whose final block is far behind is named, and that payments wait for one of two', () => {
  const assess = (...finalNumbers: readonly number[]) =>
    assessEndpoints(
      finalNumbers.map((_, index) => endpointAt(`host ${index}`)),
      finalNumbers.map(() => 1),
      { contradictions: [], finalNumbers },
    );
  expect(assess(69, 100)).toEqual({
    level: 'warn',
    detail: 'host 0 is 31 blocks behind: replace it, because payments wait for it',
  });
  expect(assess(100, 100, 69)).toEqual({ level: 'warn', detail: 'host 2 is 31 blocks behind: replace it' });
  expect(assess(70, 100).level).toBe('ok');
});

it('a host that is far slower than another one is named', () => {
  const finality = { contradictions: [], finalNumbers: [100, 100], slow: ['a'] };
  expect(assessEndpoints(['a', 'b'].map(endpointAt), [1, 1], finality)).toEqual({
    level: 'warn',
    detail: 'a takes more than half a second, and four times as long as another host: replace it',
  });
});

it('an endpoint that does not answer is named; none that answers is a failure', () => {
  const endpoints = ['a', 'b', 'c'].map(endpointAt);
  const some = assessEndpoints(endpoints, [1, silent('b'), 1], unknownFinality);
  expect(some).toMatchObject({
    level: 'warn',
    detail: 'not all of a, b, c answer for this chain: b answered eth_chainId with HTTP 401; replace them',
  });
  expect(some.detail).not.toContain('nothing becomes paid');
  expect(assessEndpoints(endpoints, ['a', 'b', 'c'].map(silent), unknownFinality)).toMatchObject({
    level: 'fail',
    detail: expect.stringMatching(
      /^no host answers for this chain: a answered .*; c answered .* replace them$/,
    ),
  });
});

it('one of two hosts that does not answer keeps every payment unpaid, which the line says', () => {
  expect(assessEndpoints(['a', 'b'].map(endpointAt), [1, silent('b')], unknownFinality)).toEqual({
    level: 'warn',
    detail:
      'not all of a, b answer for this chain: b answered eth_chainId with HTTP 401; replace them, and nothing becomes paid until then',
  });
});

it.each([
  [[1_000_000, 990_000], 1_002_000, 'ok', /2 s behind/],
  [[1_000_000, silent('b')], 1_031_000, 'warn', /31 s behind .* NTP/],
  [[1_000_000], 1_301_000, 'fail', /301 s behind/],
  [[1_000_000], 968_000, 'warn', /32 s ahead of/],
  [[1_000_000], 600_000, 'fail', /400 s ahead of/],
  [[silent('b')], 0, 'warn', /no endpoint answers/],
])('newest blocks of %j at %d by this clock are %s', (newest, nowMs, level, sentence) => {
  expect(assessClock(newest, nowMs)).toMatchObject({ level, detail: expect.stringMatching(sentence) });
});

it.each([
  [10n ** 18n, 'fail', /has 1 POL for gas, for about 0 payments: send POL/],
  [10n ** 20n, 'warn', /for about 8 payments: send POL to it, three full batches can cost 3601.875 POL/],
  [4n * 10n ** 21n, 'ok', /for about 333 payments; three full batches can cost 3601.875 POL$/],
])('a relayer with %d wei at high fees is %s', async (balanceWei, level, sentence) => {
  const relayer = {
    address: `0x${'1'.repeat(40)}` as const,
    readGasBalance: async () => balanceWei,
    quoteFees: async () => ({ maxFeePerGas: 10n ** 14n, maxPriorityFeePerGas: 10n ** 10n }),
  };
  expect(await checkRelayer(relayer)).toMatchObject({ level, detail: expect.stringMatching(sentence) });
});

it('no provider is a failure, one that is off by default is named, and one that is switched off is a choice', () => {
  expect(assessProviders([], new Map()).level).toBe('fail');
  expect(assessProviders(['moonpay', 'wert'], new Map([['wert', 'on']]))).toMatchObject({
    level: 'warn',
    detail: expect.stringMatching(/^credentials for moonpay, wert\. Off, .*: moonpay\. Run/),
  });
  expect(assessProviders(['moonpay'], new Map([['moonpay', 'off']]))).toEqual({
    level: 'fail',
    detail: 'all providers are disabled: customers cannot pay. Run provider set moonpay --active',
  });
  const switches = new Map([
    ['moonpay', 'off'],
    ['wert', 'on'],
  ]);
  expect(assessProviders(['moonpay', 'wert'], switches)).toEqual({
    level: 'ok',
    detail: 'credentials for moonpay, wert; disabled: moonpay',
  });
});

it('a provider that is blocked is named with the reason, and alone it serves nobody', () => {
  const blocked = new Map([['cryptocom', 'it confirms no wallet'] as const]);
  const switches = new Map([
    ['cryptocom', 'on'],
    ['wert', 'on'],
  ]);
  expect(assessProviders(['cryptocom', 'wert'], switches, blocked)).toEqual({
    level: 'warn',
    detail: 'credentials for cryptocom, wert. cryptocom is blocked: it confirms no wallet',
  });
  expect(assessProviders(['cryptocom'], switches, blocked)).toEqual({
    level: 'fail',
    detail: 'no provider can be used: customers cannot pay. cryptocom is blocked: it confirms no wallet',
  });
});

it('whether providers are on is not guessed where the database was not read', () => {
  expect(assessProviders(['moonpay'], null)).toMatchObject({
    level: 'warn',
    detail: expect.stringContaining('not checked whether they are on'),
  });
});

it.each([
  [undefined, true, 'warn', /not checked/],
  [null, true, 'warn', /no block has been scanned yet: start the service/],
  [10_000, true, 'ok', /is 10 s old$/],
  [180_000, true, 'ok', /is 180 s old$/],
  [181_000, true, 'fail', /is 181 s old, and nothing becomes paid .*role all or worker/],
  [181_000, false, 'warn', /nothing becomes paid .*no service runs on this data folder/],
])('a newest scanned block of the age %s with a running service %s is %s', (ageMs, isServed, level, text) => {
  const nowMs = 1_000_000;
  const scannedAtMs = typeof ageMs === 'number' ? nowMs - ageMs : ageMs;
  expect(assessScan(scannedAtMs, { isServed, nowMs })).toMatchObject({
    level,
    detail: expect.stringMatching(text),
  });
});

const factory = '0x00000000000000000000000000000000000000aB';
const published = (chainId: number, address: string) => ({ chain_id: chainId, factories: [{ address }] });

it.each([
  [200, published(137, factory.toLowerCase()), true, 'ok', /^the service answers at/],
  [200, published(80002, factory), true, 'fail', /^another service answers .* on chain 80002/],
  [200, published(137, '0x1'), true, 'fail', /^another service answers/],
  [200, { chain_id: 137, factories: [null] }, true, 'fail', /^another service answers/],
  [
    200,
    null,
    true,
    'fail',
    /status 200, and not as this service: correct BASE_URL, or the proxy and TRUST_PROXY/,
  ],
  [200, [], false, 'fail', /status 200, and not as this service/],
  [403, null, true, 'fail', /status 403/],
  [404, null, false, 'fail', /status 404/],
  [502, null, true, 'fail', /status 502/],
  [502, null, false, 'warn', /status 502.*run doctor again while the service runs/],
  [308, null, true, 'fail', /status 308/],
])(
  'BASE_URL that answers %s with %j while the service runs (%s) is %s',
  (status, body, isServed, level, text) => {
    const chain = { chainId: 137, factory } as const;
    expect(
      assessBaseUrl('https://pay.example', { status, published: body }, { isServed, chain }),
    ).toMatchObject({ level, detail: expect.stringMatching(text) });
  },
);

it('an endpoint that this machine could not ask is not blamed', () => {
  const endpoints = [{ host: 'one.example', label: 'one.example' }];
  const cause = Object.assign(new Error('connect EMFILE'), { code: 'EMFILE', syscall: 'connect' });
  const silent = new Error('one.example cannot be reached: connect EMFILE', { cause });
  const found = assessEndpoints(endpoints, [silent], { contradictions: [], finalNumbers: [null] });
  expect(found.level).toBe('fail');
  expect(found.detail).toMatch(/^not all endpoints could be asked: this process may not open more files/);
});
