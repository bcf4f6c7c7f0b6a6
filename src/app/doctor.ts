import { closeChainEndpoints, createChainEndpoints, distinctHosts } from '../chain/endpoint-rotation.ts';
import { createRelayer } from '../chain/relayer.ts';
import { verifyDeployment } from '../chain/verify-deployment.ts';
import type { DoctorCheck } from '../cli/program.ts';
import { type Config, ConfigError, readConfig } from '../config.ts';
import { lowGasWei, polOf } from '../domain/gas-money.ts';
import { describeOffByDefault } from '../payments/provider-availability.ts';
import { StoreInUseError } from '../store/store-errors.ts';
import { requireChain, requireToken } from './live-services.ts';
import { createLog } from './log.ts';
import { openStore, requireDatabase } from './open-store.ts';
import { runOperationAnywhere } from './run-operation.ts';

/** Checks a live configuration and everything it points to; every check says what it found. */
export async function runDoctor(): Promise<{ readonly checks: readonly DoctorCheck[] }> {
  let config: Config;
  try {
    config = readConfig('live');
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { checks: error.problems.map((detail) => ({ name: 'configuration', isFine: false, detail })) };
  }
  return {
    checks: [
      { name: 'configuration', isFine: true, detail: 'all variables are valid' },
      await checkStore(config),
      ...(await checkChain(config)),
      await checkProviders(config),
    ],
  };
}

async function checkStore(config: Config): Promise<DoctorCheck> {
  try {
    await requireDatabase(config);
    await (await openStore(config, createLog('silent'))).close();
    const engine = config.databaseUrl === null ? `SQLite in ${config.dataDir}` : 'PostgreSQL at DATABASE_URL';
    return { name: 'store', isFine: true, detail: `${engine} opens` };
  } catch (error) {
    if (error instanceof StoreInUseError) {
      return { name: 'store', isFine: true, detail: `a server is using ${config.dataDir}` };
    }
    return { name: 'store', isFine: false, detail: messageOf(error) };
  }
}

async function checkChain(config: Config): Promise<DoctorCheck[]> {
  const chain = requireChain(config);
  const endpoints = createChainEndpoints({ urls: chain.rpcUrls, chainId: chain.chainId });
  const checks: DoctorCheck[] = [];
  try {
    checks.push(
      await checked('contract', async () => {
        const token = requireToken(chain);
        const { factoryCodeHash } = await verifyDeployment(endpoints, { ...chain, token });
        return `factory ${chain.factory} runs our code (${factoryCodeHash}) and computes our addresses`;
      }),
    );
    for (const privateKey of chain.relayerPrivateKeys) {
      const check = await checked('relayer', async () => {
        const relayer = createRelayer({ endpoints, chainId: chain.chainId, privateKey });
        const [balance, fees] = await Promise.all([relayer.readGasBalance(), relayer.quoteFees()]);
        const pol = polOf(balance);
        const lowWei = lowGasWei(fees);
        if (balance < lowWei) {
          throw new Error(
            `${relayer.address} has only ${pol} POL for gas: send POL to it, ` +
              `three full batches can cost ${polOf(lowWei)} POL at current fees`,
          );
        }
        return `${relayer.address} has ${pol} POL for gas`;
      });
      checks.push(check);
    }
    checks.push({ name: 'endpoints', isFine: true, detail: describeHosts(distinctHosts(endpoints)) });
  } finally {
    await closeChainEndpoints(endpoints);
  }
  return checks;
}

/** Describes the confirmations that this number of hosts allows; URLs on one host count as one. */
export function describeHosts(hosts: readonly string[]): string {
  const names = hosts.join(', ');
  if (hosts.length === 1) {
    return `all RPC endpoints are on one host (${names}): the service trusts everything it reports, including invented payments`;
  }
  if (hosts.length === 2) {
    return `RPC endpoints on two hosts (${names}) confirm each other: nothing becomes paid while one is down or they disagree`;
  }
  return `RPC endpoints on ${hosts.length} hosts (${names}) confirm each other: one may fail or lie`;
}

/** Providers that are off by default are named, and are no error: the operator decides which of them customers are offered. */
async function checkProviders(config: Config): Promise<DoctorCheck> {
  const ids = [...config.providers.keys()];
  if (ids.length === 0)
    return {
      name: 'providers',
      isFine: false,
      detail: 'no provider has credentials: customers could not pay',
    };
  const switches = await readSwitches(config);
  const off = ids.filter((id) => (switches.get(id) ?? 'default') === 'default');
  const warning = off.length === 0 ? '' : `. WARNING: ${describeOffByDefault(off)}`;
  return { name: 'providers', isFine: true, detail: `credentials for ${ids.join(', ')}${warning}` };
}

/** The switch of each provider, from the running server or from the store; empty where neither answers. */
async function readSwitches(config: Config): Promise<ReadonlyMap<string, string>> {
  try {
    const listed = await runOperationAnywhere(config, 'provider list', {}, { patienceMs: 0 });
    const providers = listed as readonly { readonly provider: string; readonly switch: string }[];
    return new Map(providers.map((each) => [each.provider, each.switch]));
  } catch {
    return new Map();
  }
}

async function checked(name: string, check: () => Promise<string>): Promise<DoctorCheck> {
  try {
    return { name, isFine: true, detail: await check() };
  } catch (error) {
    return { name, isFine: false, detail: messageOf(error) };
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
