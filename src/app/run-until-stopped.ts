import type { Config, Role } from '../config.ts';
import { readConfig } from '../config.ts';
import type { Clock } from '../domain/ports/clock.ts';
import { type Running, withCleanUp } from './clean-up.ts';
import { collectGarbageAfterStart } from './collect-garbage.ts';
import { openLiveWorld } from './live-world.ts';
import { createLog, type Log } from './log.ts';
import { createMetrics } from './metrics.ts';
import { openStoreToServe } from './open-store.ts';
import { type WelcomeFacts, welcome, welcomeJson } from './sandbox-welcome.ts';
import { signalToStop } from './signal-to-stop.ts';
import { type Service, startService } from './start-service.ts';

const systemClock: Clock = { nowMs: Date.now, monotonicMs: () => performance.now() };

/**
 * Balancers stop sending to an instance when they notice that it is not ready, so it goes on serving for that long.
 * Long enough for three checks at two seconds' distance.
 */
const NOTICE_AMONG_SEVERAL_MS = 8_000;
/** Nobody else could serve. Connections that are in use are let go with their next answer and not cut off. */
const NOTICE_ALONE_MS = 1_000;

const roles: readonly Role[] = ['all', 'api', 'worker'];

/** Runs the service until it is told to stop by SIGINT or SIGTERM; a second one ends it at once. */
export async function runUntilStopped(options: {
  readonly isLive: boolean;
  readonly role: string;
  /** What the sandbox prints when it is ready is for a program to read. */
  readonly isJson: boolean;
}): Promise<void> {
  const role = roles.find((name) => name === options.role);
  if (role === undefined) throw new Error(`--role must be one of ${roles.join(', ')}`);
  const config = readConfig(options.isLive ? 'live' : 'sandbox');
  if (role !== 'all' && (!options.isLive || config.databaseUrl === null)) {
    throw new Error('--role api and worker need --live and PostgreSQL (DATABASE_URL)');
  }

  const log = createLog(config.logLevel);
  const stopped = signalToStop(process, systemClock.monotonicMs, (exitCode) => process.exit(exitCode));
  const running = options.isLive
    ? await startLive(config, role, log)
    : await startSandboxMode(config, role, log, options.isJson ? welcomeJson : welcome);
  collectGarbageAfterStart();
  await stopped;
  await running.stop();
}

async function startLive(config: Config, role: Role, log: Log): Promise<Running> {
  if (config.secretKey === null) throw new Error('SECRET_KEY is missing');
  const secretKey = config.secretKey;
  return withCleanUp(async (cleanUp) => {
    const store = cleanUp.add(await openStoreToServe(config, log), (opened) => opened.close());
    const metrics = createMetrics();
    const world = cleanUp.add(await openLiveWorld(config, store, systemClock, log, metrics), (opened) =>
      opened.stop(),
    );
    const parts = { config, role, secretKey, store, world, clock: systemClock, log, metrics };
    const noticeMs = store.shared === null ? NOTICE_ALONE_MS : NOTICE_AMONG_SEVERAL_MS;
    const service = cleanUp.add(
      await startService({
        ...parts,
        sandboxControls: null,
        createPlay: null,
        registerSandboxPages: null,
        noticeMs,
      }),
      (started: Service) => started.stop(),
    );
    log.info({ port: service.port, adminPort: service.adminPort, baseUrl: config.baseUrl }, 'ready');
  });
}

async function startSandboxMode(
  config: Config,
  role: Role,
  log: Log,
  greet: (facts: WelcomeFacts) => string,
): Promise<Running> {
  if (config.databaseUrl !== null)
    throw new Error('DATABASE_URL must be empty in the sandbox, which brings SQLite');
  // Loaded only here: live mode must not even contain the sandbox.
  const { startSandboxParts } = await import('./sandbox-mode.ts');
  return withCleanUp(async (cleanUp) => {
    process.stdout.write(greet(await startSandboxParts(config, role, systemClock, log, cleanUp)));
  });
}
