import packageDescription from '#package' with { type: 'json' };
import { deployContract } from './app/deploy-contract.ts';
import { runDoctor } from './app/doctor.ts';
import { runOperationAnywhere } from './app/run-operation.ts';
import { runUntilStopped } from './app/run-until-stopped.ts';
import { createProgram } from './cli/program.ts';
import { readConfig, readContractDeploymentConfig } from './config.ts';

const program = createProgram(
  {
    start: runUntilStopped,
    // A command needs to know the data folder only, so it asks for no more than the sandbox does.
    runOperation: (name, args) => runOperationAnywhere(readConfig('sandbox'), name, args),
    doctor: runDoctor,
    deployContract: () => deployContract(readContractDeploymentConfig()),
  },
  packageDescription.version,
);

try {
  await program.parseAsync();
} catch (error) {
  process.stderr.write(`card-checkout: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
