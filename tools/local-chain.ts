/** A local chain that lives as long as one task, spoken to by plain JSON-RPC. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { type Hex, numberToHex } from 'viem';
import { findAnvil } from '../sandbox/chain/find-anvil.ts';

/** Calls a JSON-RPC method and returns its result. Throws the node's message when it answers with an error. */
export type ChainCall = (method: string, params: unknown[]) => Promise<unknown>;

/** The parts of a transaction's receipt that the contracts' scripts read. */
export type Receipt = { status: Hex; gasUsed: Hex; contractAddress: Hex | null; logs: Log[] };
type Log = { topics: Hex[]; transactionHash: Hex };

/** More than any transaction here uses, and below the limit of a block. */
const gasLimit = numberToHex(30_000_000);
/** The trace of a batch of 100 payments has hundreds of thousands of steps, and takes long beside other work. */
const patienceMs = 120_000;

/** Starts a chain on a free loopback port, hands it to the task together with a rich account, and ends it. */
export async function withLocalChain<Result>(
  task: (call: ChainCall, sender: Hex) => Promise<Result>,
): Promise<Result> {
  const chain = spawn(findAnvil(), ['--port', '0', '--gas-limit', '60000000', '--steps-tracing'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(chain, 'close');
  try {
    const call = await readyToCall(chain.stdout);
    const [sender] = (await call('eth_accounts', [])) as Hex[];
    if (sender === undefined) throw new Error('anvil has no account to send from');
    return await task(call, sender);
  } finally {
    chain.kill('SIGTERM');
    await ended;
  }
}

/** Sends a transaction and waits, for at most ten seconds, until it is in a block. Throws when it reverts. */
export async function sendTransaction(
  call: ChainCall,
  transaction: { from: Hex; to?: Hex; data: Hex },
): Promise<Receipt> {
  const hash = await call('eth_sendTransaction', [{ ...transaction, gas: gasLimit }]);
  const deadline = Date.now() + patienceMs;
  while (Date.now() < deadline) {
    const receipt = (await call('eth_getTransactionReceipt', [hash])) as Receipt | null;
    if (receipt === null) continue;
    if (receipt.status !== '0x1') throw new Error(`Transaction ${String(hash)} reverted`);
    return receipt;
  }
  throw new Error(`Transaction ${String(hash)} is in no block after ${patienceMs} ms`);
}

/** Sends a contract's init code and returns the contract's address. */
export async function deploy(call: ChainCall, from: Hex, data: Hex): Promise<Hex> {
  const { contractAddress } = await sendTransaction(call, { from, data });
  if (contractAddress === null) throw new Error('The node says that nothing was deployed');
  return contractAddress;
}

/** Waits until the chain says where it listens. */
async function readyToCall(output: NodeJS.ReadableStream): Promise<ChainCall> {
  for await (const line of createInterface({ input: output })) {
    const address = /^Listening on (\S+)$/.exec(line)?.[1];
    if (address === undefined) continue;
    output.resume();
    return (method, params) => request(`http://${address}`, method, params);
  }
  throw new Error('anvil ended before it listened');
}

async function request(url: string, method: string, params: unknown[]): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, {
    method: 'POST',
    headers,
    body,
    signal: AbortSignal.timeout(patienceMs),
  });
  const answer = (await response.json()) as { result?: unknown; error?: { message: string } };
  if (answer.error !== undefined) throw new Error(`${method}: ${answer.error.message}`);
  return answer.result;
}
