import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { type LogLevel, logLevels, variables } from './config-variables.ts';
import { parsePercentBasisPoints } from './domain/money.ts';
import { type Address, parsePayoutAddress } from './domain/payout-address.ts';
import { type ProviderId, providerIds } from './domain/provider-catalogue.ts';

/** Which parts of the service a process runs. */
export type Role = 'all' | 'api' | 'worker';

/** How a provider is reached; absent where the operator gave no credentials. */
export interface ProviderCredentials {
  readonly apiKey: string;
  readonly baseUrl: string;
}

/** What deploying a factory needs. */
export interface ContractDeploymentConfig {
  readonly chainId: number;
  readonly rpcUrls: readonly string[];
  /** Only for chains that have no well-known USDC. */
  readonly token: Address | null;
  readonly relayerPrivateKey: `0x${string}`;
}

/** How this service reaches the chain and signs on it. */
export interface ChainConfig extends ContractDeploymentConfig {
  readonly factory: Address;
  readonly feeWallet: Address;
}

/** All settings of a process, validated. The only reader of the environment is `readConfig` in this file. */
export interface Config {
  readonly host: string;
  readonly port: number;
  readonly adminHost: string;
  readonly adminPort: number;
  readonly baseUrl: string;
  readonly dataDir: string;
  readonly databaseUrl: string | null;
  /** Null in the sandbox, which makes its own. */
  readonly secretKey: string | null;
  readonly previousSecretKeys: readonly string[];
  /** Networks of proxies whose X-Forwarded-For is believed; empty for none. */
  readonly trustProxy: readonly string[];
  readonly tls: { readonly certFile: string; readonly keyFile: string } | null;
  readonly logLevel: LogLevel;
  readonly callbackAllowedHosts: ReadonlySet<string>;
  readonly rateLimits: {
    readonly createPerMinute: number;
    readonly statusPerMinute: number;
    readonly unauthenticatedPerMinute: number;
  };
  readonly checkoutExpiryHours: number;
  readonly toleranceBasisPoints: number;
  /** Null in the sandbox, which brings its own chain. */
  readonly chain: ChainConfig | null;
  readonly providers: ReadonlyMap<ProviderId, ProviderCredentials>;
  /** Fixes the port of the sandbox's chain; null for a free one. */
  readonly sandboxChainPort: number | null;
}

/** All that is wrong with a configuration, one line a variable. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`The configuration is not valid:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads and validates the environment. `mode` decides what must be there: the sandbox brings its own secret, chain
 * and providers; live mode needs them all. Throws `ConfigError` with every problem at once.
 */
export function readConfig(mode: 'sandbox' | 'live', environment: Environment = process.env): Config {
  const problems: string[] = [];
  const read = createReader(environment, problems);
  const isLive = mode === 'live';

  const port = read.integer('PORT', 3000, 1, 65_535);
  const tls = readTls(read, problems);
  const baseUrl = readBaseUrl(read, tls !== null, port, problems);
  const host = read.text('HOST') ?? '127.0.0.1';
  const trustProxy = readTrustProxy(read, problems);
  const secretKey = read.text('SECRET_KEY');
  if (isLive && secretKey === null) problems.push('SECRET_KEY is missing: at least 32 random characters.');
  if (secretKey !== null && secretKey.length < 32)
    problems.push('SECRET_KEY must have at least 32 characters.');
  if (isLive && tls === null && trustProxy.length === 0 && !isLoopback(host)) {
    problems.push(
      'HOST is not loopback: set TLS_CERT_FILE and TLS_KEY_FILE, or TRUST_PROXY behind an HTTPS proxy.',
    );
  }
  const databaseUrl = read.text('DATABASE_URL');
  if (databaseUrl !== null)
    problems.push('DATABASE_URL must be empty: only SQLite in DATA_DIR is supported so far.');

  const config: Config = {
    host,
    port,
    adminHost: read.text('ADMIN_HOST') ?? '127.0.0.1',
    adminPort: read.integer('ADMIN_PORT', port + 1, 1, 65_535),
    baseUrl,
    dataDir: read.text('DATA_DIR') ?? './data',
    databaseUrl,
    secretKey,
    previousSecretKeys: read.list('SECRET_KEY_PREVIOUS'),
    trustProxy,
    tls,
    logLevel: read.oneOf('LOG_LEVEL', logLevels, 'info'),
    callbackAllowedHosts: readAllowedHosts(read, problems),
    rateLimits: {
      createPerMinute: read.integer('RATE_LIMIT_CREATE_PER_MINUTE', 60, 1, 100_000_000),
      statusPerMinute: read.integer('RATE_LIMIT_STATUS_PER_MINUTE', 120, 1, 100_000_000),
      unauthenticatedPerMinute: read.integer('RATE_LIMIT_UNAUTHENTICATED_PER_MINUTE', 30, 1, 100_000_000),
    },
    checkoutExpiryHours: read.integer('CHECKOUT_EXPIRY_HOURS', 168, 1, 8_760),
    toleranceBasisPoints: readTolerance(read, problems),
    chain: isLive ? readChain(read, problems) : null,
    providers: isLive ? readProviders(read, problems) : new Map(),
    sandboxChainPort:
      read.text('SANDBOX_CHAIN_PORT') === null ? null : read.integer('SANDBOX_CHAIN_PORT', 0, 1, 65_535),
  };
  if (problems.length > 0) throw new ConfigError(problems);
  return config;
}

