import { hostname } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import packageDescription from '#package' with { type: 'json' };
import { type Config, type Role, readConfig } from '../config/config.ts';
import { createSmtpMailer } from '../mail/mailers.ts';
import type { Clock } from '../platform/clock.ts';
import { signalToStop } from '../platform/stop-signals.ts';
import { openLiveServices } from './live-services.ts';
import { createLog, type Log } from './log.ts';
import { createMetrics } from './metrics.ts';
import { openStoreToServe } from './open-store.ts';
import { type Service, startService } from './start-service.ts';
import { type Running, StartStoppedError, type UndoSteps, withUndoSteps } from './undo-steps.ts';

const systemClock: Clock = { nowMs: Date.now, monotonicMs: performance.now.bind(performance) };

/** Time to keep serving after reporting "not ready", so that load balancers notice: three checks, two seconds apart. */
const DRAIN_DELAY_CLUSTERED_MS = 8_000;
/** Drain delay of a single instance. Connections in use close with their next response. */
const DRAIN_DELAY_SINGLE_MS = 1_000;

const roles: readonly Role[] = ['all', 'api', 'worker'];

/** Function that starts the sandbox. It resolves to the welcome text when the sandbox is ready. */
export type StartSandbox = (config: Config, clock: Clock, log: Log, undoSteps: UndoSteps) => Promise<string>;

/** Runs the service until SIGINT or SIGTERM: in live mode if `startSandbox` is null, otherwise in the sandbox. */
export async function runUntilStopped(
  { role: name }: { readonly role: string },
  startSandbox: StartSandbox | null,
): Promise<void> {
  const role = roles.find((each) => each === name);
  if (role === undefined) throw new Error(`--role must be one of ${roles.join(', ')}`);
  const config = readConfig(startSandbox === null ? 'live' : 'sandbox');
  if (role !== 'all' && (startSandbox !== null || config.databaseUrl === null)) {
    throw new Error('--role api and worker need --live and PostgreSQL (DATABASE_URL)');
  }

  const log = createLog(config.logLevel, undefined, {
    role,
    instance: hostname(),
    version: packageDescription.version,
  });
  const stopped = signalToStop(process, systemClock.monotonicMs, (exitCode) => process.exit(exitCode));
  try {
    const running =
      startSandbox === null
        ? await startLive(config, role, log, stopped)
        : await startSandboxMode(config, log, startSandbox);
    collectGarbageAfterStart();
    await stopped;
    await running.stop();
  } catch (error) {
    if (!(error instanceof StartStoppedError)) throw error;
    // Ends the process, because a startup step that is still running could keep it alive.
    setTimeout(() => process.exit(), END_OF_START_MS).unref();
  }
  log.info('stopped');
}

/** Time limit for undoing the steps of an interrupted startup. */
const END_OF_START_MS = 500;

async function startLive(config: Config, role: Role, log: Log, stopped: Promise<unknown>): Promise<Running> {
  if (config.secretKey === null) throw new Error('SECRET_KEY is missing');
  const secretKey = config.secretKey;
  return withUndoSteps(async (undoSteps) => {
    const store = undoSteps.add(await openStoreToServe(config, log), (opened) => opened.close());
    const metrics = createMetrics();
    const external = await openLiveServices(config, store, systemClock, log, metrics, undoSteps);
    const parts = { config, role, secretKey, store, external, clock: systemClock, log, metrics };
    const drainDelayMs = store.shared === null ? DRAIN_DELAY_SINGLE_MS : DRAIN_DELAY_CLUSTERED_MS;
    const service = undoSteps.add(
      await startService({
        ...parts,
        mailer: config.mail === null ? null : createSmtpMailer(config.mail),
        drainDelayMs,
      }),
      (started: Service) => started.stop(),
    );
    log.info({ port: service.port, adminPort: service.adminPort, baseUrl: config.baseUrl }, 'ready');
  }, stopped);
}

async function startSandboxMode(config: Config, log: Log, startSandbox: StartSandbox): Promise<Running> {
  if (config.databaseUrl !== null)
    throw new Error('DATABASE_URL must be empty in the sandbox, which brings SQLite');
  return withUndoSteps(async (undoSteps) => {
    process.stdout.write(await startSandbox(config, systemClock, log, undoSteps));
  });
}

/** Delay after startup, so that the first requests and worker steps are not slowed down. */
const AFTER_START_MS = 2_000;

/**
 * Collects the garbage of startup once, because an idle service runs no full collection for hours. This lowers resident
 * memory from 168 MB to 138 MB but blocks requests for about 80 ms. The flavor `last-resort` also frees the 32 MB of
 * the young generation. Node offers `gc` only with `--expose-gc`.
 */
export function collectGarbageAfterStart(): void {
  setTimeout(() => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as NodeJS.GCFunction;
    setFlagsFromString('--no-expose-gc');
    collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  }, AFTER_START_MS).unref();
}
