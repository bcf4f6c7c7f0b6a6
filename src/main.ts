import { setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net';
import packageDescription from '#package' with { type: 'json' };
import { featureCommands } from './app/feature-commands.ts';
import type { Following } from './cli/control-socket.ts';
import { createProgram, type DoctorCheck } from './cli/program.ts';
import { runLong } from './cli/run-long.ts';
import {
  type Config,
  describePlace,
  readConfig,
  readContractDeploymentConfig,
  readRpcAccess,
} from './config/config.ts';
import { loadEnvironmentFile } from './config/environment-file.ts';
import { ADDRESS_ATTEMPT_MS } from './platform/address-attempt.ts';
import { ChainUnavailableError } from './settlement/chain/chain.ts';

// Makes files of this process and of the local chain private, regardless of the shell's umask.
process.umask(0o077);

// Applies to connections opened by libraries and `fetch`: to PostgreSQL, to the mail server, and by commands.
setDefaultAutoSelectFamilyAttemptTimeout(ADDRESS_ATTEMPT_MS);

async function askOnTerminal(question: string): Promise<string> {
  const { createInterface } = await import('node:readline/promises');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await terminal.question(question);
  } finally {
    terminal.close();
  }
}

// Ends when the reader of stdout closes it, as `| head` does. Commands with cleanup handle SIGTERM.
process.stdout.once('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  if (process.listenerCount('SIGTERM') === 0) process.exit(1);
  process.stdout.on('error', () => {});
  process.kill(process.pid, 'SIGTERM');
});

// Modules are imported on demand, because most commands only call a running server and should start quickly.
let isJson = false;
let environment: NodeJS.ProcessEnv = {};
/** Data location announced last. An export reads the configuration once per chunk but announces the location once. */
let place = '';
const program = createProgram(
  {
    features: featureCommands,
    start: async (options) => {
      const { runUntilStopped } = await import('./app/run-until-stopped.ts');
      if (options.isLive) return runUntilStopped(options, null);
      const { startSandboxParts } = await import('../sandbox/sandbox-mode.ts');
      return runUntilStopped(options, (...parts) => startSandboxParts(...parts, options.isJson));
    },
    ask: process.stdin.isTTY ? askOnTerminal : null,
    init: async () => {
      const { initDatabase } = await import('./app/open-store.ts');
      return initDatabase(readConfig('sandbox'), announce);
    },
    migrate: async (isPlan) => {
      const { migrateDatabase } = await import('./app/open-store.ts');
      return migrateDatabase(readDataConfig(), isPlan, announce);
    },
    runOperation: async (name, args) => {
      const { runOperationAnywhere } = await import('./app/run-operation.ts');
      const run = (following: Following = {}) =>
        runOperationAnywhere(readDataConfig(), name, args, { access: readRpcAccess(), ...following });
      if (name !== 'verify') return run();
      return runLong(name, isJson, (onProgress, signal) => run({ onProgress, signal }));
    },
    backUp: async (file) => {
      const { backUp } = await import('./app/back-up.ts');
      return runLong('backup', isJson, (onProgress) => backUp(readDataConfig(), file, onProgress));
    },
    doctor: async (onCheck) => {
      const report = await (await import('./app/doctor.ts')).runDoctor(onCheck);
      // Exits even if an abandoned check still holds a connection.
      setTimeout(() => process.exit(), 1_000).unref();
      return report;
    },
    rehearse: async (onStep) => {
      const { rehearse } = await import('../sandbox/rehearsal/rehearse.ts').catch((cause) => {
        if (cause.code !== 'ERR_MODULE_NOT_FOUND') throw cause;
        const wayOut = 'run it in a clone or the npm package, with the same .env';
        throw new Error(`rehearse needs the simulators, which the container image lacks: ${wayOut}`, {
          cause,
        });
      });
      return runLong('rehearse', isJson, async (onProgress, signal, clear) => {
        let done = 0;
        const report = (step: DoctorCheck) => {
          clear();
          onStep(step);
          if (isJson)
            process.stderr.write(`${JSON.stringify({ progress: { command: 'rehearse', ...step } })}\n`);
          if (!signal.aborted) onProgress({ unit: 'steps', done: ++done, total: null });
        };
        const script = process.argv[1] ?? '';
        const rehearsal = await rehearse({ environment, script, onStep: report, signal });
        signal.throwIfAborted();
        return rehearsal;
      });
    },
    deployContract: async () =>
      (await import('./app/chain-commands.ts')).deployContract(readContractDeploymentConfig()),
    createRelayerKey: async () => (await import('./app/chain-commands.ts')).createRelayerKey(),
    showRelayers: async () =>
      (await import('./app/chain-commands.ts')).showRelayers(readContractDeploymentConfig()),
    moveStore: async (places) => {
      const { moveStore } = await import('./app/move-store.ts');
      return runLong('move-store', isJson, (onProgress) =>
        moveStore(readDataConfig(), places, announce, onProgress),
      );
    },
    listen: async (options) =>
      (await import('../sandbox/listen-to-sandbox.ts')).listenToSandbox(readDataConfig(), options),
    grade: async (options) => {
      const log = (line: string) => void process.stderr.write(`${line}\n`);
      const { runGrade } = await import('./cli/grade/run-grade.ts');
      return runGrade({ ...options, eventFields: featureCommands.eventFields, log });
    },
  },
  packageDescription.version,
);
program.hook('preAction', (_program, command) => {
  environment = loadEnvironmentFile();
  isJson = command.opts()['json'] === true;
});

/**
 * Reads the configuration for a command that works on stored data. Announces the data's location, because a wrong
 * folder looks like an empty one. The sandbox's requirements suffice: only the data folder is needed.
 */
function readDataConfig(): Config {
  const config = readConfig('sandbox');
  const found = describePlace(config);
  if (found !== place) announce(found);
  place = found;
  return config;
}

function announce(sentence: string): void {
  if (!isJson) process.stderr.write(`card-checkout: ${sentence}\n`);
}

try {
  await program.parseAsync();
} catch (error) {
  // Names the variable, because the error names only the host of the endpoint.
  const variable = error instanceof ChainUnavailableError ? 'POLYGON_RPC_URL cannot be used: ' : '';
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`card-checkout: ${variable}${message}\n`);
  process.exitCode ??= 1;
}
