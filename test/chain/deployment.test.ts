import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { startDeploymentCheck } from '../../src/app/deployment-check.ts';
import type { Log } from '../../src/app/log.ts';
import { createMetrics } from '../../src/app/metrics.ts';
import { keccak256Hex } from '../../src/payment/address.ts';
import { CallRevertedError, ChainUnavailableError } from '../../src/settlement/chain/chain.ts';
import {
  DeploymentFailedError,
  deployContract,
  deployFactory,
} from '../../src/settlement/chain/deploy-contract.ts';
import type { ChainEndpoint } from '../../src/settlement/chain/endpoint-rotation.ts';
import { openSigner } from '../../src/settlement/chain/signer.ts';
import {
  type Deployment,
  DeploymentMismatchError,
  verifyDeployment,
} from '../../src/settlement/chain/verify-deployment.ts';
import type { AlteringProxy } from './altering-proxy.ts';
import { addressFor, deployTestUsdc } from './local-chain.ts';
import { useLocalChain, useProxies } from './use-chain.ts';

const CLONE_INIT_CODE_HASH_CALL = '0x190c3e1b';

const chain = useLocalChain();
const hosts = useProxies(chain);
let deployment: Deployment;

beforeAll(() => {
  deployment = { chainId: chain.anvil.chainId, factory: chain.factory, token: chain.token };
});

async function codeAt(address: string): Promise<string> {
  return String(await chain.anvil.rpc('eth_getCode', [address, 'latest']));
}

/** What is wrong with the deployment, while the code at an address is replaced. */
async function problemsWith(changed: Deployment) {
  const failure = await verifyDeployment(chain.endpoints, changed).catch((error: unknown) => error);
  if (failure instanceof DeploymentMismatchError) return failure.problems;
  throw new Error('it was not refused for a mismatch', { cause: failure });
}

async function withCode<T>(address: string, code: string, use: () => Promise<T>): Promise<T> {
  const original = await codeAt(address);
  await chain.anvil.rpc('anvil_setCode', [address, code]);
  try {
    return await use();
  } finally {
    await chain.anvil.rpc('anvil_setCode', [address, original]);
  }
}

describe('a deployed factory', () => {
  it('is verified, with its implementation and the hash of its code', async () => {
    expect(await verifyDeployment(chain.endpoints, deployment)).toEqual({
      implementation: chain.implementation,
      factoryCodeHash: `0x${keccak256Hex(Buffer.from((await codeAt(chain.factory)).slice(2), 'hex'))}`,
      problems: [],
    });
  });

  it('for a token that does not exist is not deployed', async () => {
    await expect(deployFactory(chain.deployer, addressFor('no token'))).rejects.toThrow(CallRevertedError);
  });

  it('is not deployed without POL: the refusal names the address and both amounts', async () => {
    const signer = openSigner(`0x${'7'.repeat(64)}`);
    const account = signer.address;
    await chain.anvil.rpc('anvil_setBalance', [account, '0x1']);
    await expect(deployFactory({ ...chain.deployer, signer }, chain.token)).rejects.toThrow(
      new RegExp(
        `^The address ${account} holds 0 POL, and the deployment can cost 0\\.\\d+ POL: send POL to it first\\.$`,
      ),
    );
  });

  it('is not reported as deployed while no block has it', async () => {
    await chain.anvil.rpc('evm_setAutomine', [false]);
    const hasty = { ...chain.deployer, timeoutMs: 50 };
    await expect(deployFactory(hasty, chain.token)).rejects.toThrow(DeploymentFailedError);
    await chain.anvil.rpc('evm_setAutomine', [true]);
    await chain.anvil.mine();
  });

  it('is not reported as deployed when its transaction failed', async () => {
    (await hosts.start(1)).alter = async (call, ask) => {
      const answer = await ask(call);
      if (call.method !== 'eth_getTransactionReceipt' || answer.result === null) return answer;
      return { result: { ...(answer.result as object), status: '0x0' } };
    };
    // PUSH0 PUSH0 RETURN: the smallest init code.
    const deploying = deployContract({ ...chain.deployer, endpoints: hosts.connect() }, '0x5f5ff3');
    await expect(deploying).rejects.toThrow(/failed/);
  });
});

