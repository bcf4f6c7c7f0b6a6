import { join, resolve } from 'node:path';
import { parsePayoutAddress } from '../payment/address.ts';
import {
  MAXIMUM_PROVIDER_FEE_BASIS_POINTS,
  MAXIMUM_TOLERANCE_BASIS_POINTS,
  MINIMUM_PROVIDER_FEE_BASIS_POINTS,
} from '../payment/fees-and-paid-threshold.ts';
import { parseDecimal, parseUsdRate } from '../payment/money.ts';
import { type ProviderId, providerIds } from '../payment/provider-catalog.ts';
import type { Retention } from '../payment/retention-periods.ts';
import { databaseUrls } from '../platform/database-url.ts';
import { parseEgressProxy } from '../platform/egress-proxy.ts';
import { isLoopbackHost } from '../platform/public-address.ts';
import { type ProviderValues, variableNameOf } from '../providers/adapters/define-provider.ts';
import type { ProviderVariable } from '../providers/adapters/provider-variables.ts';
import { providers as definitions } from '../providers/adapters/providers.ts';
import type { GasShareLimit } from '../settlement/batch-and-gas-limits.ts';
import type { RelayerKey } from '../settlement/chain/signer.ts';
import { createReader, type Environment, type Reader } from './reader.ts';
import {
  HIGHEST_PORT,
  isSecureHttpUrl,
  readAdminPort,
  readAllowedHosts,
  readBaseUrl,
  readCountryHeader,
  readHost,
  readMail,
  readPlainUrl,
  readTls,
  readTrustProxy,
} from './server-addresses.ts';
import { logLevels } from './variables.ts';

export type Role = 'all' | 'api' | 'worker';

export type ContractDeploymentConfig = NonNullable<ReturnType<typeof readContractDeployment>>;

export type RpcAccess = Pick<ReturnType<typeof readAccess>, 'rpcUrls' | 'egressProxy'>;

export type ChainConfig = NonNullable<ReturnType<typeof readChain>>;

export type Config = Readonly<ReturnType<typeof readConfig>>;

