/** Measures what releasing payments costs, by the receipts of a local chain. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import {
  type Abi,
  concatHex,
  encodeDeployData,
  encodeFunctionData,
  type Hex,
  keccak256,
  numberToHex,
  pad,
  toHex,
} from 'viem';
import type { Artifact } from './contract-artifacts.ts';
import { anvilPath } from './foundry.ts';

/** Who is paid in a measured batch. */
export type MerchantKind = 'one merchant' | 'many merchants' | 'many new merchants';

/** The gas of one transaction that released `payments` payments. */
export type Measurement = {
  payments: number;
  merchants: MerchantKind;
  clones: 'fresh' | 'there';
  gasPerPayment: number;
};

type Call = (method: string, params: unknown[]) => Promise<unknown>;
type Receipt = { status: Hex; gasUsed: Hex; contractAddress: Hex | null; logs: { topics: Hex[] }[] };
type Terms = { merchant: Hex; feeBps: number; feeTo: Hex; ref: Hex };
type Stage = { call: Call; sender: Hex; token: Hex; factory: Hex; tokenAbi: Abi; factoryAbi: Abi };

const feeTo = pad('0xfee', { size: 20 });
const amountUnits = 100_000_000n;
const gasLimit = numberToHex(30_000_000);

/** Deploys the artifacts on a local chain of their own and releases batches of the given sizes. */
export async function measureGas(artifacts: Artifact[], batchSizes: number[]): Promise<Measurement[]> {
  const chain = spawn(anvilPath(), ['--port', '0', '--gas-limit', '60000000'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(chain, 'exit');
  try {
    const stage = await setUp(await chainCall(chain.stdout), artifacts);
    const measurements: Measurement[] = [];
    let serial = 0;
    for (const payments of batchSizes) {
      for (const merchants of ['one merchant', 'many merchants', 'many new merchants'] as const) {
        const batch = makeTerms(payments, merchants, ++serial);
        if (merchants !== 'many new merchants')
          await fund(
            stage,
            batch.map((terms) => terms.merchant),
          );
        measurements.push({
          payments,
          merchants,
          clones: 'fresh',
          gasPerPayment: await release(stage, batch),
        });
        if (merchants !== 'one merchant') continue;
        measurements.push({
          payments,
          merchants,
          clones: 'there',
          gasPerPayment: await release(stage, batch),
        });
      }
    }
    return measurements;
  } finally {
    chain.kill('SIGTERM');
    await ended;
  }
}

/** Waits until the chain says where it listens. */
async function chainCall(output: NodeJS.ReadableStream): Promise<Call> {
  for await (const line of createInterface({ input: output })) {
    const address = /^Listening on (\S+)$/.exec(line)?.[1];
    if (address !== undefined) {
      output.resume();
      return (method, params) => request(`http://${address}`, method, params);
    }
  }
  throw new Error('anvil ended before it listened');
}

async function request(url: string, method: string, params: unknown[]): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  const answer = (await response.json()) as { result?: unknown; error?: { message: string } };
  if (answer.error !== undefined) throw new Error(`${method}: ${answer.error.message}`);
  return answer.result;
}

async function setUp(call: Call, artifacts: Artifact[]): Promise<Stage> {
  const [sender] = (await call('eth_accounts', [])) as Hex[];
  if (sender === undefined) throw new Error('anvil has no account to send from');
  const artifact = (name: string): { abi: Abi; bytecode: Hex } => {
    const found = artifacts.find((candidate) => candidate.contractName === name);
    if (found === undefined) throw new Error(`No artifact of ${name}`);
    return { abi: found.abi as Abi, bytecode: found.bytecode as Hex };
  };
  const deploy = async (name: string, args: unknown[]): Promise<Hex> => {
    const receipt = await send(call, sender, undefined, encodeDeployData({ ...artifact(name), args }));
    if (receipt.contractAddress === null) throw new Error(`${name} was not deployed`);
    return receipt.contractAddress;
  };
  const token = await deploy('TestUsdc', []);
  const factory = await deploy('DepositFactory', [token]);
  const stage = {
    call,
    sender,
    token,
    factory,
    tokenAbi: artifact('TestUsdc').abi,
    factoryAbi: artifact('DepositFactory').abi,
  };
  await fund(stage, [feeTo]);
  return stage;
}

/** Sends a transaction and waits, for at most ten seconds, until it is in a block. Throws when it reverts. */
async function send(call: Call, from: Hex, to: Hex | undefined, data: Hex): Promise<Receipt> {
  const hash = await call('eth_sendTransaction', [
    { from, ...(to === undefined ? {} : { to }), data, gas: gasLimit },
  ]);
  const deadline = Date.now() + 10_000;
  while (Date.now() < deadline) {
    const receipt = (await call('eth_getTransactionReceipt', [hash])) as Receipt | null;
    if (receipt === null) continue;
    if (receipt.status !== '0x1') throw new Error(`Transaction ${String(hash)} reverted`);
    return receipt;
  }
  throw new Error(`Transaction ${String(hash)} is in no block after ten seconds`);
}

/** Gives every address some tokens, once. */
async function fund(stage: Stage, addresses: Hex[]): Promise<void> {
  for (const address of new Set(addresses)) {
    const data = encodeFunctionData({
      abi: stage.tokenAbi,
      functionName: 'mint',
      args: [address, amountUnits],
    });
    await send(stage.call, stage.sender, stage.token, data);
  }
}

/** Pays every deposit, releases them all in one transaction, and returns its gas for each. */
async function release(stage: Stage, batch: Terms[]): Promise<number> {
  const { call, sender, factory, factoryAbi: abi } = stage;
  const deposits = await Promise.all(
    batch.map(async (terms) => {
      const data = encodeFunctionData({ abi, functionName: 'depositOf', args: [terms] });
      const word = (await call('eth_call', [{ to: factory, data }, 'latest'])) as Hex;
      return `0x${word.slice(-40)}` as Hex;
    }),
  );
  await fund(stage, deposits);
  const receipt = await send(
    call,
    sender,
    factory,
    encodeFunctionData({ abi, functionName: 'forward', args: [batch] }),
  );
  const forwarded = keccak256(toHex('Forwarded(address,bytes32,address,uint256,uint256)'));
  const released = receipt.logs.filter((log) => log.topics[0] === forwarded).length;
  if (released !== batch.length) throw new Error(`${released} of ${batch.length} payments were released`);
  return Number(receipt.gasUsed) / batch.length;
}

function makeTerms(payments: number, merchants: MerchantKind, serial: number): Terms[] {
  return Array.from({ length: payments }, (_, index) => ({
    merchant: addressFrom(`merchant ${serial}`, merchants === 'one merchant' ? 0 : index),
    feeBps: 250,
    feeTo,
    ref: keccak256(toHex(`payment ${serial}.${index}`)),
  }));
}

function addressFrom(label: string, index: number): Hex {
  return `0x${keccak256(concatHex([toHex(label), numberToHex(index)])).slice(-40)}`;
}
