/** Compiles the contracts, and writes the parts that the service needs to committed JSON files. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import solc from 'solc';

/** Folder of the contracts, their tests and artifacts. */
export const contractsFolder = join(import.meta.dirname, '..', 'contracts');

/** Content of `contracts/artifacts/<name>.json`. Bytes are 0x-prefixed hexadecimal. */
export type Artifact = {
  contractName: string;
  sourceName: string;
  compiler: { version: string; settings: typeof compilerSettings };
  /** SHA-256 of the names and texts of the contract's sources, itself first, then what it imports. */
  sourceHash: string;
  abi: unknown[];
  /** The init code; append the ABI-encoded constructor arguments to deploy. */
  bytecode: string;
  /** Runtime code, with zeros in place of the immutable values. */
  deployedBytecode: string;
  /** Positions of each immutable value in the runtime code, right-aligned; offsets and lengths in bytes. */
  immutables: Record<string, { start: number; length: number }[]>;
};

/** Compiler settings, the same as in `contracts/foundry.toml`; `test` compares the results. */
export const compilerSettings = {
  evmVersion: 'cancun',
  optimizer: { enabled: true, runs: 1_000_000 },
  viaIR: false,
  metadata: { bytecodeHash: 'none', appendCBOR: false },
};

/** Contract with a committed artifact. A proxy gets the interface of its implementation. */
type Target = { contractName: string; sourceName: string; interfaceOf?: string };

const targets: Target[] = [
  { contractName: 'DepositFactory', sourceName: 'src/DepositFactory.sol' },
  { contractName: 'Deposit', sourceName: 'src/Deposit.sol' },
  { contractName: 'TestUsdc', sourceName: 'sandbox/TestUsdc.sol', interfaceOf: 'TestUsdcLogic' },
];

type AbiEntry = { type: string; name?: string };
type AstNode = { id?: number; name?: string; nodeType?: string; mutability?: string } & Record<
  string,
  unknown
>;
type Bytecode = {
  object: string;
  immutableReferences?: Record<string, { start: number; length: number }[]>;
};
type CompiledContract = {
  abi: AbiEntry[];
  evm: { bytecode: Bytecode; deployedBytecode: Bytecode };
};
type CompilerOutput = {
  errors?: { formattedMessage: string }[];
  contracts: Record<string, Record<string, CompiledContract>>;
  sources: Record<string, { ast: AstNode }>;
};

/** Compiles the sources. Throws on an error or a warning. */
export function compileArtifacts(): Artifact[] {
  const sources = readSources(targets.map((target) => target.sourceName));
  const input = {
    language: 'Solidity',
    sources: Object.fromEntries([...sources].map(([name, content]) => [name, { content }])),
    settings: {
      ...compilerSettings,
      outputSelection: {
        '*': {
          '*': [
            'abi',
            'evm.bytecode.object',
            'evm.deployedBytecode.object',
            'evm.deployedBytecode.immutableReferences',
          ],
          '': ['ast'],
        },
      },
    },
  };
  const output = JSON.parse(solc.compile(JSON.stringify(input))) as CompilerOutput;
  const complaints = (output.errors ?? []).map((error) => error.formattedMessage);
  if (complaints.length > 0)
    throw new Error(`The contracts do not compile cleanly:\n${complaints.join('\n')}`);
  return targets.map((target) => toArtifact(target, output, sources));
}

/** Committed text of a contract's artifact, or undefined. */
export function readArtifactText(contractName: string): string | undefined {
  const path = artifactPath(contractName);
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

/** Writes an artifact where it is committed. */
export function writeArtifact(artifact: Artifact): void {
  const path = artifactPath(artifact.contractName);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, artifactText(artifact));
}

/** Serializes an artifact deterministically. */
export function artifactText(artifact: Artifact): string {
  return `${JSON.stringify(artifact, null, 2)}\n`;
}

function artifactPath(contractName: string): string {
  return join(contractsFolder, 'artifacts', `${contractName}.json`);
}

function toArtifact(target: Target, output: CompilerOutput, sources: Map<string, string>): Artifact {
  const { contractName, sourceName } = target;
  const contract = compiled(output, sourceName, contractName);
  return {
    contractName,
    sourceName,
    compiler: { version: solc.version() as string, settings: compilerSettings },
    sourceHash: hashSources(sourceName, sources),
    abi:
      target.interfaceOf === undefined
        ? contract.abi
        : proxyAbi(contract, compiled(output, sourceName, target.interfaceOf)),
    bytecode: `0x${contract.evm.bytecode.object}`,
    deployedBytecode: `0x${contract.evm.deployedBytecode.object}`,
    immutables: namedImmutables(contract, output),
  };
}

/** Interface of a proxy: its own constructor, and everything else from its implementation. */
function proxyAbi(proxy: CompiledContract, logic: CompiledContract): AbiEntry[] {
  const initializer = (entry: AbiEntry) => entry.type === 'function' && entry.name === 'initialize';
  return [
    ...proxy.abi.filter((entry) => entry.type === 'constructor'),
    ...logic.abi.filter((entry) => entry.type !== 'constructor' && !initializer(entry)),
  ];
}

function compiled(output: CompilerOutput, sourceName: string, contractName: string): CompiledContract {
  const contract = output.contracts[sourceName]?.[contractName];
  if (contract === undefined) throw new Error(`${sourceName} has no contract ${contractName}`);
  return contract;
}

/** Replaces the compiler's numbers of immutable variables by their names, for readability. */
function namedImmutables(contract: CompiledContract, output: CompilerOutput): Artifact['immutables'] {
  const names = new Map<string, string>();
  const collect = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const node = value as AstNode;
    if (node.nodeType === 'VariableDeclaration' && node.mutability === 'immutable') {
      names.set(String(node.id), String(node.name));
    }
    for (const child of Object.values(node)) collect(child);
  };
  for (const source of Object.values(output.sources)) collect(source.ast);
  const references = Object.entries(contract.evm.deployedBytecode.immutableReferences ?? {});
  const named = references.map(([id, places]): [string, { start: number; length: number }[]] => {
    const name = names.get(id);
    if (name === undefined) throw new Error(`No immutable variable has the number ${id}`);
    return [name, [...places].sort((first, second) => first.start - second.start)];
  });
  return Object.fromEntries(named.sort(([first], [second]) => (first < second ? -1 : 1)));
}

/** The sources and everything that they import, by their path below the contracts' folder. */
function readSources(sourceNames: string[]): Map<string, string> {
  const sources = new Map<string, string>();
  const waiting = [...sourceNames];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (sources.has(name)) continue;
    const text = readFileSync(join(contractsFolder, name), 'utf8');
    sources.set(name, text);
    waiting.push(...importsOf(name, text));
  }
  return sources;
}

function importsOf(sourceName: string, text: string): string[] {
  return [...text.matchAll(/^import .*?"(\..*?)";$/gm)].map((match) =>
    posix.join(posix.dirname(sourceName), match[1] ?? ''),
  );
}

function hashSources(sourceName: string, sources: Map<string, string>): string {
  const hash = createHash('sha256');
  const seen = new Set<string>();
  const add = (name: string): void => {
    if (seen.has(name)) return;
    seen.add(name);
    const text = sources.get(name) ?? '';
    hash.update(`${name}\n${Buffer.byteLength(text)}\n${text}`);
    for (const imported of importsOf(name, text)) add(imported);
  };
  add(sourceName);
  return `sha256:${hash.digest('hex')}`;
}