export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`The configuration is not valid:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

const MINIMUM_SECRET_CHARACTERS = 32;
/** Maximum length of a socket's path. Linux allows 107 bytes, and macOS 103. */
const MAXIMUM_SOCKET_PATH_BYTES = 103;

/** Reads the configuration; the sandbox needs no secret, chain or provider. Throws `ConfigError` with all problems. */
export function readConfig(mode: 'sandbox' | 'live', environment: Environment = process.env) {
  const read = createReader(environment);
  const isLive = mode === 'live';

  const port = read.integer('PORT', 3000, 1, HIGHEST_PORT);
  const tls = readTls(read);
  const host = readHost(read, 'HOST');
  const trustProxy = readTrustProxy(read);
  const secretKey = read.text('SECRET_KEY');
  if (isLive && secretKey === null) read.refuse('SECRET_KEY is missing: at least 32 random characters.');
  if (secretKey !== null) requireSecret(read, 'SECRET_KEY', secretKey);
  const previousSecretKeys = read.list('SECRET_KEY_PREVIOUS');
  for (const key of previousSecretKeys) requireSecret(read, 'SECRET_KEY_PREVIOUS', key);
  if (isLive && tls === null && trustProxy.length === 0 && !isLoopbackHost(host)) {
    read.refuse(
      'HOST is not loopback: set TLS_CERT_FILE and TLS_KEY_FILE, or TRUST_PROXY behind an HTTPS proxy.',
    );
  }
  const databaseUrl = read.text('DATABASE_URL');
  try {
    if (databaseUrl !== null) databaseUrls(databaseUrl);
  } catch (error) {
    // Omits the value, which may contain a password.
    read.refuse((error as Error).message);
  }
  const databaseCopyUrl = read.text('DATABASE_COPY_URL');
  if (databaseCopyUrl !== null && (databaseUrl !== null || !/^(file:\/|s3:)\/\/./.test(databaseCopyUrl)))
    read.refuse('DATABASE_COPY_URL must be file:///folder or s3://bucket/path, with an empty DATABASE_URL.');

  const adminPort = readAdminPort(read, port);
  const baseUrl = readBaseUrl(read, 'BASE_URL', { isLive, isTls: tls !== null, port });
  const checkoutExpiryHours = read.integer('CHECKOUT_EXPIRY_HOURS', 168, 1, 8_760);
  const config = {
    host,
    port,
    adminHost: readHost(read, 'ADMIN_HOST'),
    adminPort,
    /** URL of the operator's console, without a trailing slash. */
    adminBaseUrl: readBaseUrl(read, 'ADMIN_BASE_URL', { isLive, isTls: false, port: adminPort }),
    baseUrl,
    dataDir: readDataDir(read),
    /** `postgres://…` URL; null for SQLite in the data folder. */
    databaseUrl,
    databaseCopyUrl,
    /** Null if unset, which only the sandbox allows, because it generates a key. */
    secretKey,
    previousSecretKeys,
    /** Networks of proxies whose X-Forwarded-For is trusted; empty for none. */
    trustProxy,
    /** Lower-case name of the header with the customer's country, set by the operator's proxy; null for none. */
    countryHeader: readCountryHeader(read),
    tls,
    tracesUrl: readPlainUrl(read, 'OTEL_EXPORTER_OTLP_ENDPOINT')?.href ?? null,
    hstsIncludesSubdomains: read.oneOf('HSTS_SUBDOMAINS', ['on', 'off'], 'off') === 'on',
    logLevel: read.oneOf('LOG_LEVEL', logLevels, 'info'),
    callbackAllowedHosts: readAllowedHosts(read),
    rateLimits: {
      createPerMinute: read.integer('RATE_LIMIT_CREATE_PER_MINUTE', 60, 1, 100_000_000),
      statusPerMinute: read.integer('RATE_LIMIT_STATUS_PER_MINUTE', 120, 1, 100_000_000),
      unauthenticatedPerMinute: read.integer('RATE_LIMIT_UNAUTHENTICATED_PER_MINUTE', 30, 1, 100_000_000),
    },
    checkoutExpiryHours,
    retention: readRetention(read, checkoutExpiryHours),
    /** Defaults for accounts without their own settings. */
    thresholdDefaults: {
      toleranceBasisPoints: read.percent(
        'UNDERPAYMENT_TOLERANCE_PERCENT',
        200,
        0,
        MAXIMUM_TOLERANCE_BASIS_POINTS,
      ),
      maxProviderFeeBasisPoints: read.percent(
        'MAX_PROVIDER_FEE_PERCENT',
        3_000,
        MINIMUM_PROVIDER_FEE_BASIS_POINTS,
        MAXIMUM_PROVIDER_FEE_BASIS_POINTS,
      ),
    },
    /** Chain settings; null in the sandbox, which starts its own chain. */
    chain: isLive ? readChain(read) : null,
    /** Settings of each configured provider, by the names in `providerVariables`. */
    providers: isLive ? readProviders(read) : new Map<ProviderId, ProviderValues>(),
    /** Mail settings; null if no email is sent, such as in the sandbox. */
    mail: readMail(read, baseUrl),
    /** Port of the sandbox's chain; null for a free one. */
    sandboxChainPort:
      read.text('SANDBOX_CHAIN_PORT') === null
        ? null
        : read.integer('SANDBOX_CHAIN_PORT', 0, 1, HIGHEST_PORT),
  };
  requireNoProblem(read);
  return config;
}

/** Reads retention periods. Customer data stays at least a month after expiry: money may arrive late or be returned. */
function readRetention(read: Reader, checkoutExpiryHours: number): Retention {
  const days = (name: string, minimum: number) =>
    read.text(name) === null ? null : read.integer(name, minimum, minimum, 36_500);
  return {
    auditDays: days('AUDIT_RETENTION_DAYS', 90),
    customerDataDays: days('CUSTOMER_DATA_RETENTION_DAYS', Math.ceil(checkoutExpiryHours / 24) + 30),
  };
}

