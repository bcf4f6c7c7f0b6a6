import { execFile } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { getCACertificates } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { parseEnv, promisify } from 'node:util';
import { SECOND_FACTOR } from '../accounts/second-factor.ts';
import { describeMissingSecrets } from '../accounts/secrets-in-use.ts';
import { CONTROL_SOCKET } from '../cli/control-socket.ts';
import type { DatabaseDescription } from '../cli/operations.ts';
import { describeScan } from '../cli/present.ts';
import type { DoctorCheck } from '../cli/program.ts';
import { type ChainConfig, type Config, ConfigError, describePlace, readConfig } from '../config/config.ts';
import { reachServer } from '../mail/mailers.ts';
import type { Address } from '../payment/address.ts';
import { createIpnTokens } from '../payment/ipn-token.ts';
import type { ProviderId } from '../payment/provider-catalog.ts';
import { doubtAbout } from '../payment/unusual-address.ts';
import { unencryptedHosts } from '../platform/database-url.ts';
import { machineFaultOf } from '../platform/machine-fault.ts';
import { isListening, within } from '../platform/outgoing-calls.ts';
import { addressFamily, isLoopbackHost, isPublicAddress } from '../platform/public-address.ts';
import { createSecretBox } from '../platform/secret-box.ts';
import { providers as knownProviders } from '../providers/adapters/providers.ts';
import { describeOffByDefault } from '../providers/provider-availability.ts';
import {
  ChainUnavailableError,
  LAGGING_BLOCKS,
  LATE_SCAN_MS,
  type Relayer,
} from '../settlement/chain/chain.ts';
import { clockSkew, NOTABLE_SKEW_MS, readNewestBlocksMs } from '../settlement/chain/clock-skew.ts';
import {
  compareRecentLogs,
  type FinalityDoubt,
  findContradictions,
} from '../settlement/chain/confirm-finality.ts';
import {
  type ChainEndpoint,
  closeChainEndpoints,
  createChainEndpoints,
} from '../settlement/chain/endpoint-rotation.ts';
import { lowGasWei, polOf, releasesPaidBy } from '../settlement/chain/gas.ts';
import { createRelayer } from '../settlement/chain/relayer.ts';
import { openSigner } from '../settlement/chain/signer.ts';
import { knownToken, verifyDeployment } from '../settlement/chain/verify-deployment.ts';
import { SIGNING_SECRETS } from '../webhooks/webhook-signatures.ts';
import { LAST_BACKUP_FILE } from './back-up.ts';
import { requireChain, requireToken } from './live-services.ts';
import { describeMigration, requireKnownSchema } from './open-store.ts';
import { runOnStore } from './run-on-store.ts';
import { runOperationAnywhere } from './run-operation.ts';
import { connectionsWithin, readOpenFilesLimit } from './servers.ts';
import { requireOneChain } from './settlements.ts';
import { requireKnownSecret } from './start-service.ts';

/** Result of a check. Unless the level is `ok`, the detail ends with what to do. */
type Finding = Pick<DoctorCheck, 'level' | 'detail'>;

const ok = (detail: string): Finding => ({ level: 'ok', detail });
const warn = (detail: string): Finding => ({ level: 'warn', detail });
const fail = (detail: string): Finding => ({ level: 'fail', detail });

const ANSWER_LIMIT_MS = 5_000;
const CHECK_LIMIT_MS = 20_000;
/** Maximum wait for the store, which other commands hold for about a second. */
const STORE_PATIENCE_MS = 3_000;

/**
 * Checks a live configuration, this machine, and everything that the configuration refers to.
 *
 * @param onCheck receives the findings in order, each as soon as possible, because some checks take many seconds
 */
