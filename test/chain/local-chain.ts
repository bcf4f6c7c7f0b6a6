import { setTimeout as delay } from 'node:timers/promises';
import { privateKeyToAddress } from 'viem/accounts';
import { encodeFunctionData, keccak256, parseAbi, toHex } from 'viem/utils';
import testUsdc from '../../contracts/artifacts/TestUsdc.json' with { type: 'json' };
import { placeMulticall3 } from '../../sandbox/chain/multicall3.ts';
import {
  type Address,
  checksumAddress,
  createDepositAddressCalculator,
  type DepositTerms,
} from '../../src/payment/address.ts';
import type { RelayCall } from '../../src/settlement/chain/chain.ts';
import {
  type DeployerOptions,
  deployContract,
  deployFactory,
} from '../../src/settlement/chain/deploy-contract.ts';
import {
  type ChainEndpoint,
  closeChainEndpoints,
  createChainEndpoints,
} from '../../src/settlement/chain/endpoint-rotation.ts';
import { encodeRelayCall } from '../../src/settlement/chain/read-logs.ts';
import { openSigner } from '../../src/settlement/chain/signer.ts';
import { type Anvil, type AnvilOptions, anvilKeys, startAnvil } from '../support/anvil.ts';

/** A local chain with Multicall3, the test USDC and a deposit factory. */
export interface LocalChain {
  readonly anvil: Anvil;
  /** One endpoint: the node itself. */
  readonly endpoints: readonly ChainEndpoint[];
  readonly deployer: DeployerOptions;
  readonly token: Address;
  readonly factory: Address;
  readonly implementation: Address;
  readonly depositOf: (terms: DepositTerms) => Address;
  /** Calls the token as its owner; returns the transaction's hash, with `auto` mining when it is in a block. */
  callToken(call: TokenCall): Promise<string>;
  /** Calls a factory as somebody who is not the relayer. */
  relay(call: RelayCall): Promise<string>;
  stop(): Promise<void>;
}

export type TokenCall =
  | {
      readonly name: 'mint' | 'transfer';
      readonly to: Address;
      readonly units: bigint;
      readonly token?: Address;
    }
  | { readonly name: 'blacklist' | 'unBlacklist'; readonly account: Address }
  | { readonly name: 'pause' | 'unpause' };

const testUsdcAbi = parseAbi([
  'function mint(address to, uint256 amount)',
  'function transfer(address to, uint256 amount)',
  'function blacklist(address account)',
  'function unBlacklist(address account)',
  'function pause()',
  'function unpause()',
]);

/** Owns the test token. The relayer in tests is `anvilKeys[1]`, a rival `anvilKeys[2]`. */
const ownerKey = anvilKeys[0];

/** anvil takes plain gas limits without estimating; enough for any call of a test. */
const PLENTY_OF_GAS = '0x1c9c380';

export async function startLocalChain(options: AnvilOptions = {}): Promise<LocalChain> {
  const anvil = await startAnvil(options);
  const endpoints = createChainEndpoints({ urls: [anvil.url], chainId: anvil.chainId });
  const deployer = { endpoints, chainId: anvil.chainId, signer: openSigner(ownerKey), pollIntervalMs: 10 };
  await placeMulticall3(anvil.rpc);
  if (options.mining === 'manual') await anvil.rpc('evm_setAutomine', [true]);
  const token = await deployTestUsdc(deployer);
  const { factory, implementation } = await deployFactory(deployer, token);
  if (options.mining === 'manual') await anvil.rpc('evm_setAutomine', [false]);

  async function send(from: string, to: Address, data: string): Promise<string> {
    const transaction = { from, to, data, gas: PLENTY_OF_GAS };
    const hash = String(await anvil.rpc('eth_sendTransaction', [transaction]));
    // anvil answers before the block is made.
    if ((options.mining ?? 'auto') === 'auto') await waitUntilMined(anvil, hash);
    return hash;
  }

  return {
    anvil,
    endpoints,
    deployer,
    token,
    factory,
    implementation,
    depositOf: createDepositAddressCalculator({ chainId: anvil.chainId, factory, implementation }),
    callToken: (call) => send(privateKeyToAddress(ownerKey), tokenOf(call, token), encodeTokenCall(call)),
    relay: (call) => send(privateKeyToAddress(anvilKeys[2]), call.factory, encodeRelayCall(call)),
    async stop() {
      await closeChainEndpoints(endpoints);
      await anvil.stop();
    },
  };
}

const MINED_TIMEOUT_MS = 60_000;

export async function waitUntilMined(anvil: Pick<Anvil, 'rpc'>, hash: string): Promise<void> {
  const deadlineMs = performance.now() + MINED_TIMEOUT_MS;
  while ((await anvil.rpc('eth_getTransactionReceipt', [hash])) === null) {
    if (performance.now() > deadlineMs) throw new Error(`transaction ${hash} was not mined`);
    await delay(1);
  }
}

export async function deployTestUsdc(deployer: DeployerOptions): Promise<Address> {
  return (await deployContract(deployer, testUsdc.bytecode as `0x${string}`)).address;
}

function tokenOf(call: TokenCall, token: Address): Address {
  return 'token' in call && call.token !== undefined ? call.token : token;
}

function encodeTokenCall(call: TokenCall): `0x${string}` {
  if ('to' in call) {
    return encodeFunctionData({ abi: testUsdcAbi, functionName: call.name, args: [call.to, call.units] });
  }
  if ('account' in call) {
    return encodeFunctionData({ abi: testUsdcAbi, functionName: call.name, args: [call.account] });
  }
  return encodeFunctionData({ abi: testUsdcAbi, functionName: call.name });
}

/** An address that nobody has used, the same for the same name. */
export function addressFor(name: string): Address {
  return checksumAddress(keccak256(toHex(name)).slice(-40));
}

/** Terms of a payment, the same for the same name; 2.5 %. */
export function termsFor(name: string): DepositTerms {
  return {
    merchant: addressFor(`merchant of ${name}`),
    feeBasisPoints: 250,
    feeWallet: addressFor('fee wallet'),
    reference: keccak256(toHex(name)),
  };
}
