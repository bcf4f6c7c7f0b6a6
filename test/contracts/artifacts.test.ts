import {
  type Abi,
  concatHex,
  encodeAbiParameters,
  encodeDeployData,
  encodeFunctionData,
  getContractAddress,
  type Hex,
  keccak256,
  numberToHex,
  pad,
  size,
} from 'viem';
import { describe, expect, it } from 'vitest';
import {
  type Artifact,
  artifactText,
  compileArtifacts,
  readArtifactText,
} from '../../tools/contract-artifacts.ts';
import { deploy, sendTransaction, withLocalChain } from '../../tools/local-chain.ts';

describe('the committed contract artifacts', () => {
  it('match the sources, byte by byte', () => {
    const compiled = compileArtifacts();
    expect(compiled.map((artifact) => artifact.contractName)).toEqual([
      'DepositFactory',
      'Deposit',
      'TestUsdc',
    ]);
    for (const artifact of compiled) {
      expect(readArtifactText(artifact.contractName), 'run: npm run contracts build').toBe(
        artifactText(artifact),
      );
    }
  });

  it('tell the exact code of a factory and its implementation from token, chain and address alone', async () => {
    await withLocalChain(async (call, sender) => {
      const token = await deploy(call, sender, deployData('TestUsdc'));
      const factory = await deploy(call, sender, deployData('DepositFactory', token));
      const implementation = getContractAddress({ from: factory, nonce: 1n });
      const chainId = (await call('eth_chainId', [])) as Hex;
      const cloneInitCode = cloneOf(implementation);
      expect(size(cloneInitCode)).toBe(55);
      const cloneInitCodeHash = keccak256(cloneInitCode);
      expect(await call('eth_getCode', [factory, 'latest'])).toBe(
        codeWith('DepositFactory', { token, implementation, chainId, cloneInitCodeHash }),
      );
      expect(await call('eth_getCode', [implementation, 'latest'])).toBe(
        codeWith('Deposit', { factory, token }),
      );
    });
  });

  it('lead to the deposit address that the chain computes', async () => {
    await withLocalChain(async (call, sender) => {
      const token = await deploy(call, sender, deployData('TestUsdc'));
      const factory = await deploy(call, sender, deployData('DepositFactory', token));
      const chainId = BigInt((await call('eth_chainId', [])) as Hex);
      const terms = {
        merchant: pad('0xa11ce', { size: 20 }),
        feeBps: 250,
        feeTo: sender,
        ref: keccak256('0x01'),
      };
      const data = callData('DepositFactory', 'depositOf', [terms]);
      const answer = (await call('eth_call', [{ to: factory, data }, 'latest'])) as Hex;
      const words = ['uint256', 'address', 'address', 'uint16', 'bytes32'].map((type) => ({ type }));
      const salt = keccak256(
        encodeAbiParameters(words, [chainId, terms.merchant, terms.feeTo, terms.feeBps, terms.ref]),
      );
      const bytecode = cloneOf(getContractAddress({ from: factory, nonce: 1n }));
      const deposit = getContractAddress({ opcode: 'CREATE2', from: factory, salt, bytecode });
      expect(answer).toBe(pad(deposit).toLowerCase());

      const mint = callData('TestUsdc', 'mint', [deposit, 1_000_000n]);
      await sendTransaction(call, { from: sender, to: token, data: mint });
      const forward = callData('DepositFactory', 'forward', [[terms]]);
      const { logs } = await sendTransaction(call, { from: sender, to: factory, data: forward });
      expect(logs).toHaveLength(3);
      const code = (await call('eth_getCode', [deposit, 'latest'])) as Hex;
      expect(code).toBe(`0x${bytecode.slice(2 + 20)}`.toLowerCase());
    });
  });
});

function artifactOf(contractName: string): Artifact {
  const text = readArtifactText(contractName);
  if (text === undefined) throw new Error(`No artifact of ${contractName}`);
  return JSON.parse(text) as Artifact;
}

function abiOf(contractName: string): Abi {
  return artifactOf(contractName).abi as Abi;
}

function callData(contractName: string, functionName: string, args: readonly unknown[]): Hex {
  return encodeFunctionData({ abi: abiOf(contractName), functionName, args });
}

/** The code that creates a minimal proxy to this contract. */
function cloneOf(implementation: Hex): Hex {
  return concatHex([
    '0x3d602d80600a3d3981f3363d3d373d3d3d363d73',
    implementation,
    '0x5af43d82803e903d91602b57fd5bf3',
  ]);
}

function deployData(contractName: string, ...args: Hex[]): Hex {
  return encodeDeployData({
    abi: abiOf(contractName),
    bytecode: artifactOf(contractName).bytecode as Hex,
    args,
  });
}

/** The code on the chain: the artifact's, with every immutable value in its places. */
function codeWith(contractName: string, values: Record<string, Hex>): Hex {
  const { deployedBytecode, immutables } = artifactOf(contractName);
  expect(Object.keys(immutables).sort()).toEqual(Object.keys(values).sort());
  let digits = deployedBytecode.slice(2);
  for (const [name, places] of Object.entries(immutables)) {
    for (const { start, length } of places) {
      const value = numberToHex(BigInt(values[name] ?? '0x'), { size: length }).slice(2);
      digits = digits.slice(0, start * 2) + value + digits.slice((start + length) * 2);
    }
  }
  return `0x${digits}`;
}