export async function runDoctor(
  onCheck: (check: DoctorCheck) => void,
): Promise<{ readonly checks: readonly DoctorCheck[] }> {
  const machine = [
    checked('open_files', async () => assessOpenFiles(readOpenFilesLimit())),
    checked('env_file', async () => checkEnvFile()),
  ];
  let config: Config;
  try {
    config = readConfig('live');
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const problems = error.problems.map((problem) => checked('configuration', async () => fail(problem)));
    return { checks: await Promise.all([...problems, ...machine]) };
  }
  let switches: ReadonlyMap<string, string> | null = null;
  let scannedAtMs: number | null | undefined;
  const isServed = await isListening({ path: join(config.dataDir, CONTROL_SOCKET) });
  let settlements: DatabaseDescription['settlements'] = [];
  const store = checked('store', async () => {
    const migration = describeMigration(await requireKnownSchema(config));
    if (migration !== null)
      return warn(
        `with the next start, ${migration}; the rest is checked after it: back the database up, then run ` +
          'card-checkout migrate',
      );
    const patience = { patienceMs: STORE_PATIENCE_MS };
    const listed = await runOperationAnywhere(config, 'provider list', {}, patience);
    const providers = listed as readonly { readonly provider: string; readonly switch: string }[];
    switches = new Map(providers.map((each) => [each.provider, each.switch]));
    const description = await describeDatabase(config);
    ({ scannedAtMs, settlements } = description);
    return assessDatabase(config, description);
  });
  const chain = checkChain(
    requireChain(config),
    store.then(() => settlements),
  );
  const pending = [
    checked('configuration', async () => ok('all variables are valid')),
    ...machine,
    ...feeWalletChecks(requireChain(config)),
    checked('base_url', () => checkBaseUrl(config, isServed)),
    checked('trust_proxy', async () => assessProxy(config)),
    store,
    store.then(() => checked('scan', async () => assessScan(scannedAtMs, { isServed, nowMs: Date.now() }))),
    // Checked only for SQLite, because backups of PostgreSQL are not recorded here.
    ...(config.databaseUrl === null ? [checked('backup', async () => checkBackup(config))] : []),
    ...(config.databaseCopyUrl === null ? [] : [checked('copy', () => checkCopy(config))]),
    checked('disk', () => checkDisk(config)),
    store.then(() =>
      checked('providers', async () =>
        assessProviders([...config.providers.keys()], switches, findBlocked(config)),
      ),
    ),
    checked('smtp', () => checkMailServer(config)),
  ];
  for (const each of pending) onCheck(await each);
  return { checks: [...(await Promise.all(pending)), ...(await chain)] };
}

/** Warns if USDC sent to the fee wallet would be lost. */
function feeWalletChecks({ feeWallet }: ChainConfig): Promise<DoctorCheck>[] {
  const doubt = doubtAbout(feeWallet);
  if (doubt === null) return [];
  return [
    checked('fee_wallet', async () => warn(`${feeWallet} ${doubt}; set FEE_WALLET to a wallet of yours`)),
  ];
}

/** Runs a check, which fails if it throws or takes too long. Reduces the detail to one line. */
async function checked(name: string, check: () => Promise<Finding>): Promise<DoctorCheck> {
  const tooLate = () => new Error(`no result within ${CHECK_LIMIT_MS / 1000} s: check what it connects to`);
  const { level, detail } = await within(CHECK_LIMIT_MS, check(), tooLate).catch((error) =>
    fail(messageOf(error)),
  );
  return { name, level, isFine: level !== 'fail', detail: detail.replace(/\s+/g, ' ') };
}

function messageOf(error: unknown): string {
  if (error instanceof ConfigError) return error.problems.join(' ');
  return machineFaultOf(error) ?? (error instanceof Error ? error.message : String(error));
}

/** Open-file limit that docs/going-live.md recommends. */
const WANTED_OPEN_FILES = 20_000;

export function assessOpenFiles(limit: number): Finding {
  const found = `${limit} open files leave ${connectionsWithin(limit)} for connections`;
  if (limit >= WANTED_OPEN_FILES) return ok(found);
  return warn(`${found}: allow ${WANTED_OPEN_FILES} with ulimit -n, LimitNOFILE= or ulimits:`);
}