function requireNoProblem({ problems }: Reader): void {
  if (problems.length > 0) throw new ConfigError(problems);
}

/** Describes for operators where the data is stored, without a password. */
export function describePlace({ dataDir, databaseUrl }: Pick<Config, 'dataDir' | 'databaseUrl'>): string {
  const folder = `data folder ${resolve(dataDir)}`;
  return databaseUrl === null ? folder : `PostgreSQL at DATABASE_URL, ${folder}`;
}

/** Requires a long secret without commas, because SECRET_KEY_PREVIOUS is a list. Never repeats the value. */
function requireSecret(read: Reader, name: string, secret: string): void {
  if (secret.length < MINIMUM_SECRET_CHARACTERS)
    read.refuse(`${name} must have at least ${MINIMUM_SECRET_CHARACTERS} characters.`);
  if (secret.includes(',')) read.refuse(`${name} must not contain a comma: SECRET_KEY_PREVIOUS is a list.`);
}

function readDataDir(read: Reader): string {
  const dataDir = read.text('DATA_DIR') ?? './data';
  if (Buffer.byteLength(join(dataDir, 'control.sock')) > MAXIMUM_SOCKET_PATH_BYTES)
    read.refuse('DATA_DIR is too long: the path of the control socket in it has a limit of 103 bytes.');
  return dataDir;
}

function readChain(read: Reader) {
  const deployment = readContractDeployment(read);
  const factory = read.address('DEPOSIT_FACTORY_ADDRESS');
  if (read.text('DEPOSIT_FACTORY_ADDRESS') === null) {
    read.refuse('DEPOSIT_FACTORY_ADDRESS is missing: `card-checkout contract deploy` makes one.');
  }
  const feeWallet = read.address('FEE_WALLET');
  if (read.text('FEE_WALLET') === null)
    read.refuse('FEE_WALLET is missing: the wallet that receives the fees.');
  const relayMaximumFeeWei = readRelayMaximumFee(read);
  const relayGasShare = readRelayGasShare(read);
  const relayBatchWindowMs = read.integer('RELAY_BATCH_WINDOW_MS', 0, 0, 60_000);
  // Null for `MULTICALL3`, the address on most chains.
  const multicall = read.address('MULTICALL3_ADDRESS');
  return deployment === null || factory === null || feeWallet === null
    ? null
    : { ...deployment, factory, feeWallet, relayMaximumFeeWei, relayGasShare, relayBatchWindowMs, multicall };
}

/** Reads the maximum cost of a relayer transaction: from 0.01 POL, enough for a release at usual fees, to 1,000 POL. */
function readRelayMaximumFee(read: Reader): bigint {
  const wei = parseDecimal(read.text('RELAY_MAX_FEE_POL') ?? '1', 18);
  if (wei !== null && wei >= 10n ** 16n && wei <= 10n ** 21n) return wei;
  read.refuse('RELAY_MAX_FEE_POL must be an amount from 0.01 to 1000 with at most 18 decimals.');
  return 10n ** 18n;
}

/** Reads the gas share, which requires a POL price. Null if it is unset, so that no release waits for lower fees. */
function readRelayGasShare(read: Reader): GasShareLimit | null {
  const basisPoints = read.percent('RELAY_MAX_GAS_SHARE_PERCENT', null, 100, 10_000);
  const price = read.text('POL_PRICE_USD');
  const polRate = parseUsdRate(price ?? '');
  if (polRate === null && (price !== null || basisPoints !== null))
    read.refuse('POL_PRICE_USD must be the price of one POL in USD, such as 0.25.');
  return basisPoints !== null && polRate !== null ? { basisPoints, polRate } : null;
}

/** Reads the chain's endpoints for a command that can run without them. Throws `ConfigError` if they are invalid. */
export function readRpcAccess(environment: Environment = process.env) {
  const read = createReader(environment);
  const access = readAccess(read);
  requireNoProblem(read);
  return access;
}

