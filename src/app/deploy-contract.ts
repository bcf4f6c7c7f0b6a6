import { deployFactory } from '../chain/deploy-contract.ts';
import { closeChainEndpoints, createChainEndpoints } from '../chain/endpoint-rotation.ts';
import { verifyDeployment } from '../chain/verify-deployment.ts';
import type { ContractDeploymentConfig } from '../config.ts';
import { requireToken } from './live-services.ts';

/** Deploys a deposit factory with the first relayer's key and checks it. Returns what goes into the configuration. */
export async function deployContract(config: ContractDeploymentConfig) {
  const { chainId, rpcUrls, relayerPrivateKeys } = config;
  const [privateKey] = relayerPrivateKeys;
  const token = requireToken(config);
  const endpoints = createChainEndpoints({ urls: rpcUrls, chainId });
  try {
    const deployed = await deployFactory({ endpoints, chainId, privateKey }, token);
    const { factoryCodeHash } = await verifyDeployment(endpoints, {
      chainId,
      factory: deployed.factory,
      token,
    });
    return {
      deposit_factory_address: deployed.factory,
      implementation: deployed.implementation,
      token,
      chain_id: chainId,
      code_hash: factoryCodeHash,
      transaction_hash: deployed.transactionHash,
      block_number: deployed.blockNumber,
    };
  } finally {
    await closeChainEndpoints(endpoints);
  }
}
