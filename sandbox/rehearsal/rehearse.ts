import { randomInt } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deployContract } from '../../src/app/chain-commands.ts';
import type { DoctorCheck } from '../../src/cli/program.ts';
import { type Config, readConfig, readProviderValues } from '../../src/config/config.ts';
import { createJsonRpcClient } from '../../src/settlement/chain/json-rpc.ts';
import { openSigner } from '../../src/settlement/chain/signer.ts';
import { claimLoopbackPort } from '../loopback-port.ts';
import { type Receiver, startReceiver } from '../shop/start-shop.ts';
import { createWebhookInbox } from '../shop/webhook-inbox.ts';
import { type Sandbox, startSandbox } from '../start-sandbox.ts';
import { type LiveProcess, PortTakenError, startLiveProcess } from './live-process.ts';
import {
  describeReplacements,
  findProblems,
  payingProviders,
  type RehearsalPlaces,
  rehearsalEnvironment,
  replacementsOf,
} from './rehearsal-environment.ts';
import { type RunStep, rehearsePayment } from './rehearse-payment.ts';

export interface RehearsalReport {
  readonly checks: readonly DoctorCheck[];
}

interface RehearsalOptions {
  readonly environment: NodeJS.ProcessEnv;
  /** File of the command `card-checkout`. */
  readonly script: string;
  readonly onStep: (step: DoctorCheck) => void;
  readonly signal: AbortSignal;
}

/** Time limit of a step, long enough for busy machines. */
const STEP_LIMIT_MS = 60_000;
const START_LIMIT_MS = 120_000;
/** Maximum attempts, each with other ports, because another program can take a port in the meantime. */
const ATTEMPTS = 5;

const BLOCK_INTERVAL_MS = 300;
/** 100 POL for each relayer key. */
const GAS_BALANCE = `0x${(10n ** 20n).toString(16)}`;

/**
 * Maximum length of the temporary folder's path. With a longer one, the control socket's path could exceed its limit of
 * 103 bytes.
 */
const MAXIMUM_FOLDER_BYTES = 50;

/**
 * Ports below the ephemeral range, which the system uses for outgoing connections, and above 10080, the highest port
 * that fetch refuses.
 */
const FIRST_PORT = 10_100;
const LAST_PORT = 11_999;

const silent = { info() {}, warn() {}, error() {} };

/** Error that ends the rehearsal after a step whose failure is already reported. */
class StepFailedError extends Error {
  override readonly name = 'StepFailedError';
}

interface Rehearsal {
  readonly own: NodeJS.ProcessEnv;
  readonly script: string;
  readonly folder: string;
  readonly step: RunStep;
  readonly report: (name: string, level: DoctorCheck['level'], detail: string) => void;
  /** Registers a function that runs at the end, even after a failure, to stop a part of the rehearsal. */
  readonly atEnd: (stop: () => Promise<unknown>) => void;
  /** Adds this service's log to the report of every later failure. */
  readonly follow: (service: LiveProcess) => void;
}

/**
 * Runs one payment in live mode with the operator's variables, against a local chain and simulated providers. Replaces
 * data folder, database, mail server, endpoints and providers. A failed step ends the rehearsal, and is reported with
 * its cause and remedy. Leaves no process or file behind.
 */