function checkEnvFile(): Finding {
  const found = statSync('.env', { throwIfNoEntry: false });
  if (found === undefined) return ok(`there is no .env in ${process.cwd()}`);
  const variables = new Set(Object.keys(parseEnv(readFileSync('.env', 'utf8'))));
  // Node has read the variable from the environment, for example because systemd loads the same file.
  if (getCACertificates('extra').length > 0) variables.delete('NODE_EXTRA_CA_CERTS');
  return assessEnvFile(found.mode, [...variables]);
}

/** Variables that Node reads before the service reads `.env`. */
const OF_NODE = ['NODE_OPTIONS', 'NODE_EXTRA_CA_CERTS'];

/** Warns if others can read or change the file with the secrets, or if it sets variables that Node reads earlier. */
export function assessEnvFile(mode: number, variables: readonly string[]): Finding {
  const problems: string[] = [];
  if ((mode & 0o027) !== 0) problems.push('other users can read or change .env: run chmod 600 .env');
  const early = OF_NODE.filter((name) => variables.includes(name)).join(' and ');
  if (early !== '')
    problems.push(`Node does not read ${early} from .env: set it in the environment of the service`);
  return problems.length === 0 ? ok('.env is closed to other users') : warn(problems.join('; '));
}

/** Fetches the published document, because its chain and factories reveal another server or deployment. */
async function checkBaseUrl({ baseUrl, chain }: Config, isServed: boolean): Promise<Finding> {
  if (isLoopbackHost(new URL(baseUrl).hostname))
    return fail(`customers cannot open ${baseUrl}: set BASE_URL to the public https:// address`);
  const address = new URL(baseUrl).hostname.replace(/^\[|\]$/g, '');
  if (addressFamily(address) !== null && !isPublicAddress(address))
    return warn(`customers cannot open the private address of ${baseUrl}: set BASE_URL to a public one`);
  const wayOut = 'correct BASE_URL, DNS, the certificate or the proxy';
  try {
    const answer = await fetch(`${baseUrl}/.well-known/card-checkout.json`, {
      redirect: 'manual',
      signal: AbortSignal.timeout(ANSWER_LIMIT_MS),
    });
    const published = answer.ok ? await answer.json().catch(() => null) : null;
    return assessBaseUrl(baseUrl, { status: answer.status, published }, { isServed, chain });
  } catch (error) {
    if (machineFaultOf(error) !== null) throw error;
    const cause = (error as Error).cause as NodeJS.ErrnoException | undefined;
    if (cause?.code === 'ENOTFOUND')
      return warn(`the host of ${baseUrl} is not in DNS: add a record, or correct BASE_URL`);
    if (/CERT|SIGNATURE/.test(cause?.code ?? ''))
      return fail(`browsers refuse the certificate of ${baseUrl} (${cause?.code}): replace it`);
    const reason = `${baseUrl} cannot be reached from this machine (${cause?.code ?? messageOf(cause ?? error)})`;
    return isServed
      ? warn(`${reason}, and the service runs: if customers cannot reach it either, ${wayOut}`)
      : warn(`${reason}; run doctor again while the service runs`);
  }
}

export function assessBaseUrl(
  baseUrl: string,
  { status, published }: { readonly status: number; readonly published: unknown },
  {
    isServed,
    chain,
  }: { readonly isServed: boolean; readonly chain: Pick<ChainConfig, 'chainId' | 'factory'> | null },
): Finding {
  const { chain_id: chainId, factories } = (published ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof chainId !== 'number' || !Array.isArray(factories)) {
    const found = `${baseUrl} answers with status ${status}, and not as this service`;
    // A proxy also answers with a 5xx while the service is not running.
    return !isServed && status >= 500
      ? warn(`${found}: run doctor again while the service runs`)
      : fail(`${found}: correct BASE_URL, or the proxy and TRUST_PROXY`);
  }
  const addresses = factories.map((each) =>
    String((each as { address?: unknown } | null)?.address).toLowerCase(),
  );
  if (chain !== null && (chainId !== chain.chainId || !addresses.includes(chain.factory.toLowerCase())))
    return fail(`another service answers at ${baseUrl}, on chain ${chainId}: correct BASE_URL or the proxy`);
  return ok(`the service answers at ${baseUrl}`);
}

