/**
 * Circle's own USDC, FiatTokenV2_2 behind its proxy, compiled from sources that the operator has. The project does not
 * contain them.
 */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, posix, resolve } from 'node:path';
import wrapper from 'solc/wrapper.js';
import {
  concatHex,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  numberToHex,
  pad,
  parseAbi,
} from 'viem';
import { type ChainCall, deploy, sendTransaction } from './local-chain.ts';

/** Init code; that of the proxy takes the logic's address as its constructor's argument. */
export interface CircleToken {
  readonly logic: Hex;
  readonly proxy: Hex;
}

const compilerVersion = '0.6.12';
const logicSource = 'contracts/v2/FiatTokenV2_2.sol';
const proxySource = 'contracts/v1/FiatTokenProxy.sol';
/** As Circle's configuration has it. */
const optimizer = { enabled: true, runs: 10_000_000 };

/**
 * Compiles `folder`, a checkout of github.com/circlefin/stablecoin-evm with its dependencies installed: OpenZeppelin's
 * contracts 3.4.2 and the compiler 0.6.12 come from its `node_modules`. Throws where one of them is missing.
 */
export function compileCircleToken(folder: string): CircleToken {
  const compiler = loadCompiler(folder);
  const input = {
    language: 'Solidity',
    sources: Object.fromEntries(
      [...readSources(folder, [logicSource, proxySource])].map(([name, content]) => [name, { content }]),
    ),
    settings: { optimizer, outputSelection: { '*': { '*': ['evm.bytecode.object'] } } },
  };
  const output = JSON.parse(compiler.compile(JSON.stringify(input))) as {
    errors?: { severity: string; formattedMessage: string }[];
    contracts?: Record<string, Record<string, { evm: { bytecode: { object: string } } }>>;
  };
  const errors = (output.errors ?? []).filter(({ severity }) => severity === 'error');
  if (errors.length > 0) throw new Error(errors.map((error) => error.formattedMessage).join('\n'));
  const codeOf = (source: string, contract: string): Hex => {
    const code = output.contracts?.[source]?.[contract]?.evm.bytecode.object;
    if (code === undefined) throw new Error(`${source} has no contract ${contract}`);
    return `0x${code.replaceAll(libraryPlace, absentLibrary.slice(2))}`;
  };
  return { logic: codeOf(logicSource, 'FiatTokenV2_2'), proxy: codeOf(proxySource, 'FiatTokenProxy') };
}

/** Where the address of a library goes. The token's only one checks signatures, which no release has. */
const libraryPlace = /__\$[0-9a-f]{34}\$__/g;
const absentLibrary = pad('0x51', { size: 20 });

function loadCompiler(folder: string): { version(): string; compile(input: string): string } {
  const file = join(resolve(folder), 'node_modules/solc/soljson.js');
  if (!existsSync(file)) throw new Error(`${file} is missing: install the dependencies of ${folder}`);
  const compiler = wrapper(createRequire(file)(file));
  const version = compiler.version();
  if (!version.startsWith(`${compilerVersion}+`)) {
    throw new Error(`${file} is the compiler ${version}; the token needs ${compilerVersion}`);
  }
  return compiler;
}

/** The sources and everything that they import, by their names for the compiler. */
function readSources(folder: string, names: readonly string[]): ReadonlyMap<string, string> {
  const sources = new Map<string, string>();
  const waiting = [...names];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (sources.has(name)) continue;
    const file = join(folder, name.startsWith('@') ? 'node_modules' : '', name);
    if (!existsSync(file)) throw new Error(`${file} is missing`);
    const text = readFileSync(file, 'utf8');
    sources.set(name, text);
    for (const [, imported = ''] of text.matchAll(/^import[^;]*?"([^"]+)";/gm)) {
      waiting.push(imported.startsWith('.') ? posix.join(posix.dirname(name), imported) : imported);
    }
  }
  return sources;
}

const abi = parseAbi([
  'function changeAdmin(address newAdmin)',
  'function initialize(string tokenName, string tokenSymbol, string tokenCurrency, uint8 tokenDecimals, address newMasterMinter, address newPauser, address newBlacklister, address newOwner)',
  'function initializeV2(string newName)',
  'function initializeV2_1(address lostAndFound)',
  'function initializeV2_2(address[] accountsToBlacklist, string newSymbol)',
  'function configureMinter(address minter, uint256 minterAllowedAmount)',
]);

/** Deploys the token with every role for `sender`, and returns the proxy's address. */
export async function deployCircleToken(
  { logic, proxy }: CircleToken,
  call: ChainCall,
  sender: Hex,
): Promise<Hex> {
  const implementation = await deploy(call, sender, logic);
  const constructorArguments = encodeAbiParameters([{ type: 'address' }], [implementation]);
  const token = await deploy(call, sender, concatHex([proxy, constructorArguments]));
  // The proxy refuses the token's calls to its admin.
  const admin = numberToHex(1, { size: 20 });
  const unlimited = (1n << 256n) - 1n;
  for (const data of [
    encodeFunctionData({ abi, functionName: 'changeAdmin', args: [admin] }),
    encodeFunctionData({
      abi,
      functionName: 'initialize',
      args: ['USD Coin', 'USDC', 'USD', 6, sender, sender, sender, sender],
    }),
    encodeFunctionData({ abi, functionName: 'initializeV2', args: ['USD Coin'] }),
    encodeFunctionData({ abi, functionName: 'initializeV2_1', args: [sender] }),
    encodeFunctionData({ abi, functionName: 'initializeV2_2', args: [[], 'USDC'] }),
    encodeFunctionData({ abi, functionName: 'configureMinter', args: [sender, unlimited] }),
  ]) {
    await sendTransaction(call, { from: sender, to: token, data });
  }
  return token;
}