type Reader = ReturnType<typeof createReader>;

/** Reads single variables; problems are collected, so that an operator sees them all at once. */
function createReader(environment: Environment, problems: string[]) {
  const known = new Map(variables.map((variable) => [variable.name, variable]));

  function text(name: string): string | null {
    const variable = known.get(name);
    if (variable === undefined) throw new Error(`${name} is not in the list of variables`);
    const direct = environment[name]?.trim() || null;
    const file = variable.isSecret ? environment[`${name}_FILE`]?.trim() || null : null;
    if (file === null) return direct;
    if (direct !== null) problems.push(`${name} and ${name}_FILE are both set: set one of them.`);
    try {
      return readFileSync(file, 'utf8').trim() || null;
    } catch (error) {
      problems.push(
        `${name}_FILE cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown error'}).`,
      );
      return null;
    }
  }

  function list(name: string): string[] {
    return (text(name) ?? '')
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '');
  }

  function integer(name: string, fallback: number, minimum: number, maximum: number): number {
    const value = text(name);
    if (value === null) return fallback;
    if (/^\d{1,9}$/.test(value) && Number(value) >= minimum && Number(value) <= maximum) return Number(value);
    problems.push(`${name} must be a whole number from ${minimum} to ${maximum}.`);
    return fallback;
  }

  function oneOf<const Value extends string>(name: string, values: readonly Value[], fallback: Value): Value {
    const value = text(name);
    if (value === null) return fallback;
    const found = values.find((candidate) => candidate === value);
    if (found === undefined) problems.push(`${name} must be one of ${values.join(', ')}.`);
    return found ?? fallback;
  }

  function address(name: string): Address | null {
    const value = text(name);
    if (value === null) return null;
    const parsed = parsePayoutAddress(value);
    if (parsed === null) problems.push(`${name} must be a non-zero address (0x…) with a valid checksum.`);
    return parsed;
  }

  return { text, list, integer, oneOf, address };
}

function readTls(read: Reader, problems: string[]): Config['tls'] {
  const certFile = read.text('TLS_CERT_FILE');
  const keyFile = read.text('TLS_KEY_FILE');
  if (certFile !== null && keyFile !== null) return { certFile, keyFile };
  if (certFile !== null) problems.push('TLS_KEY_FILE is missing: TLS_CERT_FILE is set.');
  if (keyFile !== null) problems.push('TLS_CERT_FILE is missing: TLS_KEY_FILE is set.');
  return null;
}

function readBaseUrl(read: Reader, isTls: boolean, port: number, problems: string[]): string {
  const value = read.text('BASE_URL');
  if (value === null) return `${isTls ? 'https' : 'http'}://localhost:${port}`;
  const url = URL.canParse(value) ? new URL(value) : null;
  const isPlain = url !== null && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === '';
  if (isPlain && url.username === '') return url.href.replace(/\/$/, '');
  problems.push('BASE_URL must be an http(s) URL without query, fragment or credentials.');
  return `http://localhost:${port}`;
}

function readTrustProxy(read: Reader, problems: string[]): string[] {
  const networks = read.list('TRUST_PROXY');
  for (const network of networks) {
    const [address = '', prefix] = network.split('/');
    const version = isIP(address);
    const isPrefixValid =
      prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 6 ? 128 : 32));
    if (version === 0 || !isPrefixValid)
      problems.push(`TRUST_PROXY: ${network} is no network (10.0.0.0/8, ::1).`);
  }
  return networks;
}