/** Checks that blocks are scanned, by this service or by another process on its database. */
export function assessScan(
  scannedAtMs: number | null | undefined,
  { isServed, nowMs }: { readonly isServed: boolean; readonly nowMs: number },
): Finding {
  if (scannedAtMs === undefined)
    return warn('not checked, because the database was not read: mend the check store');
  if (scannedAtMs === null)
    return warn(`${describeScan(null)}: start the service, with the role all or worker`);
  const ageMs = Math.max(0, nowMs - scannedAtMs);
  const found = describeScan(ageMs);
  if (ageMs <= LATE_SCAN_MS) return ok(found);
  return isServed ? fail(found) : warn(`${found} (no service runs on this data folder)`);
}

/** Checks that the service can tell customers apart by the IP address that a proxy forwards. */
export function assessProxy({ baseUrl, tls, trustProxy }: Pick<Config, 'baseUrl' | 'tls' | 'trustProxy'>) {
  const isBehindProxy = baseUrl.startsWith('https:') && tls === null;
  if (trustProxy.length === 0 && isBehindProxy)
    return warn('limits per address have no effect: set TRUST_PROXY to the address of your proxy');
  if (trustProxy.length > 0 && !baseUrl.startsWith('https:'))
    return warn('TRUST_PROXY is set, but BASE_URL is not https: set BASE_URL to the address at the proxy');
  return ok(`trusted proxies: ${trustProxy.join(', ') || 'none, and none is expected'}`);
}

const HOUR_MS = 3_600_000;
/** Age of an outdated backup: a day plus the duration of a nightly backup, as in docs/monitoring/alerts.yml. */
const OLD_BACKUP_HOURS = 26;

function checkBackup({ dataDir }: Config): Finding {
  const last = statSync(join(dataDir, LAST_BACKUP_FILE), { throwIfNoEntry: false });
  if (last === undefined)
    return warn('no backup from this DATA_DIR is recorded: run card-checkout backup every night');
  const hours = Math.floor((Date.now() - last.mtimeMs) / HOUR_MS);
  const found = `the last backup is ${hours} hours old`;
  return hours < OLD_BACKUP_HOURS ? ok(found) : warn(`${found}: run card-checkout backup every night`);
}

async function checkCopy({ dataDir, databaseCopyUrl }: Config): Promise<Finding> {
  const script = fileURLToPath(new URL('../../deploy/continuous-copy.sh', import.meta.url));
  const settings = 'DATA_DIR=$1 DATABASE_COPY_URL=$2 exec sh "$0" lag';
  const words = ['-c', settings, script, dataDir, databaseCopyUrl ?? ''];
  // Ignores the error, because Litestream may run only in another container.
  const asked = promisify(execFile)('sh', words, { timeout: CHECK_LIMIT_MS / 2 });
  const { stdout } = await asked.catch(() => ({ stdout: '' }));
  return assessCopy(stdout);
}

/** @param copies rows of `litestream generations`; the newest has the shortest lag, such as 1m2.5s or -208ms */
export function assessCopy(copies: string): Finding {
  const lags = copies.split('\n').flatMap((row) => row.split(/ +/)[2] ?? []);
  const secondsOf = (lag: string) => Number.parseFloat(lag) / (/\ds$/.test(lag) ? 1 : 1000);
  const [lag] = lags
    .filter((each) => /\d/.test(each) && !/[hm]\d/.test(each))
    .sort((left, right) => secondsOf(left) - secondsOf(right));
  if (lag !== undefined) return ok(`the continuous copy is ${lag.startsWith('-') ? '0s' : lag} behind`);
  return warn(
    'the continuous copy is missing, at least a minute behind, or not to be read from here: read its log',
  );
}

const MINIMUM_FREE_MB = 100;

async function checkDisk({ dataDir }: Config): Promise<Finding> {
  if (!existsSync(dataDir)) return fail(`there is no folder ${dataDir}: card-checkout init creates it`);
  const { bavail, blocks, bsize } = await statfs(dataDir);
  return assessDisk((bavail * bsize) / 1e6, (blocks * bsize) / 1e6);
}

