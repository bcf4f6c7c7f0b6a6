import packageDescription from '#package' with { type: 'json' };
import { createProgram } from './cli/program.ts';
import { readConfig, readContractDeploymentConfig, readRpcUrls } from './config.ts';

// Files of this process and of the local chain that it starts are for their owner alone, whatever the shell's umask is.
process.umask(0o077);

// Parts are loaded when a command needs them: most commands only talk to a running server and should be quick.
const program = createProgram(
  {
    start: async (options) => (await import('./app/run-until-stopped.ts')).runUntilStopped(options),
    runOperation: async (name, args) => {
      const { runOperationAnywhere } = await import('./app/run-operation.ts');
      // A command needs to know the data folder only, so it asks for no more than the sandbox does.
      return runOperationAnywhere(readConfig('sandbox'), name, args, { rpcUrls: readRpcUrls() });
    },
    backUp: async (file) => (await import('./app/back-up.ts')).backUp(readConfig('sandbox'), file),
    doctor: async () => (await import('./app/doctor.ts')).runDoctor(),
    deployContract: async () =>
      (await import('./app/deploy-contract.ts')).deployContract(readContractDeploymentConfig()),
    moveStore: async (places) =>
      (await import('./app/move-store.ts')).moveStore(readConfig('sandbox'), places),
    listen: async (options) =>
      (await import('./app/listen-to-sandbox.ts')).listenToSandbox(readConfig('sandbox'), options),
    grade: async (options) => {
      const tell = (line: string) => void process.stderr.write(`${line}\n`);
      return (await import('./cli/grade/run-grade.ts')).runGrade({ ...options, tell });
    },
  },
  packageDescription.version,
);

try {
  await program.parseAsync();
} catch (error) {
  process.stderr.write(`card-checkout: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