export async function rehearse({
  environment,
  script,
  onStep,
  signal,
}: RehearsalOptions): Promise<RehearsalReport> {
  const checks: DoctorCheck[] = [];
  const stops: (() => Promise<unknown>)[] = [];
  const folder = makeFolder();
  let service: LiveProcess | null = null;

  const report: Rehearsal['report'] = (name, level, detail) => {
    // Omits the log if the operator ended the rehearsal.
    const log = level === 'fail' && service !== null && !signal.aborted ? { log: service.log() } : {};
    const check = { name, level, isFine: level !== 'fail', detail: detail.replace(/\s+/g, ' '), ...log };
    checks.push(check);
    onStep(check);
  };
  const step: RunStep = async (name, wayOut, run, limitMs = STEP_LIMIT_MS) => {
    try {
      const result = await within(run, limitMs, signal);
      report(name, 'ok', result.detail);
      return result;
    } catch (error) {
      report(name, 'fail', signal.aborted ? describe(error) : `${describe(error)}: ${wayOut}`);
      throw new StepFailedError(name, { cause: error });
    }
  };
  try {
    await runSteps({
      own: environment,
      script,
      folder,
      step,
      report,
      atEnd: (stop) => void stops.unshift(stop),
      follow(started) {
        service = started;
      },
    });
  } catch (error) {
    if (!(error instanceof StepFailedError)) throw error;
  } finally {
    for (const stop of stops) await stop();
    rmSync(folder, { recursive: true, force: true });
  }
  return { checks };
}

async function runSteps(rehearsal: Rehearsal): Promise<void> {
  const { own, folder, step, atEnd } = rehearsal;
  reportConfiguration(rehearsal);
  const { sandbox } = await step(
    'chain',
    '`anvil --version` must work here',
    () => startWorld(rehearsal),
    START_LIMIT_MS * 2,
  );
  const tokens = new Map<string, string>();
  const inbox = createWebhookInbox((id) => tokens.get(id) ?? null, Date.now);
  const receiver = await startReceiver(0, (_path, body, signature) => inbox.receive(body, signature));
  atEnd(() => receiver.stop());

  const places = {
    dataDir: join(folder, 'data'),
    port: FIRST_PORT,
    adminPort: LAST_PORT,
    chainId: sandbox.chainId,
    rpcUrls: [sandbox.rpcUrl, sandbox.anvilUrl],
    usdc: sandbox.usdc,
    factory: sandbox.factory,
    receiverHost: receiver.host,
    authoritiesFile: writeAuthorities(rehearsal, receiver),
    onrampBaseUrl: sandbox.onrampBaseUrl,
  };
  const environmentAt = (changed: Partial<RehearsalPlaces>) =>
    rehearsalEnvironment(own, replacementsOf(own, { ...places, ...changed }, sandbox.providerValues.moonpay));
  const { factory } = await step('contract', 'correct RELAYER_PRIVATE_KEY', () =>
    fundAndDeploy(readConfig('live', environmentAt({})), sandbox),
  );
  const { config, service } = await step(
    'start',
    'correct what its log names; `card-checkout start --live` ends in the same way',
    (ending) =>
      startService(rehearsal, ending, (port, adminPort) => environmentAt({ factory, port, adminPort })),
    START_LIMIT_MS * 2,
  );
  await rehearsePayment({
    step,
    config,
    sandbox,
    receiver,
    inbox,
    providers: payingProviders(own),
    keepToken: (id, token) => void tokens.set(id, token),
  });
  await step('stop', 'see the log of the service', async () => {
    const code = await service.end('SIGTERM');
    if (code !== 0) throw new Error(`the service ended with ${code ?? 'a signal'}`);
    return { detail: 'the service ended after SIGTERM' };
  });
}

/** Reports configuration problems. Ends the rehearsal if a problem is in a variable that it does not replace. */
function reportConfiguration({ own, report }: Rehearsal): void {
  const problems = findProblems(own);
  for (const { text, isReplaced } of problems)
    if (isReplaced)
      report('configuration', 'warn', `${text} Set it before you start; the rehearsal goes on without.`);
    else report('configuration', 'fail', text);
  if (problems.some(({ isReplaced }) => !isReplaced)) throw new StepFailedError('configuration');
  if (problems.length === 0) report('configuration', 'ok', 'all variables are valid');
  for (const { level, text } of describeReplacements(own)) report('replaced', level, text);
}