export function assessDisk(freeMb: number, allMb: number): Finding {
  const found = `${Math.floor(freeMb)} MB are free in the data folder`;
  if (freeMb < MINIMUM_FREE_MB) return fail(`${found}: free space, before creates fail`);
  return freeMb < allMb / 10 ? warn(`${found}, less than a tenth: free space`) : ok(found);
}

async function checkMailServer({ mail }: Config): Promise<Finding> {
  if (mail === null) return warn('no email is sent, not even sign-in links: set SMTP_URL and MAIL_FROM');
  try {
    await reachServer(mail, { answerMs: ANSWER_LIMIT_MS });
    return ok('the mail server greets, and accepts the login');
  } catch (error) {
    if (machineFaultOf(error) !== null) throw error;
    return fail(`${messageOf(error)} (${messageOf((error as Error).cause)}): correct SMTP_URL`);
  }
}

async function describeDatabase(config: Config): Promise<DatabaseDescription> {
  const openSinceMs = Date.now() - config.checkoutExpiryHours * HOUR_MS;
  const args = { open_since_ms: String(openSinceMs) };
  // A running server locks SQLite, so the operation runs there. PostgreSQL is opened directly, because a running server
  // could be connected to a different database than a new start would use.
  const found =
    config.databaseUrl === null
      ? await runOperationAnywhere(config, 'database show', args, { patienceMs: STORE_PATIENCE_MS })
      : await runOnStore(config, null, 'database show', args);
  return found as DatabaseDescription;
}

/** Compares `CHAIN_ID` and the secrets with the database, as at startup. Throws `ConfigError` for a mismatch. */
function assessDatabase(config: Config, { settlements, secrets }: DatabaseDescription): Finding {
  const tokens = createIpnTokens(config.secretKey ?? '', config.previousSecretKeys);
  requireOneChain(settlements, requireChain(config).chainId);
  requireKnownSecret(secrets.newest, tokens);
  const box = (purpose: string) =>
    createSecretBox(purpose, config.secretKey ?? '', config.previousSecretKeys);
  const known = { tokens, secondFactors: box(SECOND_FACTOR), signingSecrets: box(SIGNING_SECRETS) };
  const missing = describeMissingSecrets(secrets, known);
  const fingerprints = `fingerprints of the secrets: ${tokens.fingerprints.join(', ')}`;
  if (missing !== null) return warn(`${missing}; ${fingerprints}`);
  const [remote] = config.databaseUrl === null ? [] : unencryptedHosts(config.databaseUrl);
  if (remote !== undefined)
    return warn(
      `what is sent to ${remote} is not encrypted: append sslmode=verify-full to DATABASE_URL, and sslrootcert=FILE for a certificate authority of your own`,
    );
  return ok(`${describePlace(config)}: the database opens, or a server uses it; ${fingerprints}`);
}

/** Returns the providers that cannot be used in production, whether switched on or off, with the reasons. */
function findBlocked({ providers, baseUrl }: Config): ReadonlyMap<ProviderId, string> {
  const settings = { timeoutMs: ANSWER_LIMIT_MS, nowMs: Date.now, webhookUrl: baseUrl, baseUrl };
  const all = [...providers].map(([id, values]) => knownProviders[id].open(values, settings));
  return new Map(all.flatMap(({ id, blockedBecause }) => (blockedBecause ? [[id, blockedBecause]] : [])));
}

/** Only warns about providers that are off by default, because the operator decides about them. */
export function assessProviders(
  all: readonly ProviderId[],
  switches: ReadonlyMap<string, string> | null,
  blocked: ReadonlyMap<ProviderId, string> = new Map(),
): Finding {
  if (all.length === 0)
    return fail('no provider has credentials: customers cannot pay until you set those of one');
  const ids = all.filter((id) => !blocked.has(id));
  const reasons = [...blocked].map(([id, reason]) => ` ${id} is blocked: ${reason}`).join('');
  if (ids.length === 0) return fail(`no provider can be used: customers cannot pay.${reasons}`);
  if (switches === null)
    return warn(`credentials for ${all.join(', ')}; not checked whether they are on: mend the check store`);
  const disabled = ids.filter((id) => switches.get(id) === 'off');
  if (disabled.length === ids.length)
    return fail(`all providers are disabled: customers cannot pay. Run provider set ${disabled[0]} --active`);
  const off = ids.filter((id) => (switches.get(id) ?? 'default') === 'default');
  const found = `credentials for ${all.join(', ')}${disabled.length > 0 ? `; disabled: ${disabled.join(', ')}` : ''}`;
  const doubts = `${off.length === 0 ? '' : ` ${describeOffByDefault(off)}`}${reasons}`;
  return doubts === '' ? ok(found) : warn(`${found}.${doubts}`);
}