/** Reads the chain's endpoints and the proxy for all outgoing connections. */
function readAccess(read: Reader) {
  const urls = read.list('POLYGON_RPC_URL');
  // Checks `ws` and `wss` as `http` and `https`, because the same rules apply.
  if (urls.some((url) => !isSecureHttpUrl(url.replace(webSocketScheme, 'http$1')))) {
    // Omits the value, which may contain a credential.
    read.refuse(
      'POLYGON_RPC_URL must be a list of https and wss URLs (http and ws on loopback only): its answers decide about money.',
    );
  }
  if (new Set(urls.map((url) => URL.parse(url)?.href)).size < urls.length) {
    read.refuse('POLYGON_RPC_URL lists an endpoint twice: it would confirm what it says itself.');
  }
  const proxyUrl = read.text('EGRESS_PROXY_URL');
  const egressProxy = proxyUrl === null ? null : parseEgressProxy(proxyUrl);
  if (proxyUrl !== null && egressProxy === null)
    read.refuse('EGRESS_PROXY_URL must be of the form http://user:password@host:port, without a path.');
  return {
    egressProxy,
    rpcUrls: urls.filter((url) => !webSocketScheme.test(url)),
    /** WebSocket endpoints that only announce new blocks. */
    headUrls: urls.filter((url) => webSocketScheme.test(url)),
  };
}

const webSocketScheme = /^ws(s?:\/\/)/i;

function readContractDeployment(read: Reader) {
  const access = readAccess(read);
  if (access.rpcUrls.length === 0)
    read.refuse('POLYGON_RPC_URL is missing: at least one RPC endpoint with https.');
  const relayerKeys = readRelayerKeys(read);
  const chainId = read.integer('CHAIN_ID', 137, 1, 999_999_999);
  // Only for chains without a well-known USDC.
  const token = read.address('SETTLEMENT_TOKEN_ADDRESS');
  return relayerKeys === null ? null : { ...access, chainId, token, relayerKeys };
}

/** Maximum relayer keys. Each adds calls to the endpoints, and a block has room for the batches of only a few. */
const MAXIMUM_RELAYER_KEYS = 16;

function readRelayerKeys(read: Reader): readonly [RelayerKey, ...RelayerKey[]] | null {
  const signerUrl = read.text('RELAYER_SIGNER_URL');
  if (signerUrl !== null) return readSigner(read, signerUrl);
  if (read.text('RELAYER_ADDRESS') !== null)
    read.refuse('RELAYER_ADDRESS is set without RELAYER_SIGNER_URL: a private key has its own address.');
  const [first, ...others] = read.list('RELAYER_PRIVATE_KEY') as readonly `0x${string}`[];
  if (first === undefined) {
    read.refuse('RELAYER_PRIVATE_KEY is missing: `card-checkout relayer create` makes one.');
    return null;
  }
  const isValid = [first, ...others].every(isPrivateKey) && others.length < MAXIMUM_RELAYER_KEYS;
  if (!isValid)
    read.refuse(
      `RELAYER_PRIVATE_KEY must be 0x and 64 hex digits of a secp256k1 key, or up to ${MAXIMUM_RELAYER_KEYS} of them, comma-separated.`,
    );
  else if (new Set([first, ...others].map((key) => key.toLowerCase())).size <= others.length)
    read.refuse('RELAYER_PRIVATE_KEY lists a key twice.');
  return [first, ...others];
}

/** Reads the keys of a remote signer, one per RELAYER_ADDRESS. Errors omit the URL, which may contain a credential. */
function readSigner(read: Reader, signerUrl: string): readonly [RelayerKey, ...RelayerKey[]] | null {
  if (read.text('RELAYER_PRIVATE_KEY') !== null)
    read.refuse('RELAYER_SIGNER_URL and RELAYER_PRIVATE_KEY are both set: set one of them.');
  if (!isSecureHttpUrl(signerUrl))
    read.refuse('RELAYER_SIGNER_URL must be an https URL (http on loopback only).');
  const list = read.list('RELAYER_ADDRESS');
  const addresses = new Set(list.flatMap((text) => parsePayoutAddress(text) ?? []));
  const [first, ...others] = [...addresses].map((address) => ({ address, signerUrl }));
  if (first === undefined && list.length === 0)
    read.refuse(
      'RELAYER_ADDRESS is missing: RELAYER_SIGNER_URL is set, and eth_accounts lists its addresses.',
    );
  else if (addresses.size < list.length || list.length > MAXIMUM_RELAYER_KEYS)
    read.refuse(
      `RELAYER_ADDRESS must be an address (0x…) with a valid checksum, or up to ${MAXIMUM_RELAYER_KEYS} different ones, comma-separated.`,
    );
  return first === undefined ? null : [first, ...others];
}

