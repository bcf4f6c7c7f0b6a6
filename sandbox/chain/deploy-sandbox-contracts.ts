import type { Hex } from 'viem';
import { encodeDeployData, encodeFunctionData, getContractAddress, parseAbi } from 'viem/utils';
import depositFactoryArtifact from '../../contracts/artifacts/DepositFactory.json' with { type: 'json' };
import testUsdcArtifact from '../../contracts/artifacts/TestUsdc.json' with { type: 'json' };
import { type Address, checksumAddress } from '../../src/payment/address.ts';
import type { JsonRpcClient } from '../../src/settlement/chain/json-rpc.ts';
import { MULTICALL3 } from '../../src/settlement/chain/token-reader.ts';
import { type DevelopmentKey, type DevelopmentKeys, signTransaction } from '../development-keys.ts';
import { placeMulticall3 } from './multicall3.ts';

export interface SandboxContracts {
  readonly usdc: Address;
  /** Another token that looks like USDC, as bridged USDC does on Polygon. */
  readonly otherToken: Address;
  readonly factory: Address;
  /** Contract to whose code every deposit address delegates. */
  readonly implementation: Address;
}

const abi = parseAbi([
  'function configureMinter(address minter, uint256 minterAllowedAmount)',
  'function isMinter(address minter) view returns (bool)',
  'function mint(address to, uint256 amount)',
  'function balanceOf(address owner) view returns (uint256)',
  'function implementation() view returns (address)',
  'constructor(address token)',
]);

const MAXIMUM_UINT256 = (1n << 256n) - 1n;
/** 1,000 POL, which pay for far more gas than a sandbox uses. */
const GAS_BALANCE_WEI = 10n ** 21n;
/** Initial balance of the customer's wallet: a billion USDC, in 10⁻⁶ USDC. */
const CUSTOMER_UNITS = 10n ** 15n;
/** Balance below which the customer's wallet is refilled. */
const CUSTOMER_LEAST_UNITS = 10n ** 12n;
const GAS_LIMIT = 10_000_000n;

/** Sends one transaction of a deployer, mines it, and requires success. */
async function execute(
  rpc: JsonRpcClient,
  deployer: DevelopmentKey,
  call: { readonly nonce: number; readonly to?: Address; readonly data: Hex },
): Promise<void> {
  const raw = await signTransaction(deployer, { ...call, gas: GAS_LIMIT });
  const hash = await rpc.call('eth_sendRawTransaction', [raw]);
  await rpc.call('evm_mine', []);
  const receipt = (await rpc.call('eth_getTransactionReceipt', [hash])) as { status?: unknown } | null;
  if (receipt?.status !== '0x1')
    throw new Error(`a transaction of the sandbox's set-up failed: ${String(hash)}`);
}

async function hasCode(rpc: JsonRpcClient, address: Address): Promise<boolean> {
  return (await rpc.call('eth_getCode', [address, 'latest'])) !== '0x';
}

async function readWord(rpc: JsonRpcClient, to: Address, data: Hex): Promise<string> {
  const word = await rpc.call('eth_call', [{ to, data }, 'latest']);
  if (typeof word !== 'string' || !/^0x[0-9a-f]{64}$/.test(word))
    throw new Error('a contract gave no answer');
  return word.slice(2);
}

async function allowMinting(
  rpc: JsonRpcClient,
  { minter }: DevelopmentKeys,
  { token, owner }: { readonly token: Address; readonly owner: DevelopmentKey },
): Promise<void> {
  const isMinter = encodeFunctionData({ abi, functionName: 'isMinter', args: [minter.address] });
  if (BigInt(`0x${await readWord(rpc, token, isMinter)}`) !== 0n) return;
  const args = [minter.address, MAXIMUM_UINT256] as const;
  await executeNext(rpc, owner, token, encodeFunctionData({ abi, functionName: 'configureMinter', args }));
}

/**
 * Deploys test USDC, another token, the deposit factory and Multicall3, unless they exist. The addresses follow from
 * the deployers' first nonces. Thus all sandboxes have the same addresses, and the next start completes a start that
 * was killed. Gives gas to the senders, and USDC to the customer's wallet.
 */
export async function deploySandboxContracts(
  rpc: JsonRpcClient,
  keys: DevelopmentKeys,
): Promise<SandboxContracts> {
  const addressOf = ({ address: from }: DevelopmentKey, nonce: bigint) =>
    checksumAddress(getContractAddress({ from, nonce }).slice(2));
  const usdc = addressOf(keys.deployer, 0n);
  const factory = addressOf(keys.deployer, 1n);
  const otherToken = addressOf(keys.bridge, 0n);

  const senders = [keys.deployer, keys.relayer, keys.minter, keys.customer, keys.bridge];
  for (const { address } of senders) {
    const balance = BigInt((await rpc.call('eth_getBalance', [address, 'latest'])) as string);
    if (balance < GAS_BALANCE_WEI)
      await rpc.call('anvil_setBalance', [address, `0x${GAS_BALANCE_WEI.toString(16)}`]);
  }
  if (!(await hasCode(rpc, MULTICALL3))) await placeMulticall3(rpc.call);
  const tokenCode = testUsdcArtifact.bytecode as Hex;
  for (const [token, deployer] of [
    [usdc, keys.deployer],
    [otherToken, keys.bridge],
  ] as const) {
    if (!(await hasCode(rpc, token))) await execute(rpc, deployer, { nonce: 0, data: tokenCode });
  }
  if (!(await hasCode(rpc, factory))) {
    const bytecode = depositFactoryArtifact.bytecode as Hex;
    await execute(rpc, keys.deployer, { nonce: 1, data: encodeDeployData({ abi, bytecode, args: [usdc] }) });
  }
  await allowMinting(rpc, keys, { token: usdc, owner: keys.deployer });
  await allowMinting(rpc, keys, { token: otherToken, owner: keys.bridge });
  await fillCustomerWallet(rpc, keys, usdc);
  for (const address of [usdc, otherToken, factory]) {
    if (!(await hasCode(rpc, address))) throw new Error(`there is no contract at ${address}`);
  }
  const word = await readWord(rpc, factory, encodeFunctionData({ abi, functionName: 'implementation' }));
  return { usdc, otherToken, factory, implementation: checksumAddress(word.slice(24)) };
}

/** Refills the customer's wallet. The deployer mints, because the on-ramps' minter counts its own nonces. */
async function fillCustomerWallet(rpc: JsonRpcClient, keys: DevelopmentKeys, usdc: Address): Promise<void> {
  const customer = keys.customer.address;
  const balanceOf = encodeFunctionData({ abi, functionName: 'balanceOf', args: [customer] });
  if (BigInt(`0x${await readWord(rpc, usdc, balanceOf)}`) >= CUSTOMER_LEAST_UNITS) return;
  const args = [customer, CUSTOMER_UNITS] as const;
  const data = encodeFunctionData({ abi, functionName: 'mint', args });
  await executeNext(rpc, keys.deployer, usdc, data);
}

async function executeNext(rpc: JsonRpcClient, from: DevelopmentKey, to: Address, data: Hex): Promise<void> {
  const nonce = Number(await rpc.call('eth_getTransactionCount', [from.address, 'latest']));
  await execute(rpc, from, { nonce, to, data });
}
