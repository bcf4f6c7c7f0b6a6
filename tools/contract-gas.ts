/** Measures the gas of releases, by the receipts of a local chain. */
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
import { waitUntilMined } from '../test/chain/local-chain.ts';
import { type Anvil, startAnvil } from '../test/support/anvil.ts';
import type { Artifact } from './contract-artifacts.ts';

/** Recipients of a measured batch; a new merchant has never held the token. */
type MerchantKind = 'one merchant' | 'many merchants' | 'many new merchants';

/** Gas of one transaction that released `payments` payments. */
type Measurement = {
  payments: number;
  merchants: MerchantKind;
  /** Whether the clones had to be deployed, as for every first payment to an address. */
  clones: 'fresh' | 'there';
  gasPerPayment: number;
  /** The same on Polygon since PIP-88, which no local node models. */
  gasOnPolygon: number;
  /** Storage words that the transaction first touches by `SLOAD`, and by `SSTORE`. */
  coldLoads: number;
  coldStores: number;
};

/** Surcharges of Polygon since PIP-88, by the cost of a step on a local node. */
const more: Record<string, number> = { 'SLOAD 2100': 3_360, 'SSTORE 22100': 840, 'SSTORE 2900': -840 };

/** Used fields of a receipt. */
type Receipt = {
  status: Hex;
  gasUsed: Hex;
  contractAddress: Hex | null;
  logs: { topics: Hex[]; transactionHash: Hex }[];
};
type Terms = { merchant: Hex; feeBps: number; feeTo: Hex; ref: Hex };
type Stage = { call: Anvil['rpc']; sender: Hex; token: Hex; factory: Hex; tokenAbi: Abi; factoryAbi: Abi };

/** More than any transaction here uses, and below the limit of a block. */
const gasLimit = numberToHex(30_000_000);
const feeTo = pad('0xfee', { size: 20 });
const amountUnits = 100_000_000n;
const forwardedTopic = keccak256(toHex('Forwarded(address,bytes32,address,uint256,uint256)'));

/** Deploys the artifacts on a separate local chain, and releases batches of the given sizes. */
export async function measureGas(artifacts: Artifact[], batchSizes: number[]): Promise<Measurement[]> {
  const chain = await startAnvil({ words: ['--gas-limit', '60000000', '--steps-tracing'] });
  try {
    const stage = await setUp(chain.rpc, artifacts);
    const measurements: Measurement[] = [];
    for (const payments of batchSizes) {
      for (const merchants of ['one merchant', 'many merchants', 'many new merchants'] as const) {
        const batch = makeTerms(payments, merchants);
        const receivers = batch.map((terms) => terms.merchant);
        if (merchants !== 'many new merchants') await fund(stage, receivers);
        measurements.push({ payments, merchants, clones: 'fresh', ...(await release(stage, batch)) });
        if (merchants !== 'one merchant') continue;
        measurements.push({ payments, merchants, clones: 'there', ...(await release(stage, batch)) });
      }
    }
    return measurements;
  } finally {
    await chain.stop();
  }
}

/** Sends a transaction and waits until it is in a block. Throws if it reverts. */
async function sendTransaction(
  call: Anvil['rpc'],
  transaction: { from: Hex; to?: Hex; data: Hex },
): Promise<Receipt> {
  const hash = String(await call('eth_sendTransaction', [{ ...transaction, gas: gasLimit }]));
  await waitUntilMined({ rpc: call }, hash);
  const receipt = (await call('eth_getTransactionReceipt', [hash])) as Receipt;
  if (receipt.status !== '0x1') throw new Error(`Transaction ${hash} reverted`);
  return receipt;
}

async function deploy(call: Anvil['rpc'], from: Hex, data: Hex): Promise<Hex> {
  return (await sendTransaction(call, { from, data })).contractAddress as Hex;
}

async function setUp(call: Anvil['rpc'], artifacts: Artifact[]): Promise<Stage> {
  const [sender] = (await call('eth_accounts')) as [Hex];
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

/** Pays every deposit, releases them all in one transaction, and measures it. */
async function release(stage: Stage, batch: Terms[]) {
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
  const gas = Number(receipt.gasUsed);
  const hash = receipt.logs[0]?.transactionHash;
  const trace = await call('debug_traceTransaction', [hash, { disableStack: true, disableMemory: true }]);
  const { structLogs } = trace as { structLogs: { op: string; gasCost: number; refund?: number }[] };
  const steps = structLogs.map(({ op, gasCost }) => `${op} ${gasCost}`);
  const count = (pattern: RegExp) => steps.filter((step) => pattern.test(step)).length;
  // Clearing a word refunds 3,960 instead of 4,800.
  const lessRefund = ((structLogs.at(-1)?.refund ?? 0) / 4_800) * 840;
  const gasOnPolygon = steps.reduce((sum, step) => sum + (more[step] ?? 0), gas + lessRefund);
  return {
    gasPerPayment: Math.ceil(gas / batch.length),
    gasOnPolygon: Math.ceil(gasOnPolygon / batch.length),
    coldLoads: count(/^SLOAD 2100$/),
    coldStores: count(/^SSTORE (22100|5000|2200)$/),
  };
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