async function checkChain(chain: ChainConfig, settlements: Promise<DatabaseDescription['settlements']>) {
  const { chainId, rpcUrls: urls, egressProxy: proxy, factory, relayerKeys } = chain;
  const endpoints = createChainEndpoints({ urls, chainId, proxy, timeoutMs: ANSWER_LIMIT_MS });
  try {
    const newest = await readNewestBlocksMs(endpoints);
    const named = endpoints.map(({ host, rpc: { label } }) => ({ host, label }));
    const answering = endpoints.filter((_, index) => typeof newest[index] === 'number');
    return await Promise.all([
      checked('endpoints', async () =>
        assessEndpoints(named, newest, {
          ...(await compareEndpoints(answering, knownToken(chainId) ?? chain.token, factory)),
          finalNumbers: endpoints.map(({ finalNumber }) => finalNumber),
          slow: endpoints.flatMap(({ speed, rpc: { label } }) => (speed.isSlow ? [label] : [])),
        }),
      ),
      checked('clock', async () => assessClock(newest, Date.now())),
      checked('contract', async () => {
        const token = requireToken(chain);
        const wasVerified = (await settlements).some(
          (known) => known.factory === factory && known.token === token && known.chainId === chainId,
        );
        return verifyDeployment(endpoints, { ...chain, token }, wasVerified).then(
          ({ factoryCodeHash, problems }) => assessContract(factory, factoryCodeHash, problems),
          (error: unknown) => {
            if (!(error instanceof ChainUnavailableError) || !wasVerified) throw error;
            return warn(
              `${error.message}; a start takes payments nevertheless, because an earlier one verified the factory: replace the endpoints`,
            );
          },
        );
      }),
      ...relayerKeys.flatMap((key) => {
        const relayer = createRelayer({ endpoints, chainId, signer: openSigner(key, { proxy }) });
        const check = checked('relayer', () => checkRelayer(relayer));
        return typeof key === 'string' ? [check] : [check, checked('signer', () => checkSigner(relayer))];
      }),
    ]);
  } finally {
    await closeChainEndpoints(endpoints);
  }
}

export function assessContract(factory: string, codeHash: string, problems: readonly string[]): Finding {
  const found = `factory ${factory} runs our code (${codeHash}) and computes our addresses`;
  return problems.length === 0 ? ok(found) : warn(`${found}; ${problems.join('; ')} Replace that endpoint`);
}

/** Finds endpoints whose final block contradicts that of the first endpoint, and endpoints whose logs differ. */
async function compareEndpoints(
  answering: readonly ChainEndpoint[],
  token: Address | null,
  factory: Address,
) {
  const [first] = answering;
  const final = await first?.readBlock('finalized').catch(() => null);
  if (first === undefined || final == null) return { contradictions: [], logProblems: [] };
  const others = answering.filter(({ host }) => host !== first.host);
  return {
    contradictions: await findContradictions(first, others, final),
    // The check of the contract reports a missing token.
    logProblems:
      token === null ? [] : await compareRecentLogs(answering, { token, factories: [factory] }, final),
  };
}

interface Finality {
  readonly contradictions: readonly Pick<FinalityDoubt, 'kind' | 'endpoint' | 'message'>[];
  /** Defects in the logs of individual endpoints, one sentence each. */
  readonly logProblems?: readonly string[];
  /** Number of each endpoint's newest final block, as read for the comparison; null if unknown. */
  readonly finalNumbers: readonly (number | null)[];
  /** Labels of endpoints that are several times as slow as another endpoint. */
  readonly slow?: readonly string[];
}

