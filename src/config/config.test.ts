import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { fastify } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSelfSignedCertificate } from '../../test/support/certificates.ts';
import { temporaryFolder } from '../../test/support/temporary-folder.ts';
import { providerIds } from '../payment/provider-catalog.ts';
import { variableNameOf } from '../providers/adapters/define-provider.ts';
import { providers as definitions } from '../providers/adapters/providers.ts';
import { type Config, ConfigError, readConfig, readContractDeploymentConfig } from './config.ts';
import { logLevels, variables } from './variables.ts';

type Environment = Readonly<Record<string, string>>;

const ADDRESS = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const SECRET = 'a secret of at least 32 characters';
const RELAYER_KEY = `0x${'1f'.repeat(32)}`;

/** Variables that live mode requires. */
const live: Environment = {
  SECRET_KEY: SECRET,
  POLYGON_RPC_URL: 'https://rpc.example/v2/key',
  DEPOSIT_FACTORY_ADDRESS: ADDRESS,
  RELAYER_PRIVATE_KEY: RELAYER_KEY,
  FEE_WALLET: ADDRESS.toLowerCase(),
};

const folder = temporaryFolder(afterAll);

/** Writes a file to the test's folder and returns its path. */
function fileOf(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** Returns all problems of an environment; empty if it is valid. */
function problemsOf(mode: 'sandbox' | 'live', environment: Environment): readonly string[] {
  try {
    readConfig(mode, environment);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

const sandbox = (environment: Environment) => readConfig('sandbox', environment);
const thresholdOf = (change: Partial<Config['thresholdDefaults']>) => ({
  thresholdDefaults: { toleranceBasisPoints: 200, maxProviderFeeBasisPoints: 3_000, ...change },
});
const liveWith = (environment: Environment) => readConfig('live', { ...live, ...environment });

describe('defaults', () => {
  it('are those of the documentation, and the sandbox needs nothing else', () => {
    expect(sandbox({})).toEqual({
      host: '127.0.0.1',
      port: 3000,
      adminHost: '127.0.0.1',
      adminPort: 3001,
      adminBaseUrl: 'http://localhost:3001',
      baseUrl: 'http://localhost:3000',
      dataDir: './data',
      databaseUrl: null,
      databaseCopyUrl: null,
      secretKey: null,
      previousSecretKeys: [],
      trustProxy: [],
      countryHeader: null,
      tracesUrl: null,
      hstsIncludesSubdomains: false,
      tls: null,
      logLevel: 'info',
      callbackAllowedHosts: new Set(),
      rateLimits: { createPerMinute: 60, statusPerMinute: 120, unauthenticatedPerMinute: 30 },
      checkoutExpiryHours: 168,
      retention: { auditDays: null, customerDataDays: null },
      thresholdDefaults: { toleranceBasisPoints: 200, maxProviderFeeBasisPoints: 3_000 },
      chain: null,
      providers: new Map(),
      mail: null,
      sandboxChainPort: null,
    } satisfies Config);
  });

  it('stand for empty and blank variables too', () => {
    const blank = Object.fromEntries(variables.map(({ name }, index) => [name, index % 2 === 0 ? '' : '  ']));
    expect(sandbox(blank)).toEqual(sandbox({}));
  });

  it('follow PORT', () => {
    expect(sandbox({ PORT: '8080' })).toMatchObject({ adminPort: 8081, baseUrl: 'http://localhost:8080' });
  });

  it('of live mode name Polygon, and the sandbox ignores chain and providers', () => {
    expect(liveWith({}).chain).toEqual({
      chainId: 137,
      rpcUrls: ['https://rpc.example/v2/key'],
      egressProxy: null,
      headUrls: [],
      token: null,
      relayerKeys: [RELAYER_KEY],
      relayMaximumFeeWei: 10n ** 18n,
      relayGasShare: null,
      relayBatchWindowMs: 0,
      multicall: null,
      factory: ADDRESS,
      feeWallet: ADDRESS,
    });
    expect(sandbox({ ...live, MOONPAY_API_KEY: 'k', MOONPAY_BASE_URL: 'not a URL' })).toMatchObject({
      chain: null,
      providers: new Map(),
    });
  });
});

it.each<[Environment, Partial<Config>]>([
  [{ HOST: '::1' }, { host: '::1' }],
  [{ HOST: ' localhost ' }, { host: 'localhost' }],
  [
    { PORT: '65535', ADMIN_PORT: '1' },
    { port: 65_535, adminPort: 1 },
  ],
  [{ ADMIN_HOST: '0.0.0.0' }, { adminHost: '0.0.0.0' }],
  [{ ADMIN_BASE_URL: 'https://admin.example.com/' }, { adminBaseUrl: 'https://admin.example.com' }],
  [{ BASE_URL: 'https://pay.example.com/' }, { baseUrl: 'https://pay.example.com' }],
  [{ BASE_URL: 'HTTPS://Pay.Example.com:8443//' }, { baseUrl: 'https://pay.example.com:8443' }],
  [{ DATA_DIR: '/var/lib/checkout' }, { dataDir: '/var/lib/checkout' }],
  [{ DATABASE_URL: 'postgres://localhost/checkout' }, { databaseUrl: 'postgres://localhost/checkout' }],
  [{ DATABASE_URL: 'postgres://u:p@h1:1,h2:2/x' }, { databaseUrl: 'postgres://u:p@h1:1,h2:2/x' }],
  [{ SECRET_KEY: SECRET }, { secretKey: SECRET }],
  [{ SECRET_KEY_PREVIOUS: `${SECRET}, ${SECRET}2,` }, { previousSecretKeys: [SECRET, `${SECRET}2`] }],
  [{ TRUST_PROXY: '10.0.0.0/8, ::1,fd00::/8' }, { trustProxy: ['10.0.0.0/8', '::1', 'fd00::/8'] }],
  [{ HSTS_SUBDOMAINS: 'on' }, { hstsIncludesSubdomains: true }],
  [{ DATABASE_COPY_URL: 'file:///copy' }, { databaseCopyUrl: 'file:///copy' }],
  [{ COUNTRY_HEADER: 'CF-IPCountry' }, { countryHeader: 'cf-ipcountry' }],
  [
    {
      SMTP_URL: 'smtps://u:p@mail.example.com',
      MAIL_FROM: 'Shop <pay@example.com>',
      BASE_URL: 'https://pay.example.com',
    },
    {
      mail: {
        url: 'smtps://u:p@mail.example.com',
        from: 'Shop <pay@example.com>',
        helloName: 'pay.example.com',
      },
    },
  ],
  ...logLevels.map((level): [Environment, Partial<Config>] => [{ LOG_LEVEL: level }, { logLevel: level }]),
  [
    { CALLBACK_ALLOWED_HOSTS: 'Shop.local:9443,[::1]:1' },
    { callbackAllowedHosts: new Set(['shop.local:9443', '[::1]:1']) },
  ],
  [
    {
      RATE_LIMIT_CREATE_PER_MINUTE: '1',
      RATE_LIMIT_STATUS_PER_MINUTE: '2',
      RATE_LIMIT_UNAUTHENTICATED_PER_MINUTE: '100000000',
    },
    { rateLimits: { createPerMinute: 1, statusPerMinute: 2, unauthenticatedPerMinute: 100_000_000 } },
  ],
  [{ CHECKOUT_EXPIRY_HOURS: '8760' }, { checkoutExpiryHours: 8760 }],
  [
    { AUDIT_RETENTION_DAYS: '90', CUSTOMER_DATA_RETENTION_DAYS: '61', CHECKOUT_EXPIRY_HOURS: '721' },
    { retention: { auditDays: 90, customerDataDays: 61 } },
  ],
  [{ UNDERPAYMENT_TOLERANCE_PERCENT: '0' }, thresholdOf({ toleranceBasisPoints: 0 })],
  [{ UNDERPAYMENT_TOLERANCE_PERCENT: '50' }, thresholdOf({ toleranceBasisPoints: 5000 })],
  [{ UNDERPAYMENT_TOLERANCE_PERCENT: '1.25' }, thresholdOf({ toleranceBasisPoints: 125 })],
  [{ MAX_PROVIDER_FEE_PERCENT: '1' }, thresholdOf({ maxProviderFeeBasisPoints: 100 })],
  [{ MAX_PROVIDER_FEE_PERCENT: '12.5' }, thresholdOf({ maxProviderFeeBasisPoints: 1250 })],
  [{ MAX_PROVIDER_FEE_PERCENT: '50' }, thresholdOf({ maxProviderFeeBasisPoints: 5000 })],
  [{ SANDBOX_CHAIN_PORT: '8545' }, { sandboxChainPort: 8545 }],
])('%j is taken', (environment, expected) => {
  expect(sandbox(environment)).toMatchObject(expected);
});

it('live mode takes several endpoints and keys, another chain with its token, and a provider with its variables', () => {
  const otherKey = `0x${'5'.repeat(64)}`;
  const config = liveWith({
    RELAYER_PRIVATE_KEY: `${RELAYER_KEY}, ${otherKey}`,
    POLYGON_RPC_URL: 'https://a.example/k,http://127.0.0.1:8545',
    CHAIN_ID: '31337',
    SETTLEMENT_TOKEN_ADDRESS: ADDRESS,
    CRYPTOCOM_API_KEY: 'key',
    CRYPTOCOM_ONRAMP: 'confirmed',
    CRYPTOCOM_BASE_URL: 'https://api.crypto.example/v1/',
  });
  expect(config.chain).toMatchObject({
    rpcUrls: ['https://a.example/k', 'http://127.0.0.1:8545'],
    headUrls: [],
    relayerKeys: [RELAYER_KEY, otherKey],
    chainId: 31_337,
    token: ADDRESS,
  });
  expect([...config.providers]).toEqual([
    ['cryptocom', { API_KEY: 'key', ONRAMP: 'confirmed', BASE_URL: 'https://api.crypto.example/v1' }],
  ]);
});

it.each([
  ['0.01', 10n ** 16n],
  ['2.5', 25n * 10n ** 17n],
  [`1.${'0'.repeat(17)}1`, 10n ** 18n + 1n],
  ['1000', 10n ** 21n],
])('live mode takes a RELAY_MAX_FEE_POL of %s to the wei', (text, wei) => {
  expect(liveWith({ RELAY_MAX_FEE_POL: text }).chain?.relayMaximumFeeWei).toBe(wei);
});

it('live mode reads the maximum gas share together with the price of one POL', () => {
  const { chain } = liveWith({ RELAY_MAX_GAS_SHARE_PERCENT: '12.5', POL_PRICE_USD: '0.21' });
  expect(chain?.relayGasShare).toEqual({ basisPoints: 1_250, polRate: 21_000_000n });
  expect(liveWith({ POL_PRICE_USD: '0.21' }).chain?.relayGasShare).toBeNull();
});

it('live mode asks for the price of one POL where a maximum gas share is set', () => {
  expect(problemsOf('live', { ...live, RELAY_MAX_GAS_SHARE_PERCENT: '10' })).toEqual([
    'POL_PRICE_USD must be the price of one POL in USD, such as 0.25.',
  ]);
});

const notAPort = ['0', '65536', '-1', '3.5', '1e3', '0x10', 'abc', '30 00'];
const invalid: readonly [string, readonly string[], RegExp][] = [
  ['HOST', ['a b', '127.0.0.1:80', 'http://x', '-', 'ü.example'], /IP address or a host name/],
  ['ADMIN_HOST', ['a b', '127.0.0.1:80'], /IP address or a host name/],
  ['PORT', notAPort, /whole number from 1 to 65535/],
  ['ADMIN_PORT', notAPort, /whole number from 1 to 65535/],
  ['SANDBOX_CHAIN_PORT', notAPort, /whole number from 1 to 65535/],
  [
    'BASE_URL',
    ['pay.example.com', 'ftp://x.example', 'https://u:p@x.example', 'https://:p@x.example', 'https://'],
    /http\(s\) URL/,
  ],
  ['ADMIN_BASE_URL', ['admin', 'https://x.example/?a'], /http\(s\) URL/],
  ['BASE_URL', ['https://x.example/?a', 'https://x.example/?', 'https://x.example/#'], /http\(s\) URL/],
  ['DATA_DIR', [`/${'d'.repeat(91)}`, 'ü'.repeat(50)], /too long/],
  [
    'BASE_URL',
    ['https://x.example/shop', 'https://x.example/shop/', 'https://x.example/%2F'],
    /a host name of its own/,
  ],
  ['ADMIN_BASE_URL', ['https://x.example/admin'], /a host name of its own/],
  ['DATABASE_URL', ['mysql://localhost/checkout', 'checkout.sqlite', 'postgres:'], /postgres:\/\/ URL/],
  ['DATABASE_URL', ['postgres://h1,/x', 'postgres://h1,h2:port/x'], /host 2 that is not HOST or HOST:PORT/],
  ['SECRET_KEY', ['x'.repeat(31)], /at least 32 characters/],
  ['SECRET_KEY', [`${'x'.repeat(32)},y`], /must not contain a comma/],
  ['SECRET_KEY_PREVIOUS', [`${SECRET},short`], /at least 32 characters/],
  ['HSTS_SUBDOMAINS', ['true', 'ON'], /must be one of on, off/],
  ['DATABASE_COPY_URL', ['/copy', 'file://copy', 'https://s3.example/x', 's3://'], /file:\/\/\/folder or s3/],
  ['COUNTRY_HEADER', ['CF IPCountry', 'x:', '-', 'x'.repeat(62)], /must be the name of a header/],
  ['TRUST_PROXY', ['proxy.example', 'true', '::/129', '0.0.0.0/0', '10.0.0.0/33'], /is no network/],
  ['TRUST_PROXY', ['10.0.0.0/', '10.0.0.0/8/8', '10.0.0.0/-1'], /is no network/],
  ['LOG_LEVEL', ['verbose', 'INFO'], /one of fatal, error, warn, info, debug, trace, silent/],
  [
    'CALLBACK_ALLOWED_HOSTS',
    ['shop.local', 'shop.local:0', 'shop.local:65536', 'shop.local:080', 'https://shop.local:443', '::1:443'],
    /of the form host:port/,
  ],
  [
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    ['localhost:4318', 'ftp://otel', 'http://key@otel:4318', 'http://otel:4318/?key=1'],
    /must be an http\(s\) URL without query, fragment or credentials/,
  ],
  ['RATE_LIMIT_CREATE_PER_MINUTE', ['0', '100000001', '1.5'], /whole number from 1 to 100000000/],
  ['RATE_LIMIT_STATUS_PER_MINUTE', ['0', 'many'], /whole number from 1 to 100000000/],
  ['RATE_LIMIT_UNAUTHENTICATED_PER_MINUTE', ['0', '-5'], /whole number from 1 to 100000000/],
  ['CHECKOUT_EXPIRY_HOURS', ['0', '8761', '1h'], /whole number from 1 to 8760/],
  ['AUDIT_RETENTION_DAYS', ['0', '89', '36501', '1y'], /whole number from 90 to 36500/],
  ['CUSTOMER_DATA_RETENTION_DAYS', ['0', '36', '-1'], /whole number from 37 to 36500/],
  ['MAX_PROVIDER_FEE_PERCENT', ['0', '0.99', '50.01', '12.555', '30%', '-5'], /from 1 to 50/],
  ['UNDERPAYMENT_TOLERANCE_PERCENT', ['-1', '50.01', '2.555', '2%', '101'], /from 0 to 50/],
];

const invalidInLiveMode: readonly [string, readonly string[], RegExp][] = [
  ['BASE_URL', ['http://pay.example.com', 'http://127.evil.example'], /https:\/\/ in live mode/],
  ['ADMIN_BASE_URL', ['http://admin.example.com'], /https:\/\/ in live mode/],
  ['CHAIN_ID', ['0', 'polygon', '1000000000'], /whole number from 1 to 999999999/],
  [
    'EGRESS_PROXY_URL',
    ['proxy:3128', 'https://proxy:3128', 'http://proxy/path', 'http://proxy?x=1', 'http://u:%ff@proxy'],
    /must be of the form http:/,
  ],
  ['POLYGON_RPC_URL', ['rpc.example', 'http://rpc.example'], /https and wss URLs \(http and ws on loopback/],
  [
    'POLYGON_RPC_URL',
    ['https://a.example,ws://b.example', 'https://a.example,ftp://b'],
    /https and wss URLs/,
  ],
  ['POLYGON_RPC_URL', ['', ',', 'wss://rpc.example/key'], /is missing/],
  ['POLYGON_RPC_URL', ['https://a.example,https://b.example,https://A.example/'], /lists an endpoint twice/],
  ['DEPOSIT_FACTORY_ADDRESS', ['0x12', `0x${'0'.repeat(40)}`, ADDRESS.replace('A', 'a')], /valid checksum/],
  ['SETTLEMENT_TOKEN_ADDRESS', ['usdc', `0x${'0'.repeat(40)}`], /valid checksum/],
  [
    'RELAY_MAX_FEE_POL',
    ['0', '0.009', '-1', '1e3', '1000.1', '1,5', '1 POL', `0.${'1'.repeat(19)}`],
    /from 0\.01 to 1000/,
  ],
  ['RELAY_MAX_GAS_SHARE_PERCENT', ['0', '0.99', '100.01', '-1', '1,5', '5%'], /percentage from 1 to 100/],
  ['POL_PRICE_USD', ['0', '-1', '0,21', '1e3', 'a lot'], /price of one POL in USD/],
  ['RELAY_BATCH_WINDOW_MS', ['-1', '60001', '1.5', 'two'], /RELAY_BATCH_WINDOW_MS/],
  ['MULTICALL3_ADDRESS', ['multicall', `0x${'0'.repeat(40)}`], /valid checksum/],
  ['FEE_WALLET', ['wallet', `0x${'0'.repeat(40)}`], /valid checksum/],
  [
    'RELAYER_PRIVATE_KEY',
    ['1f'.repeat(32), `0x${'1f'.repeat(31)}`, `0x${'0'.repeat(64)}`, `0x${'f'.repeat(64)}`],
    /64 hex digits/,
  ],
  [
    'RELAYER_PRIVATE_KEY',
    [
      `${RELAYER_KEY},0x12`,
      Array.from({ length: 17 }, (_, index) => `0x${String(index + 11).repeat(32)}`).join(','),
    ],
    /64 hex digits/,
  ],
  [
    'RELAYER_PRIVATE_KEY',
    [`${RELAYER_KEY},${RELAYER_KEY.replace(/[a-f]/g, (digit) => digit.toUpperCase())}`],
    /lists a key twice/,
  ],
  ...(['SECRET_KEY', 'RELAYER_PRIVATE_KEY', 'DEPOSIT_FACTORY_ADDRESS', 'FEE_WALLET'] as const).map(
    (name): [string, readonly string[], RegExp] => [name, ['', ' '], /is missing/],
  ),
];

const refusedIn = (mode: 'sandbox' | 'live', rows: typeof invalid) =>
  rows.flatMap(([name, values, problem]) => values.map((value) => [mode, name, value, problem] as const));

it.each([...refusedIn('sandbox', invalid), ...refusedIn('live', invalidInLiveMode)])(
  '%s mode refuses %s=%j with a message that names it',
  (mode, name, value, problem) => {
    const problems = problemsOf(mode, { ...(mode === 'live' ? live : {}), [name]: value });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(new RegExp(`^${name}\\b`));
    expect(problems[0]).toMatch(problem);
  },
);

it('has a row of valid or invalid values in this test for every variable', () => {
  const tested = new Set([...invalid, ...invalidInLiveMode].map(([name]) => name));
  const ofProviders = new Set(
    providerIds.flatMap((id) => definitions[id].variables.map(({ name }) => variableNameOf(id, name))),
  );
  const elsewhere = /^(TLS_(CERT|KEY)_FILE|SMTP_URL|MAIL_FROM|RELAYER_(SIGNER_URL|ADDRESS))$/;
  const isTested = (name: string) => tested.has(name) || ofProviders.has(name) || elsewhere.test(name);
  expect(variables.map(({ name }) => name).filter((name) => !isTested(name))).toEqual([]);
});

it('wants ADMIN_PORT when PORT has no successor', () => {
  expect(problemsOf('sandbox', { PORT: '65535' })).toEqual(['ADMIN_PORT must be set: PORT + 1 is no port.']);
});

it('names every problem at once, in the message as well', () => {
  const everything = Object.fromEntries(
    [...invalid, ...invalidInLiveMode].map(([name, values]) => [name, values[0] ?? '']),
  );
  const problems = problemsOf('live', everything);
  const isNamed = (name: string) => problems.some((problem) => problem.startsWith(name));
  expect(Object.keys(everything).filter((name) => !isNamed(name))).toEqual([]);
  expect(new ConfigError(problems).message.split('\n')).toHaveLength(problems.length + 1);
});

it.each<[string, string, RegExp]>([
  ['', 'a@b.example', /^SMTP_URL is missing/],
  ['smtp://mail.example.com', '', /^MAIL_FROM is missing/],
  ...[
    'https://mail.example.com',
    'smtp:',
    'mail.example.com:25',
    'smtp://u:canary@h/x',
    'smtp://u:canary%ff@h',
  ].map((url): [string, string, RegExp] => [url, 'a@b.example', /^SMTP_URL must be smtp:(?!.*canary)/]),
  ...['x', 'a@b.example, c@d.example', 'Shop a@b.example>,', 'a@b.example\r\nBcc: c@d.example'].map(
    (from): [string, string, RegExp] => ['smtp://mail.example.com', from, /^MAIL_FROM must be one/],
  ),
])('a mail server %j with the sender %j is refused', (url, from, problem) => {
  const problems = problemsOf('sandbox', { SMTP_URL: url, MAIL_FROM: from });
  expect(problems).toEqual([expect.stringMatching(problem)]);
});

describe('a secret from a file', () => {
  it.each(variables.filter(({ isSecret }) => isSecret).map(({ name }) => name))(
    'is read for %s, set in one place only, and a file that cannot be read is named',
    (name) => {
      const provider = providerIds.find((id) => name.startsWith(variableNameOf(id, '')));
      const required = (provider === undefined ? [] : definitions[provider].variables)
        .filter(({ isRequired }) => isRequired)
        .map((variable) => [
          variableNameOf(provider ?? 'moonpay', variable.name),
          { BASE_URL: 'https://api.example', ONRAMP: 'confirmed' }[variable.name] ?? SECRET,
        ]);
      const withUrl: Environment = { ...live, ...Object.fromEntries(required) };
      const { [name]: _, ...rest } = withUrl;
      const value = live[name] ?? (/(DATABASE|SMTP|PROXY|SIGNER)_URL$/.test(name) ? '' : SECRET);
      const path = fileOf(name, `${value}\n`);
      expect(readConfig('live', { ...rest, [`${name}_FILE`]: path })).toEqual(
        readConfig('live', { ...rest, [name]: value }),
      );
      if (value !== '') {
        expect(problemsOf('live', { ...rest, [name]: value, [`${name}_FILE`]: path })).toContain(
          `${name} and ${name}_FILE are both set: set one of them.`,
        );
      }
      for (const [bad, code] of [
        [join(folder, 'nowhere'), 'ENOENT'],
        [folder, 'EISDIR'],
      ] as const) {
        expect(problemsOf('live', { ...rest, [`${name}_FILE`]: bad })).toContain(
          `${name}_FILE cannot be read (${code}).`,
        );
      }
    },
  );

  it('that is empty counts as missing', () => {
    const { SECRET_KEY: _, ...rest } = live;
    expect(problemsOf('live', { ...rest, SECRET_KEY_FILE: fileOf('empty', '\n') })).toEqual([
      'SECRET_KEY is missing: at least 32 random characters.',
    ]);
  });
});

describe('HTTPS', () => {
  let cert: string;
  let key: string;
  beforeAll(async () => {
    const { certPem, keyPem } = await createSelfSignedCertificate({ names: ['localhost'] });
    cert = fileOf('cert.pem', certPem);
    key = fileOf('key.pem', keyPem);
  });

  it('takes a certificate with its key', () => {
    expect(sandbox({ TLS_CERT_FILE: cert, TLS_KEY_FILE: key })).toMatchObject({
      tls: { certFile: cert, keyFile: key },
      baseUrl: 'https://localhost:3000',
    });
  });

  it('wants both files, readable, and belonging together', () => {
    expect(problemsOf('sandbox', { TLS_CERT_FILE: cert })).toEqual([
      'TLS_KEY_FILE is missing: TLS_CERT_FILE is set.',
    ]);
    expect(problemsOf('sandbox', { TLS_KEY_FILE: key })).toEqual([
      'TLS_CERT_FILE is missing: TLS_KEY_FILE is set.',
    ]);
    expect(problemsOf('sandbox', { TLS_CERT_FILE: `${cert}.not`, TLS_KEY_FILE: `${key}.not` })).toEqual([
      'TLS_CERT_FILE cannot be read (ENOENT).',
      'TLS_KEY_FILE cannot be read (ENOENT).',
    ]);
    const [problem, ...others] = problemsOf('sandbox', { TLS_CERT_FILE: key, TLS_KEY_FILE: cert });
    expect(problem).toMatch(/^TLS_CERT_FILE and TLS_KEY_FILE are no certificate with its key \(ERR_\w+\)\.$/);
    expect(problem).not.toContain(readFileSync(key, 'utf8').split('\n')[1]);
    expect(others).toEqual([]);
  });

  it.each(['0.0.0.0', '::', '192.0.2.1', 'checkout.internal', '127.0.0.1.example', '127.999.0.1'])(
    'live mode refuses plain HTTP on %s, unless a certificate or a proxy stands in front',
    (HOST) => {
      expect(problemsOf('live', { ...live, HOST })).toEqual([
        'HOST is not loopback: set TLS_CERT_FILE and TLS_KEY_FILE, or TRUST_PROXY behind an HTTPS proxy.',
      ]);
      expect(problemsOf('sandbox', { HOST })).toEqual([]);
      expect(problemsOf('live', { ...live, HOST, TRUST_PROXY: '10.0.0.0/8' })).toEqual([]);
      expect(problemsOf('live', { ...live, HOST, TLS_CERT_FILE: cert, TLS_KEY_FILE: key })).toEqual([]);
    },
  );

  it.each(['127.0.0.1', '127.8.8.8', '::1', 'localhost'])('live mode takes plain HTTP on %s', (HOST) => {
    expect(problemsOf('live', { ...live, HOST })).toEqual([]);
  });

  it.each(['http://127.0.0.1:3000', 'http://[::1]:3000', 'http://localhost:3000', 'https://pay.example.com'])(
    'live mode takes %s as BASE_URL',
    (BASE_URL) => {
      expect(problemsOf('live', { ...live, BASE_URL })).toEqual([]);
    },
  );
});

describe('whatever the environment holds', () => {
  const names = variables.flatMap(({ name, isSecret }) => (isSecret ? [name, `${name}_FILE`] : [name]));
  const numbers = ['0', '1', '-1', '65535', '99999999999', '1e9', '0x'];
  const places = ['https://', 'http://u:p@h/%', '::1', '10.0.0.0/8', 'host:1', ADDRESS, RELAYER_KEY, SECRET];
  const signs = ['', ' ', ',', '/', ':', '@', '[', ']', '\u0000', '\ud800', '🦊', '%zz'];
  const fragments = fc.constantFrom(...numbers, ...places, ...signs);
  const values = fc.oneof(
    fc.string(),
    fc.string({ unit: 'binary' }),
    fc.array(fragments, { maxLength: 5 }).map((parts) => parts.join('')),
  );
  const environments = fc.dictionary(fc.constantFrom(...names), values, {
    maxKeys: 12,
    noNullPrototype: true,
  });

  it('reading ends with a configuration or a ConfigError that names variables', () => {
    fc.assert(
      fc.property(
        environments,
        fc.constantFrom('live', 'sandbox'),
        fc.boolean(),
        (garbage, mode, isFilled) => {
          const problems = problemsOf(mode, isFilled ? { ...live, ...garbage } : garbage);
          const namesOne = (problem: string) => names.some((name) => problem.startsWith(name));
          expect(problems.filter((problem) => !namesOne(problem))).toEqual([]);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('no message repeats the value of a secret', () => {
    const secretNames = variables.filter(({ isSecret }) => isSecret).map(({ name }) => name);
    const canary = 'canary7531';
    const around = ['_', 'http://_', 'https://u:_@', '0x_', '_,'];
    const shape = fc.constantFrom(...around.map((text) => text.replace('_', canary)));
    const secrets = fc.dictionary(fc.constantFrom(...secretNames), shape, { noNullPrototype: true });
    fc.assert(
      fc.property(secrets, fc.constantFrom('live', 'sandbox'), (environment, mode) => {
        const path = fileOf('canary', canary);
        const fromFile = Object.fromEntries(Object.keys(environment).map((name) => [`${name}_FILE`, path]));
        for (const each of [environment, fromFile, { ...environment, ...fromFile }]) {
          expect(problemsOf(mode, each).join('\n')).not.toContain(canary);
        }
      }),
      { numRuns: 200 },
    );
  });

  it('the server takes every proxy list that the configuration takes', () => {
    const part = fc.oneof(fc.ipV4(), fc.ipV6(), fc.constant('::ffff:10.0.0.1'), fc.string({ maxLength: 4 }));
    const network = fc.tuple(part, fc.option(fc.integer({ min: -1, max: 200 })), fc.boolean());
    fc.assert(
      fc.property(fc.array(network, { maxLength: 3 }), (networks) => {
        const TRUST_PROXY = networks
          .map(
            ([address, prefix, isTwice]) =>
              `${address}${prefix === null ? '' : `/${prefix}`}${isTwice ? '/8' : ''}`,
          )
          .join(',');
        if (problemsOf('sandbox', { TRUST_PROXY }).length > 0) return;
        fastify({ trustProxy: [...sandbox({ TRUST_PROXY }).trustProxy] });
      }),
    );
  });
});

describe('contract deploy', () => {
  it('asks for chain and key alone', () => {
    const { POLYGON_RPC_URL, RELAYER_PRIVATE_KEY } = live as Record<string, string>;
    expect(readContractDeploymentConfig({ POLYGON_RPC_URL, RELAYER_PRIVATE_KEY })).toEqual({
      chainId: 137,
      rpcUrls: [POLYGON_RPC_URL],
      egressProxy: null,
      headUrls: [],
      token: null,
      relayerKeys: [RELAYER_KEY],
    });
  });

  it('names what is missing', () => {
    expect(() => readContractDeploymentConfig({})).toThrow(
      /POLYGON_RPC_URL is missing[\s\S]*RELAYER_PRIVATE_KEY is missing/,
    );
  });
});

describe('a signer in place of relayer keys', () => {
  const { RELAYER_PRIVATE_KEY: _, ...keyless } = live;
  const signerUrl = 'https://relayer:hunter22@signer.example';
  const signing = { ...keyless, RELAYER_SIGNER_URL: signerUrl, RELAYER_ADDRESS: ADDRESS };

  it('is taken with the addresses that it signs for', () => {
    const RELAYER_ADDRESS = `${ADDRESS}, 0x${'5'.repeat(40)}`;
    expect(readConfig('live', { ...signing, RELAYER_ADDRESS }).chain?.relayerKeys).toEqual([
      { address: ADDRESS, signerUrl },
      { address: `0x${'5'.repeat(40)}`, signerUrl },
    ]);
  });

  it.each([
    [{ RELAYER_PRIVATE_KEY: RELAYER_KEY }, /^RELAYER_SIGNER_URL and RELAYER_PRIVATE_KEY are both set/],
    [{ RELAYER_SIGNER_URL: 'http://hunter22@signer.example' }, /^RELAYER_SIGNER_URL must be an https URL/],
    [{ RELAYER_ADDRESS: '' }, /^RELAYER_ADDRESS is missing: RELAYER_SIGNER_URL is set/],
    [{ RELAYER_ADDRESS: `${ADDRESS},${ADDRESS}` }, /^RELAYER_ADDRESS must be .*different/],
    [{ RELAYER_ADDRESS: `${ADDRESS.slice(0, -1)}0` }, /^RELAYER_ADDRESS must be .*checksum/],
    [
      { RELAYER_SIGNER_URL: '', RELAYER_PRIVATE_KEY: RELAYER_KEY },
      /^RELAYER_ADDRESS is set without RELAYER_SIGNER_URL/,
    ],
  ])('with %j is refused by name, without its login', (change, problem) => {
    const problems = problemsOf('live', { ...signing, ...change });
    expect(problems).toEqual([expect.stringMatching(problem)]);
    expect(problems.join()).not.toContain('hunter22');
  });
});
