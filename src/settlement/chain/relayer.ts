import { keccak256 } from 'viem/utils';
import { type Address, POL_ADDRESS } from '../../payment/address.ts';
import { larger, smaller } from '../../payment/money.ts';
import { answersUntil } from '../../platform/outgoing-calls.ts';
import { MAXIMUM_FEE_PER_GAS_WEI } from '../batch-and-gas-limits.ts';
import {
  ChainUnavailableError,
  type FeeQuote,
  type Relayer,
  type SignedTransaction,
  SignerError,
  TransactionRefusedError,
} from './chain.ts';
import { type ChainEndpoint, createEndpointRotation, reachedByTwo } from './endpoint-rotation.ts';
import { estimateGasLimit, releaseGas } from './gas.ts';
import { JsonRpcAnswerError, oneLine } from './json-rpc.ts';
import { type NodeClient, toQuantity } from './node-answers.ts';
import { encodeRelayCall } from './read-logs.ts';
import type { TransactionSigner, UnsignedTransaction } from './signer.ts';
import { readTokenBalance } from './token-reader.ts';

export interface RelayerOptions {
  readonly endpoints: readonly ChainEndpoint[];
  readonly chainId: number;
  readonly signer: TransactionSigner;
}

export function createRelayer(options: RelayerOptions): Relayer {
  const { endpoints, chainId, signer } = options;
  const { address } = signer;
  const rotation = createEndpointRotation(endpoints);
  const hosts = new Set(endpoints.map(({ host }) => host)).size;

  let signerFailure: string | null = null;

  async function sign(content: Omit<Content, 'chainId'>) {
    try {
      const signed = await signTransaction(signer, { ...content, chainId });
      signerFailure = null;
      return signed;
    } catch (error) {
      if (error instanceof SignerError) signerFailure = error.message;
      throw error;
    }
  }

  /** Reads a value from all hosts. With three hosts, none decides the value alone. */
  async function readReached<T extends number | bigint | boolean>(
    read: (endpoint: ChainEndpoint) => Promise<T>,
  ): Promise<T> {
    return reachedByTwo(await rotation.useEach(read));
  }

  function readTransactionCount({ rpc }: ChainEndpoint, of: string, block: string): Promise<number> {
    return rpc.call('eth_getTransactionCount', [of, block]);
  }

  return {
    address,
    readLatestTransactionCount: (of = address) =>
      readReached((endpoint) => readTransactionCount(endpoint, of, 'latest')),
    readPendingTransactionCount: () =>
      rotation.useAny(async (endpoint) => {
        try {
          return await readTransactionCount(endpoint, address, 'pending');
        } catch (error) {
          if (error instanceof JsonRpcAnswerError) return null;
          throw error;
        }
      }),
    readFinalTransactionCount: (seenTo, of = address) =>
      readReached(async (endpoint) => {
        const block = await endpoint.readBlock('finalized');
        if (block === null) throw new ChainUnavailableError(`${endpoint.rpc.label} has no finalized block`);
        // Uses the number, because the tag may have moved to a newer block.
        return block.number > seenTo ? 0 : readTransactionCount(endpoint, of, toQuantity(block.number));
      }),
    isAnyMined: (hashes) =>
      readReached(async ({ rpc }) => {
        const calls = hashes.map((hash) => ({
          method: 'eth_getTransactionReceipt' as const,
          params: [hash],
        }));
        return (await rpc.callBatch(calls)).some((receipt) => receipt !== null);
      }),
    async estimateGas(call) {
      const data = encodeRelayCall(call);
      const figure = releaseGas(call.terms.length);
      return estimateGasLimit(rotation, hosts, { from: address, to: call.factory, data }, figure);
    },
    async quoteFees() {
      const quotes = await rotation.useEach(({ rpc }) => quoteFees(rpc), isSameQuote);
      return {
        maxFeePerGas: reachedByTwo(quotes.map(({ maxFeePerGas }) => maxFeePerGas)),
        maxPriorityFeePerGas: reachedByTwo(quotes.map(({ maxPriorityFeePerGas }) => maxPriorityFeePerGas)),
      };
    },
    sign: (transaction, nonce, gas, fees) =>
      transaction.kind === 'self_transfer'
        ? sign({ nonce, gas, ...fees, to: address, data: '0x' })
        : sign({ nonce, gas, ...fees, to: transaction.factory, data: encodeRelayCall(transaction) }),
    // No block can contain a transaction without gas.
    checkSigner: () =>
      sign({ nonce: 0, gas: 0n, maxFeePerGas: 0n, maxPriorityFeePerGas: 0n, to: address, data: '0x' }),
    signerFailure: () => signerFailure,
    broadcast: (rawTransaction) => broadcast(endpoints, rawTransaction),
    readGasBalance: () => readReached(({ rpc }) => readBalance(rpc, address)),
    readHeld: (holder, token) =>
      rotation.useAny(({ rpc }) =>
        token === POL_ADDRESS ? readBalance(rpc, holder) : readTokenBalance(rpc, token, holder),
      ),
  };
}

