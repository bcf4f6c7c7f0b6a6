import { randomBytes } from 'node:crypto';
import type { ContractDeploymentConfig } from '../config/config.ts';
import { deployFactory } from '../settlement/chain/deploy-contract.ts';
import { closeChainEndpoints, createChainEndpoints } from '../settlement/chain/endpoint-rotation.ts';
import { polOf, releasesPaidBy } from '../settlement/chain/gas.ts';
import { createRelayer } from '../settlement/chain/relayer.ts';
import { openSigner } from '../settlement/chain/signer.ts';
import { verifyDeployment } from '../settlement/chain/verify-deployment.ts';
import { requireToken } from './live-services.ts';

/** Deploys a deposit factory with the first relayer, verifies it, and returns settings for the configuration. */
export async function deployContract(config: ContractDeploymentConfig) {
  const { chainId, rpcUrls, egressProxy: proxy, relayerKeys } = config;
  const signer = openSigner(relayerKeys[0], { proxy });
  const token = requireToken(config);
  const endpoints = createChainEndpoints({ urls: rpcUrls, chainId, proxy });
  try {
    const deployed = await deployFactory({ endpoints, chainId, signer }, token);
    const { factory, implementation, transactionHash, blockNumber } = deployed;
    const { factoryCodeHash } = await verifyDeployment(endpoints, { chainId, factory, token });
    return {
      deposit_factory_address: factory,
      implementation,
      token,
      chain_id: chainId,
      code_hash: factoryCodeHash,
      transaction_hash: transactionHash,
      block_number: blockNumber,
    };
  } finally {
    await closeChainEndpoints(endpoints);
  }
}

/** Creates a relayer key. It is printed once and not stored. */
export function createRelayerKey() {
  const privateKey = `0x${randomBytes(32).toString('hex')}` as const;
  return { relayer_private_key: privateKey, address: openSigner(privateKey).address };
}

/** Returns each relayer's address and balance, and about how many payments it can release at current fees. */
export async function showRelayers(config: ContractDeploymentConfig) {
  const { chainId, rpcUrls, egressProxy: proxy, relayerKeys } = config;
  const endpoints = createChainEndpoints({ urls: rpcUrls, chainId, proxy });
  try {
    return await Promise.all(
      relayerKeys.map(async (key) => {
        const relayer = createRelayer({ endpoints, chainId, signer: openSigner(key, { proxy }) });
        const [balanceWei, fees] = await Promise.all([relayer.readGasBalance(), relayer.quoteFees()]);
        const payments = releasesPaidBy(balanceWei, fees);
        return { address: relayer.address, balance_pol: polOf(balanceWei), payments };
      }),
    );
  } finally {
    await closeChainEndpoints(endpoints);
  }
}
