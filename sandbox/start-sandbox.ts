import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { encodeFunctionData, parseAbi } from 'viem/utils';
import type { Address } from '../src/payment/address.ts';
import type { ProviderId } from '../src/payment/provider-catalog.ts';
import type { Fault, ProviderFault } from '../src/payment/test-payments.ts';
import type { ProviderValues } from '../src/providers/adapters/define-provider.ts';
import type { JsonRpcClient } from '../src/settlement/chain/json-rpc.ts';
import { startChainGateway } from './chain/chain-gateway.ts';
import { deploySandboxContracts, type SandboxContracts } from './chain/deploy-sandbox-contracts.ts';
import { type LocalChain, startBlockProducer, startLocalChain } from './chain/local-chain.ts';
import {
  type DevelopmentKey,
  type DevelopmentKeys,
  developmentKeys,
  SANDBOX_CHAIN_ID,
  signTransaction,
} from './development-keys.ts';
import { createFixedRates, type FixedRates } from './fixed-rates.ts';
import { preferLoopbackPort } from './loopback-port.ts';
import type { PaidOrder, PayOrderRequest } from './pay-order.ts';
import { allProviderValues } from './provider-values.ts';
import type { SandboxLog } from './sandbox-log.ts';
import { readSandboxSettings, writeSandboxSettings } from './sandbox-settings.ts';
import { type Onramps, startOnramps } from './start-onramps.ts';

export interface SandboxOptions {
  /** Data folder, locked by the caller. All files of the sandbox are in its subfolder `sandbox`. */
  readonly dataDir: string;
  /** Port of the chain, which must be free. If absent, the preferred port or a free one is used. */
  readonly chainPort?: number;
  /** Preferred ports. Default 0, for any port. */
  readonly preferredPorts?: { readonly onramps: number; readonly chain: number };
  readonly log: SandboxLog;
  readonly blockIntervalMs?: number;
  /** Delay of a late delivery. */
  readonly slowDeliveryMs?: number;
  /** Delay of answers from a slow provider or the slow chain. */
  readonly slowAnswerMs?: number;
  /** Returns the URL for webhooks from a simulated on-ramp. If absent, no webhooks are sent. */
  readonly webhookUrl?: (provider: ProviderId) => string;
  /** The service's credentials at the simulated on-ramps, in place of derived ones. */
  readonly credentials?: ReadonlyMap<ProviderId, ProviderValues>;
}

/** External services on one machine: chain, contracts, on-ramps and rates. */
export interface Sandbox extends SandboxContracts {
  /** URL of the chain for the server, through the gateway that adds faults. */
  readonly rpcUrl: string;
  /** URL of the node itself, for wallets and tests. */
  readonly anvilUrl: string;
  readonly chainId: number;
  readonly relayerPrivateKey: `0x${string}`;
  readonly feeWallet: Address;
  readonly merchantWallet: Address;
  /** Base URL of the simulated providers: `moonpay` is at `{onrampBaseUrl}/moonpay`, and so on. */
  readonly onrampBaseUrl: string;
  /** An operator's credentials at each provider, by variable name without the provider's prefix. */
  readonly providerValues: Readonly<Record<ProviderId, ProviderValues>>;
  readonly rates: FixedRates;
  readonly faults: {
    setProvider(provider: ProviderId, fault: ProviderFault): void;
    setChain(fault: Fault): void;
    setRates(fault: Fault): void;
  };
  /** Pays as a customer at an on-ramp. Resolves when the transfer is sent. Throws `OrderNotPayableError`. */
  pay(request: PayOrderRequest): Promise<PaidOrder>;
  /** Pays like `pay`, but with a later delivery. */
  payLate(request: PayOrderRequest): Promise<void>;
  /** Declines the customer's card, and leaves the order open. Throws `OrderNotPayableError`. */
  decline(request: PayOrderRequest): Promise<void>;
  /** Wallet of a customer who pays without an on-ramp. */
  readonly customerWallet: CustomerWallet;
  /** Returns the process id of the node, for tests that kill it. */
  chainProcessId(): number;
  /** Stops everything, and waits until the chain's state is on disk. */
  stop(): Promise<void>;
}