/** Checks that all endpoints answer, agree, keep up and confirm each other. URLs on one host count as one endpoint. */
export function assessEndpoints(
  endpoints: readonly { readonly host: string; readonly label: string }[],
  newestBlocksMs: readonly (number | Error)[],
  { contradictions, finalNumbers, logProblems = [], slow = [] }: Finality,
): Finding {
  const errors = newestBlocksMs.filter((found) => typeof found !== 'number');
  const fault = errors.map(machineFaultOf).find((found) => found !== null);
  if (fault != null) return fail(`not all endpoints could be asked: ${fault}`);
  const silent = errors.map(({ message }) => message);
  const hosts = new Map(endpoints.map(({ host, label }) => [host, label]));
  const names = [...hosts.values()].join(', ');
  if (silent.length === endpoints.length)
    return fail(`no host answers for this chain: ${silent.join('; ')}; replace them`);
  const problems = contradictions.map(({ kind, endpoint, message }) =>
    kind === 'hash'
      ? `${message}; replace ${endpoint}`
      : `${message}; nothing becomes paid until they agree: add a third host, which decides`,
  );
  problems.push(...logProblems.map((problem) => `${problem}; replace a host whose answers are wrong`));
  const highest = Math.max(...finalNumbers.map((number) => number ?? 0));
  for (const [index, { label }] of endpoints.entries()) {
    const behind = highest - (finalNumbers[index] ?? highest);
    const effect = hosts.size === 2 ? ', because payments wait for it' : '';
    if (behind > LAGGING_BLOCKS) problems.push(`${label} is ${behind} blocks behind: replace it${effect}`);
  }
  for (const label of slow)
    problems.push(
      `${label} takes more than half a second, and four times as long as another host: replace it`,
    );
  if (silent.length > 0) {
    const effect = hosts.size === 2 ? ', and nothing becomes paid until then' : '';
    problems.push(`not all of ${names} answer for this chain: ${silent.join('; ')}; replace them${effect}`);
  }
  if (problems.length > 0) return warn(problems.join('; '));
  if (hosts.size === 1)
    return warn(
      `one host (${names}) is trusted in everything it reports, even invented payments: add endpoints of other companies`,
    );
  return hosts.size === 2
    ? ok(`two hosts (${names}) confirm each other: nothing becomes paid while one is down or they disagree`)
    : ok(`${hosts.size} hosts (${names}) confirm each other: one may fail or lie`);
}

/** Maximum clock skew. Receivers refuse a webhook whose timestamp differs by more. */
const MAXIMUM_SKEW_MS = 300_000;

export function assessClock(newestBlocksMs: readonly (number | Error)[], nowMs: number): Finding {
  const skew = clockSkew(newestBlocksMs, nowMs);
  if (skew === null) return warn('not compared, because no endpoint answers');
  if (skew.skewMs <= NOTABLE_SKEW_MS) return ok(skew.description);
  return skew.skewMs > MAXIMUM_SKEW_MS ? fail(skew.description) : warn(skew.description);
}

async function checkSigner(relayer: Relayer): Promise<Finding> {
  await relayer.checkSigner();
  return ok(`the signer signs for ${relayer.address}, on the right chain`);
}

export async function checkRelayer(relayer: Pick<Relayer, 'address' | 'readGasBalance' | 'quoteFees'>) {
  const [balanceWei, fees] = await Promise.all([relayer.readGasBalance(), relayer.quoteFees()]);
  const [payments, lowWei] = [releasesPaidBy(balanceWei, fees), lowGasWei(fees)];
  const found = `${relayer.address} has ${polOf(balanceWei)} POL for gas, for about ${payments} payments`;
  const lowPol = polOf(lowWei);
  if (balanceWei >= lowWei) return ok(`${found}; three full batches can cost ${lowPol} POL`);
  const level = payments === 0 ? fail : warn;
  return level(`${found}: send POL to it, three full batches can cost ${lowPol} POL at current fees`);
}
