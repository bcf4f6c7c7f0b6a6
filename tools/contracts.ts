/**
 * Commands for the contracts:
 *   node tools/contracts.ts build   compiles and writes contracts/artifacts
 *   node tools/contracts.ts check   fails unless the committed artifacts match the sources
 *   node tools/contracts.ts test    runs the forge tests, and fails if a payment costs too much gas
 *   node tools/contracts.ts quick   runs the forge tests that draw no inputs
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';
import { platformBinary } from '../test/support/platform-binary.ts';
import {
  type Artifact,
  artifactText,
  compileArtifacts,
  contractsFolder,
  readArtifactText,
  writeArtifact,
} from './contract-artifacts.ts';
import { measureGas } from './contract-gas.ts';

/** Maximum gas of one payment in a batch of 100, each with a fresh clone and two transfers. */
const mostGasPerPayment = 66_000;
/** Extra gas per payment with Circle's FiatTokenV2_2 instead of the test token; see contracts/README.md. */
const circleSurchargeGas = 956;
const measuredBatchSize = 100;

const commands: Record<string, () => void | Promise<void>> = { build, check, test, quick };

function build(): void {
  for (const artifact of compileArtifacts()) {
    writeArtifact(artifact);
    console.log(`${artifact.contractName}: ${(artifact.deployedBytecode.length - 2) / 2} bytes on the chain`);
  }
}

function check(): void {
  const stale = compileArtifacts().filter(
    (artifact) => readArtifactText(artifact.contractName) !== artifactText(artifact),
  );
  if (stale.length > 0) {
    const names = stale.map((artifact) => artifact.contractName).join(', ');
    throw new Error(
      `The committed artifacts do not match the sources: ${names}. Run: npm run contracts build`,
    );
  }
  console.log('The committed artifacts match the sources.');
}

async function test(): Promise<void> {
  runForge(['test']);
  const artifacts = committedArtifacts();
  compareWithForge(artifacts);
  const measurements = await measureGas(artifacts, [1, 10, 50, measuredBatchSize]);
  console.log('\nGas per payment by receipt, and cold storage accesses of the transaction:');
  console.table(measurements);
  const ordinary = measurements.filter(
    (each) => each.merchants === 'one merchant' && each.clones === 'fresh',
  );
  const batch = ordinary.find(({ payments }) => payments === measuredBatchSize);
  if (batch === undefined) throw new Error('The batch that the limit is about was not measured');
  const circleGas = batch.gasPerPayment + circleSurchargeGas;
  console.log(
    `\nA payment in a batch of ${measuredBatchSize}: ${batch.gasPerPayment.toLocaleString('en')} gas, with Circle's token ` +
      `${circleGas.toLocaleString('en')}, of at most ${mostGasPerPayment.toLocaleString('en')}.`,
  );
  if (circleGas > mostGasPerPayment) throw new Error('A payment costs too much gas');
}

function quick(): void {
  runForge(['test', '--no-match-test', '^(testFuzz|invariant)_']);
  compareWithForge(committedArtifacts());
}

function runForge(args: string[]): void {
  // forge starts the compiler's wrapper by the name `node`: it must be this one.
  const path = [dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter);
  const env = { ...process.env, PATH: path, FOUNDRY_DISABLE_NIGHTLY_WARNING: '1' };
  const run = spawnSync(platformBinary('forge'), args, { cwd: contractsFolder, stdio: 'inherit', env });
  if (run.error) throw run.error;
  if (run.status !== 0) throw new Error(`forge ${args.join(' ')} failed (${run.signal ?? run.status})`);
}

function committedArtifacts(): Artifact[] {
  return ['DepositFactory', 'Deposit', 'TestUsdc'].map((name) => {
    const text = readArtifactText(name);
    if (text === undefined)
      throw new Error(`contracts/artifacts/${name}.json is missing. Run: npm run contracts build`);
    return JSON.parse(text) as Artifact;
  });
}

/** Requires that the service deploys exactly the bytes that forge has tested. */
function compareWithForge(artifacts: Artifact[]): void {
  for (const artifact of artifacts) {
    const path = join(contractsFolder, 'out', basename(artifact.sourceName), `${artifact.contractName}.json`);
    const tested = JSON.parse(readFileSync(path, 'utf8')) as { bytecode: { object: string } };
    if (tested.bytecode.object !== artifact.bytecode) {
      throw new Error(`${artifact.contractName}: forge tested other code than the committed artifact has`);
    }
  }
  console.log('The code that forge tested is the code of the committed artifacts.');
}

const name = process.argv[2] ?? '';
const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
try {
  if (command === undefined)
    throw new Error(`Usage: node tools/contracts.ts ${Object.keys(commands).join('|')}`);
  await command();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
