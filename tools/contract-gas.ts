/** Measures what releasing payments costs, by the receipts of a local chain. */
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
import { type ChainCall, deploy, sendTransaction, withLocalChain } from './local-chain.ts';

/** Who is paid in a measured batch; a new merchant has never held the token. */
export type MerchantKind = 'one merchant' | 'many merchants' | 'many new merchants';

/** The gas of one transaction that released `payments` payments. */
export type Measurement = {
  payments: number;
  merchants: MerchantKind;
  /** Whether the clones had to be deployed, as for every first payment to an address. */
  clones: 'fresh' | 'there';
  gasPerPayment: number;
};

type Terms = { merchant: Hex; feeBps: number; feeTo: Hex; ref: Hex };
type Stage = { call: ChainCall; sender: Hex; token: Hex; factory: Hex; tokenAbi: Abi; factoryAbi: Abi };

const feeTo = pad('0xfee', { size: 20 });
const amountUnits = 100_000_000n;
const forwardedTopic = keccak256(toHex('Forwarded(address,bytes32,address,uint256,uint256)'));

/**
 * Deploys the artifacts on a local chain of their own and releases batches of the given sizes.
 */
export async function measureGas(artifacts: Artifact[], batchSizes: number[]): Promise<Measurement[]> {
  return withLocalChain(async (call, sender) => {
    const stage = await setUp(call, sender, artifacts);
    const measurements: Measurement[] = [];
    for (const payments of batchSizes) {
      for (const merchants of ['one merchant', 'many merchants', 'many new merchants'] as const) {
        const batch = makeTerms(payments, merchants);
        const receivers = batch.map((terms) => terms.merchant);
        if (merchants !== 'many new merchants') await fund(stage, receivers);
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
  });
}

async function setUp(call: ChainCall, sender: Hex, artifacts: Artifact[]): Promise<Stage> {
  const artifact = (name: string): { abi: Abi; bytecode: Hex } => {
    const found = artifacts.find((candidate) => candidate.contractName === name);
    if (found === undefined) throw new Error(`No artifact of ${name}`);
    return { abi: found.abi as Abi, bytecode: found.bytecode as Hex };
  };
  const tokenArtifact = artifact('TestUsdc');
  const factoryArtifact = artifact('DepositFactory');
  const token = await deploy(call, sender, encodeDeployData({ ...tokenArtifact, args: [] }));
  const factory = await deploy(call, sender, encodeDeployData({ ...factoryArtifact, args: [token] }));
  const stage = {
    call,
    sender,
    token,
    factory,
    tokenAbi: tokenArtifact.abi,
    factoryAbi: factoryArtifact.abi,
  };
  await fund(stage, [feeTo]);
  return stage;
}

/** Gives every address some tokens, once. */
async function fund(stage: Stage, addresses: Hex[]): Promise<void> {
  const { call, sender: from, token: to, tokenAbi: abi } = stage;
  for (const address of new Set(addresses)) {
    const data = encodeFunctionData({ abi, functionName: 'mint', args: [address, amountUnits] });
    await sendTransaction(call, { from, to, data });
  }
}

/** Pays every deposit, releases them all in one transaction, and returns its gas for each. */
async function release(stage: Stage, batch: Terms[]): Promise<number> {
  const { call, sender: from, factory: to, factoryAbi: abi } = stage;
  const deposits = await Promise.all(
    batch.map(async (terms) => {
      const data = encodeFunctionData({ abi, functionName: 'depositOf', args: [terms] });
      const word = (await call('eth_call', [{ to, data }, 'latest'])) as Hex;
      return `0x${word.slice(-40)}` as Hex;
    }),
  );
  await fund(stage, deposits);
  const data = encodeFunctionData({ abi, functionName: 'forward', args: [batch] });
  const receipt = await sendTransaction(call, { from, to, data });
  const released = receipt.logs.filter((log) => log.topics[0] === forwardedTopic).length;
  if (released !== batch.length) throw new Error(`${released} of ${batch.length} payments were released`);
  return Number(receipt.gasUsed) / batch.length;
}

function makeTerms(payments: number, merchants: MerchantKind): Terms[] {
  const label = `${payments} payments to ${merchants}`;
  return Array.from({ length: payments }, (_, index) => ({
    merchant: addressFrom(label, merchants === 'one merchant' ? 0 : index),
    feeBps: 250,
    feeTo,
    ref: keccak256(toHex(`${label}, number ${index}`)),
  }));
}

function addressFrom(label: string, index: number): Hex {
  return `0x${keccak256(concatHex([toHex(label), numberToHex(index)])).slice(-40)}`;
}
