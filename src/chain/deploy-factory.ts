import { encodeAbiParameters, getContractAddress } from 'viem/utils';
import factoryArtifact from '../../contracts/artifacts/DepositFactory.json' with { type: 'json' };
import type { Address } from '../domain/payout-address.ts';
import { type DeployerOptions, deployContract } from './deploy-contract.ts';

export interface DeployedFactory {
  readonly factory: Address;
  readonly implementation: Address;
  readonly transactionHash: string;
  readonly blockNumber: number;
}

/** Deploys a deposit factory for a token, which must exist already. Throws like `deployContract`. */
export async function deployFactory(options: DeployerOptions, token: Address): Promise<DeployedFactory> {
  const constructorArguments = encodeAbiParameters([{ type: 'address' }], [token]).slice(2);
  const { address, ...inclusion } = await deployContract(
    options,
    `${factoryArtifact.bytecode as `0x${string}`}${constructorArguments}`,
  );
  return { factory: address, implementation: getContractAddress({ from: address, nonce: 1n }), ...inclusion };
}