/** Starts the on-ramps on the port of the last run if possible, so that open sessions keep their URLs. */
async function startOnrampsWhereTheyWere(
  options: SandboxOptions,
  directory: string,
  chain: LocalChain,
  { usdc, otherToken }: SandboxContracts,
  keys: DevelopmentKeys,
): Promise<{ onramps: Onramps; providerValues: Sandbox['providerValues'] }> {
  const settings = await readSandboxSettings(directory);
  const port = await preferLoopbackPort(
    settings.onrampPort || (options.preferredPorts?.onramps ?? 0),
    options.log,
    "the on-ramps' port is taken and a free one is used; open sessions lose their pages",
  );
  const { providerKeys } = settings;
  const { rpc } = chain;
  const ours = { directory, rpc, usdc, otherToken, minter: keys.minter, keys: providerKeys, port };
  const onramps = await startOnramps({ ...options, ...ours });
  await writeSandboxSettings(directory, { ...settings, onrampPort: onramps.port });
  return { onramps, providerValues: allProviderValues(providerKeys, onramps.baseUrl) };
}

/** Starts a sandbox, or continues the one that an earlier run left in `dataDir`. */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { log } = options;
  const directory = resolve(options.dataDir, 'sandbox');
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const keys = developmentKeys();
  const running: { stop(): Promise<void> }[] = [];
  const stop = async () => {
    for (const part of running.splice(0).reverse()) await part.stop();
  };

  try {
    const chain = await startLocalChain({
      directory: join(directory, 'chain'),
      log,
      preferredPort: options.preferredPorts?.chain,
      port: options.chainPort,
    });
    running.push(chain);
    const contracts = await deploySandboxContracts(chain.rpc, keys);
    await chain.save();
    running.push(startBlockProducer(chain, { log, intervalMs: options.blockIntervalMs }));
    const gateway = await startChainGateway({
      chainPort: Number(new URL(chain.url).port),
      slowAnswerMs: options.slowAnswerMs,
    });
    running.push(gateway);
    const { onramps, providerValues } = await startOnrampsWhereTheyWere(
      options,
      directory,
      chain,
      contracts,
      keys,
    );
    running.push(onramps);
    const rates = createFixedRates();
    return {
      ...contracts,
      rpcUrl: gateway.url,
      anvilUrl: chain.url,
      chainId: SANDBOX_CHAIN_ID,
      relayerPrivateKey: keys.relayer.privateKey,
      feeWallet: keys.feeWallet.address,
      merchantWallet: keys.merchant.address,
      onrampBaseUrl: onramps.baseUrl,
      providerValues,
      rates,
      faults: {
        setProvider: (provider, fault) => onramps.setFault(provider, fault),
        setChain: (fault) => gateway.setFault(fault),
        setRates: (fault) => rates.setFault(fault),
      },
      pay: (request) => onramps.payOrder(request),
      payLate: (request) => onramps.payOrderLate(request),
      decline: (request) => onramps.declineOrder(request),
      customerWallet: createCustomerWallet(chain.rpc, contracts.usdc, keys.customer),
      chainProcessId: () => chain.pid(),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

const abi = parseAbi(['function transfer(address to, uint256 amount) returns (bool)']);

export interface CustomerWallet {
  /** Sends a transfer once, and resolves when the node has it. A node that dies within a second loses the transfer. */
  send(to: Address, units: bigint): Promise<{ readonly transactionHash: string }>;
}

/** Creates a wallet that sends one transfer at a time, because each needs the next nonce. */
export function createCustomerWallet(rpc: JsonRpcClient, usdc: Address, key: DevelopmentKey): CustomerWallet {
  let last: Promise<unknown> = Promise.resolve();

  async function transfer(to: Address, units: bigint): Promise<{ transactionHash: string }> {
    const nonce = Number(await rpc.call('eth_getTransactionCount', [key.address, 'pending']));
    const data = encodeFunctionData({ abi, functionName: 'transfer', args: [to, units] });
    const raw = await signTransaction(key, { nonce, to: usdc, data });
    return { transactionHash: String(await rpc.call('eth_sendRawTransaction', [raw])) };
  }

  return {
    send(to, units) {
      const sent = last.then(() => transfer(to, units));
      last = sent.catch(() => undefined);
      return sent;
    },
  };
}