/** Ends the problems of a factory that is not ours. */
const WAY_OUT =
  'Correct DEPOSIT_FACTORY_ADDRESS or SETTLEMENT_TOKEN_ADDRESS, or run card-checkout contract deploy.';

describe('verification refuses', () => {
  it('a token where there is no contract', async () => {
    const token = addressFor('no token');
    expect(await problemsWith({ ...deployment, token })).toEqual([
      `There is no contract at the token's address ${token}: correct SETTLEMENT_TOKEN_ADDRESS or CHAIN_ID.`,
    ]);
  });

  it('a factory that pays out another token', async () => {
    const token = await deployTestUsdc(chain.deployer);
    const problems = await problemsWith({ ...deployment, token });
    expect(problems[0]).toBe(
      `The factory at ${chain.factory} pays out ${chain.token}, but the configured token is ${token}.`,
    );
  });

  it('a contract that is no factory, whatever it answers', async () => {
    const problems = await problemsWith({ ...deployment, factory: chain.token });
    expect(problems.join(' ')).toContain('runs other code than contracts/artifacts/DepositFactory.json');
    expect(problems.join(' ')).toContain('pays out no token');
  });

  it('a factory with a single changed byte', async () => {
    const code = await codeAt(chain.factory);
    const last = code.endsWith('00') ? '01' : '00';
    await withCode(chain.factory, code.slice(0, -2) + last, async () => {
      expect(await problemsWith(deployment)).toEqual([
        `The factory at ${chain.factory} runs other code than contracts/artifacts/DepositFactory.json.`,
        WAY_OUT,
      ]);
    });
  });

  it('a factory with another implementation than it deployed itself', async () => {
    const digits = chain.implementation.slice(2).toLowerCase();
    const forged = addressFor('thief').slice(2).toLowerCase();
    const code = (await codeAt(chain.factory)).replaceAll(digits, forged);
    await withCode(chain.factory, code, async () => {
      const problems = (await problemsWith(deployment)).join(' ');
      expect(problems).toContain(`names ${addressFor('thief')} as its implementation`);
      expect(problems).toContain('runs other code');
    });
  });

  it('a factory whose arithmetic is not ours', async () => {
    // The immutable hash of the clone's creation code is part of every address.
    const cloneHash = String(
      await chain.anvil.rpc('eth_call', [{ to: chain.factory, data: CLONE_INIT_CODE_HASH_CALL }, 'latest']),
    ).slice(2);
    const code = (await codeAt(chain.factory)).replaceAll(cloneHash, 'ee'.repeat(32));
    await withCode(chain.factory, code, async () => {
      expect((await problemsWith(deployment)).join(' ')).toMatch(
        /factory computes 0x\w+, our arithmetic 0x\w+/,
      );
    });
  });

  it('an implementation with other code, or none', async () => {
    await withCode(chain.implementation, '0x5f5ffd', async () => {
      expect(await problemsWith(deployment)).toEqual([
        `The implementation at ${chain.implementation} runs other code than contracts/artifacts/Deposit.json.`,
        WAY_OUT,
      ]);
    });
    await withCode(chain.implementation, '0x', async () => {
      expect(await problemsWith(deployment)).toEqual([
        `The factory's implementation is not at ${chain.implementation}, where our arithmetic expects it.`,
        WAY_OUT,
      ]);
    });
  });

  it('to judge when no endpoint answers', async () => {
    (await hosts.start(1)).failWithStatus = 500;
    await expect(verifyDeployment(hosts.connect(), deployment)).rejects.toThrow(ChainUnavailableError);
  });
});

