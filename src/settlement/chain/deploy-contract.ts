import { setTimeout as delay } from 'node:timers/promises';
import { encodeAbiParameters, getContractAddress } from 'viem/utils';
import factoryArtifact from '../../../contracts/artifacts/DepositFactory.json' with { type: 'json' };
import type { Address } from '../../payment/address.ts';
import { createEndpointRotation, type EndpointRotation } from './endpoint-rotation.ts';
import { limitOf, polOf, readEstimate } from './gas.ts';
import { broadcast, quoteFees, type RelayerOptions, readBalance, signTransaction } from './relayer.ts';

/** Deployer's options. Its key pays the gas and gets no rights, except what the test token's constructor grants. */
export interface DeployerOptions extends RelayerOptions {
  /** Maximum wait for the receipt. Default 120,000. */
  readonly timeoutMs?: number;
  /** Interval at which the receipt is polled. Default 500. */
  readonly pollIntervalMs?: number;
}

/** Thrown when a deployment fails or its outcome is unknown. */
export class DeploymentFailedError extends Error {}

/** Deploys `initCode` (with constructor arguments) and waits until it is mined. Throws `DeploymentFailedError`. */
export async function deployContract(options: DeployerOptions, initCode: `0x${string}`) {
  const { endpoints, chainId, signer } = options;
  const rotation = createEndpointRotation(endpoints);
  const { balanceWei, ...prepared } = await rotation.useAny(async ({ rpc }) => ({
    chainId,
    data: initCode,
    nonce: await rpc.call('eth_getTransactionCount', [signer.address, 'pending']),
    gas: limitOf(await readEstimate({ rpc }, { from: signer.address, to: null, data: initCode })),
    ...(await quoteFees(rpc)),
    balanceWei: await readBalance(rpc, signer.address),
  }));
  const costWei = prepared.gas * prepared.maxFeePerGas;
  if (balanceWei < costWei) {
    const pol = `${polOf(balanceWei)} POL, and the deployment can cost ${polOf(costWei)} POL`;
    throw new DeploymentFailedError(`The address ${signer.address} holds ${pol}: send POL to it first.`);
  }
  const { hash, rawTransaction } = await signTransaction(signer, prepared);
  await broadcast(endpoints, rawTransaction);
  const blockNumber = await waitForReceipt(rotation, hash, options);
  const address = getContractAddress({ from: signer.address, nonce: BigInt(prepared.nonce) });
  return { address, transactionHash: hash, blockNumber };
}

async function waitForReceipt(
  rotation: EndpointRotation,
  hash: string,
  { timeoutMs = 120_000, pollIntervalMs = 500 }: DeployerOptions,
): Promise<number> {
  const deadlineMs = performance.now() + timeoutMs;
  while (performance.now() < deadlineMs) {
    const receipt = await rotation.useAny(({ rpc }) => rpc.call('eth_getTransactionReceipt', [hash]));
    if (receipt?.hasSucceeded === false)
      throw new DeploymentFailedError(`the deployment in transaction ${hash} failed`);
    if (receipt !== null) return receipt.blockNumber;
    await delay(pollIntervalMs);
  }
  throw new DeploymentFailedError(`transaction ${hash} is not in a block after ${timeoutMs} ms`);
}

/** Deploys a deposit factory for an existing token. Throws like `deployContract`. */
export async function deployFactory(options: DeployerOptions, token: Address) {
  const constructorArguments = encodeAbiParameters([{ type: 'address' }], [token]).slice(2);
  const { address, ...inclusion } = await deployContract(
    options,
    `${factoryArtifact.bytecode as `0x${string}`}${constructorArguments}`,
  );
  return { factory: address, implementation: getContractAddress({ from: address, nonce: 1n }), ...inclusion };
}