async function startWorld({ own, folder, atEnd }: Rehearsal) {
  for (let attempt = 1; ; attempt++) {
    const starting = startSandbox({
      dataDir: join(folder, `world-${attempt}`),
      log: silent,
      blockIntervalMs: BLOCK_INTERVAL_MS,
      credentials: readProviderValues(own),
      preferredPorts: { chain: await pickPort(), onramps: 0 },
    });
    atEnd(() => starting.then((started) => started.stop()).catch(() => {}));
    try {
      const sandbox = await starting;
      return { sandbox, detail: 'a local chain with a test USDC, and the simulated providers, run' };
    } catch (error) {
      if (attempt === ATTEMPTS || !/local chain/.test(describe(error))) throw error;
    }
  }
}

/** Gives the operator's relayers POL for gas on the local chain, and deploys the factory with the first one. */
async function fundAndDeploy(config: Config, { anvilUrl: url }: Sandbox) {
  const { chain } = config;
  if (chain === null) throw new Error('the chain is not configured');
  const rpc = createJsonRpcClient({ url, timeoutMs: STEP_LIMIT_MS });
  try {
    const addresses = chain.relayerKeys.map((key) => openSigner(key, {}).address);
    for (const address of addresses) await rpc.call('anvil_setBalance', [address, GAS_BALANCE]);
    const { deposit_factory_address: factory } = await deployContract(chain);
    return { factory, detail: `${addresses[0]} deployed the factory ${factory}, on the local chain` };
  } finally {
    await rpc.close();
  }
}

/** Starts the service on two free ports. Retries with other ports if another program takes one. */
async function startService(
  { script, folder, atEnd, follow }: Rehearsal,
  signal: AbortSignal,
  environmentAt: (port: number, adminPort: number) => NodeJS.ProcessEnv,
) {
  for (let attempt = 1; ; attempt++) {
    const environment = environmentAt(await pickPort(), await pickPort());
    const config = readConfig('live', environment);
    const service = startLiveProcess(script, environment, join(folder, `service-${attempt}.log`));
    atEnd(() => service.end('SIGKILL'));
    follow(service);
    try {
      await service.ready(START_LIMIT_MS, signal);
      return { config, service, detail: `the service is ready on port ${config.port}` };
    } catch (error) {
      if (!(error instanceof PortTakenError) || attempt === ATTEMPTS) throw error;
    }
  }
}

async function pickPort(): Promise<number> {
  for (let tried = FIRST_PORT; tried < LAST_PORT; tried++) {
    const port = await claimLoopbackPort(randomInt(FIRST_PORT, LAST_PORT));
    if (port !== null) return port;
  }
  throw new Error(`no port from ${FIRST_PORT} to ${LAST_PORT} is free`);
}

/** Writes a file for the service with the operator's certificate authorities and the local receiver's certificate. */
function writeAuthorities({ own, folder }: Rehearsal, { certificate }: Receiver): string {
  const file = join(folder, 'authorities.pem');
  const ownFile = own['NODE_EXTRA_CA_CERTS'] ?? '';
  const authorities = existsSync(ownFile) ? `${readFileSync(ownFile, 'utf8')}\n` : '';
  writeFileSync(file, `${authorities}${certificate}`);
  return file;
}

function makeFolder(): string {
  const place = Buffer.byteLength(tmpdir()) > MAXIMUM_FOLDER_BYTES ? '/tmp' : tmpdir();
  return mkdtempSync(join(place, 'card-checkout-'));
}

/** Runs the work and returns its result. Rejects on a timeout or an abort, and then aborts the work's signal. */
async function within<Result>(
  work: (signal: AbortSignal) => Promise<Result>,
  limitMs: number,
  signal: AbortSignal,
): Promise<Result> {
  signal.throwIfAborted();
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new Error(`not done within ${limitMs / 1000} s`)), limitMs);
  const ending = AbortSignal.any([signal, late.signal]);
  const { promise, reject } = Promise.withResolvers<never>();
  ending.addEventListener('abort', () => reject(ending.reason), { once: true });
  return await Promise.race([work(ending), promise]).finally(() => clearTimeout(timer));
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}
