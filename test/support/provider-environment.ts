import { join } from 'node:path';
import type { Sandbox } from '../../sandbox/start-sandbox.ts';
import { CONTROL_SOCKET, callServer } from '../../src/cli/control-socket.ts';
import type { ProviderId } from '../../src/payment/provider-catalog.ts';
import { variableNameOf } from '../../src/providers/adapters/define-provider.ts';

/** The variables with which a service in live mode reaches a provider of this sandbox. */
export function providerEnvironment(
  world: Pick<Sandbox, 'providerValues'>,
  provider: ProviderId = 'moonpay',
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(world.providerValues[provider]).map(([name, value]) => [
      variableNameOf(provider, name),
      value,
    ]),
  );
}

/** The variables with which a service in live mode reaches the chain of this sandbox and one of its providers. */
export function liveEnvironment(world: Sandbox): Readonly<Record<string, string>> {
  return {
    CHAIN_ID: String(world.chainId),
    POLYGON_RPC_URL: `${world.rpcUrl},${world.anvilUrl}`,
    SETTLEMENT_TOKEN_ADDRESS: world.usdc,
    RELAYER_PRIVATE_KEY: world.relayerPrivateKey,
    FEE_WALLET: world.feeWallet,
    ...providerEnvironment(world),
  };
}

/** Switches a provider on by name, in the server of this environment: simulators prove nothing, so live mode has it off. */
export async function switchProviderOn(
  { DATA_DIR: folder }: Readonly<Record<string, string>>,
  provider: ProviderId = 'moonpay',
): Promise<void> {
  await callServer(join(folder as string, CONTROL_SOCKET), 'provider set', { provider, active: true });
}