function readAllowedHosts(read: Reader, problems: string[]): ReadonlySet<string> {
  const hosts = read.list('CALLBACK_ALLOWED_HOSTS').map((entry) => entry.toLowerCase());
  for (const entry of hosts) {
    if (!/^(?:\[[0-9a-f:]+\]|[a-z0-9_.-]+):\d{1,5}$/.test(entry)) {
      problems.push(`CALLBACK_ALLOWED_HOSTS: ${entry} is not of the form host:port.`);
    }
  }
  return new Set(hosts);
}

function readTolerance(read: Reader, problems: string[]): number {
  const value = read.text('UNDERPAYMENT_TOLERANCE_PERCENT') ?? '2';
  const basisPoints = parsePercentBasisPoints(value);
  if (basisPoints !== null && basisPoints <= 5_000) return basisPoints;
  problems.push(
    'UNDERPAYMENT_TOLERANCE_PERCENT must be a percentage from 0 to 50 with at most two decimals.',
  );
  return 200;
}

function readChain(read: Reader, problems: string[]): ChainConfig | null {
  const deployment = readContractDeployment(read, problems);
  const factory = read.address('DEPOSIT_FACTORY_ADDRESS');
  if (read.text('DEPOSIT_FACTORY_ADDRESS') === null) {
    problems.push('DEPOSIT_FACTORY_ADDRESS is missing: `card-checkout contract deploy` makes one.');
  }
  const feeWallet = read.address('FEE_WALLET');
  if (read.text('FEE_WALLET') === null) problems.push('FEE_WALLET is missing.');
  return deployment === null || factory === null || feeWallet === null
    ? null
    : { ...deployment, factory, feeWallet };
}

function readContractDeployment(read: Reader, problems: string[]): ContractDeploymentConfig | null {
  const rpcUrls = read.list('POLYGON_RPC_URL');
  if (rpcUrls.length === 0) problems.push('POLYGON_RPC_URL is missing: at least one RPC endpoint.');
  if (rpcUrls.some((url) => !isHttpUrl(url))) {
    // The value itself may hold a credential and is not repeated.
    problems.push('POLYGON_RPC_URL must be a list of http(s) URLs.');
  }
  const key = read.text('RELAYER_PRIVATE_KEY');
  const isKey = key !== null && /^0x[0-9a-fA-F]{64}$/.test(key);
  if (!isKey) problems.push('RELAYER_PRIVATE_KEY must be 0x and 64 hex digits.');
  const chainId = read.integer('CHAIN_ID', 137, 1, 999_999_999);
  const token = read.address('SETTLEMENT_TOKEN_ADDRESS');
  return isKey ? { chainId, rpcUrls, token, relayerPrivateKey: key as `0x${string}` } : null;
}

/** What `contract deploy` needs, before there is a factory to configure. Throws `ConfigError`. */
export function readContractDeploymentConfig(
  environment: Environment = process.env,
): ContractDeploymentConfig {
  const problems: string[] = [];
  const config = readContractDeployment(createReader(environment, problems), problems);
  if (config === null || problems.length > 0) throw new ConfigError(problems);
  return config;
}

function isHttpUrl(text: string): boolean {
  return /^https?:\/\//.test(text) && URL.canParse(text);
}

function readProviders(read: Reader, problems: string[]): ReadonlyMap<ProviderId, ProviderCredentials> {
  const providers = new Map<ProviderId, ProviderCredentials>();
  for (const id of providerIds) {
    const [keyName, urlName] = [`${id.toUpperCase()}_API_KEY`, `${id.toUpperCase()}_BASE_URL`];
    const apiKey = read.text(keyName);
    const baseUrl = read.text(urlName);
    if (apiKey === null) {
      if (baseUrl !== null) problems.push(`${keyName} is missing: ${urlName} is set.`);
    } else if (baseUrl === null || !isHttpUrl(baseUrl)) {
      problems.push(`${urlName} must be an http(s) URL: ${keyName} is set.`);
    } else {
      providers.set(id, { apiKey, baseUrl: baseUrl.replace(/\/$/, '') });
    }
  }
  return providers;
}

/** Whether an address to listen on is reachable from this machine alone. */
function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host);
}