/** Returns the POL balance of an address, in wei. */
export function readBalance(rpc: NodeClient, address: Address): Promise<bigint> {
  return rpc.call('eth_getBalance', [address, 'latest']);
}

/** Minimum tip of Polygon's block producers (2026-11). They do not mine transactions below it. */
const POLYGON_MINIMUM_TIP_WEI = 25_000_000_000n;

/** Blocks of fee history, and the percentile of the tips paid in each. */
const HISTORY_BLOCKS = '0xa';
const TIP_PERCENTILE = 50;

/** Quotes twice the next base fee, enough for several full blocks in a row, plus the median tip, within bounds. */
export async function quoteFees(rpc: NodeClient): Promise<FeeQuote> {
  const asked = [HISTORY_BLOCKS, 'latest', [TIP_PERCENTILE]];
  const { nextBaseFee, tips } = await rpc.call('eth_feeHistory', asked);
  const cap = MAXIMUM_FEE_PER_GAS_WEI;
  const maxPriorityFeePerGas = smaller(larger(median(tips), POLYGON_MINIMUM_TIP_WEI), cap);
  return { maxPriorityFeePerGas, maxFeePerGas: smaller(nextBaseFee * 2n + maxPriorityFeePerGas, cap) };
}

function isSameQuote(one: FeeQuote, other: FeeQuote): boolean {
  return one.maxFeePerGas === other.maxFeePerGas && one.maxPriorityFeePerGas === other.maxPriorityFeePerGas;
}

function median(values: readonly bigint[]): bigint {
  const sorted = [...values].sort((first, second) => (first < second ? -1 : first > second ? 1 : 0));
  return sorted[Math.floor(sorted.length / 2)] ?? 0n;
}

/** Content of a zero-value transaction, which deploys `data` if it has no `to`. */
type Content = Omit<UnsignedTransaction, 'type' | 'value'>;

export async function signTransaction(
  signer: TransactionSigner,
  content: Content,
): Promise<SignedTransaction> {
  const { maxFeePerGas, maxPriorityFeePerGas } = content;
  const rawTransaction = await signer.signTransaction({ ...content, type: 'eip1559', value: 0n });
  return { hash: keccak256(rawTransaction), rawTransaction, maxFeePerGas, maxPriorityFeePerGas };
}

/** Nodes' messages for a transaction that they already have, or whose nonce is used. Receipts tell the two apart. */
const harmless =
  /already ?known|already imported|already.exists|\bknown transaction|nonce (?:is )?too low|old ?nonce/i;

/** Sends to every endpoint, because one may drop the bytes. Throws `TransactionRefusedError` if none accepts them. */
export async function broadcast(endpoints: readonly ChainEndpoint[], rawTransaction: string): Promise<void> {
  const pending = endpoints.map((endpoint) => send(endpoint, rawTransaction));
  // Does not wait for all endpoints, because some may hang.
  const outcomes = await answersUntil(pending, (failure) =>
    failure === null ? 'better than nothing' : 'not',
  );
  if (outcomes.includes(null)) return;
  const failures = outcomes.filter((outcome) => outcome !== null);
  const refusals = failures.filter((failure) => failure instanceof JsonRpcAnswerError);
  const told = refusals.length > 0 ? refusals : failures;
  const text = oneLine(told.map(({ message }) => message).join('; '));
  const options = { cause: told[0] };
  if (refusals.length > 0) throw new TransactionRefusedError(text, options);
  throw new ChainUnavailableError(`the transaction reached no endpoint: ${text}`, options);
}

/** Returns why sending failed; null if the endpoint has the transaction. */
async function send(endpoint: ChainEndpoint, rawTransaction: string): Promise<ChainUnavailableError | null> {
  try {
    await endpoint.rpc.call('eth_sendRawTransaction', [rawTransaction]);
    return null;
  } catch (error) {
    if (error instanceof JsonRpcAnswerError && harmless.test(error.nodeMessage)) return null;
    if (error instanceof ChainUnavailableError) return error;
    throw error;
  }
}