describe('of several endpoints', () => {
  let endpoints: readonly ChainEndpoint[] = [];

  beforeEach(async () => {
    await hosts.start(3);
    endpoints = hosts.connect();
  });

  const serveChain = (proxy: AlteringProxy) => {
    proxy.alter = (call, ask) => (call.method === 'eth_chainId' ? { result: '0x1' } : ask(call));
  };
  const hideCode = (proxy: AlteringProxy) => {
    proxy.alter = (call, ask) => (call.method === 'eth_getCode' ? { result: '0x' } : ask(call));
  };
  const fail = (proxy: AlteringProxy) => {
    proxy.failWithStatus = 500;
  };
  const faults = { serveChain, hideCode, fail };
  type Fault = keyof typeof faults;
  const bring = (...brought: readonly Fault[]) =>
    brought.forEach((fault, place) => {
      faults[fault](hosts.proxy(place));
    });

  it.each([
    [['serveChain'], /serves chain 1, not 31337 \(CHAIN_ID\): correct POLYGON_RPC_URL/],
    [['hideCode'], /^127\.0\.0\.1:\d+ says, and other endpoints do not: There is no contract at the factory/],
    [['serveChain', 'fail'], /serves chain 1/],
    [['serveChain', 'serveChain'], /serves chain 1/],
  ] as const)('those with %j are outvoted, and named', async (brought, named) => {
    bring(...brought);
    const { implementation, problems } = await verifyDeployment(endpoints, deployment);
    expect(implementation).toBe(chain.implementation);
    expect(problems[0]).toMatch(named);
    expect(problems).toHaveLength(brought.filter((fault) => fault !== 'fail').length);
  });

  it.each([
    [['serveChain', 'serveChain', 'serveChain'], true, DeploymentMismatchError],
    [['hideCode', 'hideCode'], true, DeploymentMismatchError],
    [['hideCode', 'fail'], false, DeploymentMismatchError],
    [['hideCode', 'fail', 'fail'], true, DeploymentMismatchError],
    [['serveChain', 'fail', 'fail'], false, DeploymentMismatchError],
    [['serveChain', 'fail', 'fail'], true, ChainUnavailableError],
    [['fail', 'fail', 'fail'], true, ChainUnavailableError],
  ] as const)('%j are refused (verified before: %s) with %s', async (brought, wasVerified, error) => {
    bring(...brought);
    await expect(verifyDeployment(endpoints, deployment, wasVerified)).rejects.toThrow(error);
  });

  it('one without code is outvoted by one more and an earlier start', async () => {
    bring('hideCode', 'fail');
    expect((await verifyDeployment(endpoints, deployment, true)).problems).toHaveLength(1);
  });

  it('none that answers lets a start go on that was verified before, until one does', async () => {
    const { implementation, factoryCodeHash } = await verifyDeployment(endpoints, deployment);
    const feeWallet = addressFor('fees');
    const known = [{ ...deployment, feeWallet, implementation, factoryCodeHash, lastStartedAtMs: 1 }];
    bring('fail', 'fail', 'fail');
    const metrics = createMetrics();
    const warned: string[] = [];
    const log = {
      info: () => {},
      error: () => {},
      warn: (_: unknown, text: string) => void warned.push(text),
    };
    const context = { endpoints, log: log as unknown as Log, metrics, retryMs: 20 };
    await expect(startDeploymentCheck({ ...context, known: [] }, deployment)).rejects.toThrow(/HTTP 500/);
    const other = { ...deployment, factory: addressFor('other factory') };
    await expect(startDeploymentCheck({ ...context, known }, other)).rejects.toThrow(/HTTP 500/);
    const check = await startDeploymentCheck({ ...context, known }, deployment);
    const verified = async () => (await metrics.deploymentVerified.get()).values[0]?.value;
    expect(check.verified).toEqual({ implementation, factoryCodeHash });
    expect(check.isVerified).toBe(false);
    expect(warned).toHaveLength(1);
    expect(await verified()).toBe(0);
    for (const proxy of hosts.proxies) proxy.failWithStatus = null;
    await vi.waitFor(() => expect(check.isVerified).toBe(true), 10_000);
    expect(await verified()).toBe(1);
    check.stop();
  });
});