/** Reads the settings of `contract deploy`, which needs no factory. Throws `ConfigError` if they are invalid. */
export function readContractDeploymentConfig(
  environment: Environment = process.env,
): ContractDeploymentConfig {
  const read = createReader(environment);
  const config = readContractDeployment(read);
  if (config === null) throw new ConfigError(read.problems);
  requireNoProblem(read);
  return config;
}

/** Returns whether a text is 0x and 64 hex digits, from 1 to below the order of the curve. */
function isPrivateKey(text: string): boolean {
  if (!/^0x[0-9a-fA-F]{64}$/.test(text)) return false;
  const order = 0xffff_ffff_ffff_ffff_ffff_ffff_ffff_fffe_baae_dce6_af48_a03b_bfd2_5e8c_d036_4141n;
  return BigInt(text) > 0n && BigInt(text) < order;
}

/** Reads the settings of each configured provider. Unlike `readConfig`, does not validate them. */
export function readProviderValues(environment: Environment): Config['providers'] {
  return readProviders(createReader(environment));
}

/** Reads the settings of each configured provider. Refuses a partial configuration. */
function readProviders(read: Reader): ReadonlyMap<ProviderId, ProviderValues> {
  const providers = new Map<ProviderId, ProviderValues>();
  for (const id of providerIds) {
    const values = readValues(read, id);
    if (values !== null) providers.set(id, values);
  }
  for (const id of providerIds) addRoute(read, providers, id);
  return providers;
}

/** Adds the settings of the provider that runs a payment method. */
function addRoute(read: Reader, providers: Map<ProviderId, ProviderValues>, id: ProviderId): void {
  const values = providers.get(id);
  const route = definitions[id].routes.find((each) => each === values?.['ROUTE']);
  if (values === undefined || route === undefined) return;
  const ofRoute = providers.get(route);
  if (ofRoute !== undefined) providers.set(id, { ...ofRoute, ...values });
  else read.refuse(`${variableNameOf(id, 'ROUTE')} is ${route}, which is not configured.`);
}

/** Reads the settings of a provider; null if none is set. */
function readValues(read: Reader, id: ProviderId): ProviderValues | null {
  const variables = definitions[id].variables.map((variable) => ({
    ...variable,
    fullName: variableNameOf(id, variable.name),
  }));
  const values: Record<string, string> = {};
  for (const { name, fullName } of variables) {
    const value = read.text(fullName);
    if (value !== null) values[name] = name === 'BASE_URL' ? value.replace(/\/$/, '') : value;
  }
  const isSet = ({ name }: ProviderVariable) => values[name] !== undefined;
  const given = variables.find(isSet)?.fullName;
  if (given === undefined) return null;
  for (const variable of variables) {
    const problem = problemOf(variable, values[variable.name]);
    if (problem !== null) read.refuse(`${variable.fullName} ${problem}: ${given} is set.`);
  }
  return values;
}

/** Describes the problem of a value, as text that follows its variable's name; null if it is valid. */
function problemOf({ name, isRequired, oneOf }: ProviderVariable, value: string | undefined): string | null {
  if (name === 'BASE_URL' && (value === undefined ? isRequired : !isSecureHttpUrl(value)))
    return 'must be an https URL (http on loopback only)';
  if (value === undefined) return isRequired ? 'is missing' : null;
  if (oneOf !== undefined && !oneOf.includes(value))
    return oneOf.length === 1 ? `must be ${oneOf[0]}` : `must be one of ${oneOf.join(', ')}`;
  return null;
}
