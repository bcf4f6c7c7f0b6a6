/**
 * Delivers each order exactly once, even if the local chain loses its last blocks.
 *
 * - Each order has one nonce of the treasury's key, stored before its transaction is sent and never changed. A chain
 *   accepts each nonce once, so an order is paid at most once.
 * - The chain's transaction count alone shows which transactions the chain still has. The transactions of all nonces
 *   from that count on are signed again with the same bytes and sent, even for delivered orders. So an order is paid
 *   at least once.
 * - Finalized blocks decide whether a transfer arrived. A transfer that reverted, or whose nonce another sender spent
 *   (the key is a public development key), has failed for good.
 */

import { encodeFunctionData, keccak256, parseAbi } from 'viem/utils';
import type { Address } from '../src/payment/address.ts';
import { JsonRpcAnswerError, type JsonRpcClient } from '../src/settlement/chain/json-rpc.ts';
import { type DevelopmentKey, signTransaction } from './development-keys.ts';
import type { Order, OrderStore } from './order-store.ts';
import { repeat } from './repeat.ts';
import type { SandboxLog } from './sandbox-log.ts';

interface DeliveryDependencies {
  readonly store: OrderStore;
  /** Client of the node itself instead of the gateway, because the gateway's faults are for the server only. */
  readonly rpc: JsonRpcClient;
  readonly treasury: Treasury;
  readonly log: SandboxLog;
  readonly nowMs: () => number;
  /** Called when an order's transfer is final or has failed. */
  readonly orderEnded?: (order: Order, event: 'delivered' | 'failed') => void;
}

interface Treasury extends DevelopmentKey {
  readonly usdc: Address;
  readonly otherToken: Address;
}

const MAXIMUM_TRANSFERS = 500;

const mintAbi = parseAbi(['function mint(address to, uint256 amount)']);

async function readTransactionCount({ rpc, treasury }: DeliveryDependencies, block: string): Promise<number> {
  const count = Number(await rpc.call('eth_getTransactionCount', [treasury.address, block]));
  if (!Number.isSafeInteger(count)) throw new Error('the local chain answered without a transaction count');
  return count;
}

/**
 * Signs the transfer of an order, always with the same bytes. A nonce that another sender used on a lost chain has no
 * order. It gets a transaction to the treasury itself, so that later nonces can follow.
 */
function signTransfer({ treasury }: DeliveryDependencies, nonce: number, order: Order | null) {
  const to = order?.walletAddress ?? treasury.address;
  return signTransaction(treasury, {
    nonce,
    to: order?.isWrongToken ? treasury.otherToken : treasury.usdc,
    data: encodeFunctionData({ abi: mintAbi, functionName: 'mint', args: [to, order?.deliveryUnits ?? 1n] }),
  });
}

async function assignNonces(dependencies: DeliveryDependencies, count: number): Promise<void> {
  const { store, nowMs } = dependencies;
  // Skips nonces that another sender used with the key.
  let nonce = Math.max(store.nextNonce(), count);
  for (const order of store.listDueOrders(nowMs(), MAXIMUM_TRANSFERS)) {
    store.assignNonce(order.id, nonce, keccak256(await signTransfer(dependencies, nonce, order)));
    nonce++;
  }
}

/** Sends every transaction that the chain lacks, lowest nonce first. */
async function sendUnknown(dependencies: DeliveryDependencies, count: number): Promise<void> {
  const { store, rpc, log } = dependencies;
  const end = Math.min(store.nextNonce(), count + MAXIMUM_TRANSFERS);
  for (let nonce = count; nonce < end; nonce++) {
    const order = store.findByNonce(nonce);
    if (order?.state === 'delivered')
      log.warn({ orderId: order.id, nonce }, 'the local chain lost a delivery, and it is sent again');
    const signed = await signTransfer(dependencies, nonce, order);
    await rpc.call('eth_sendRawTransaction', [signed]).catch((error: unknown) => {
      const isKnown =
        error instanceof JsonRpcAnswerError &&
        /already (imported|known)|nonce too low/i.test(error.nodeMessage);
      if (!isKnown) throw error;
    });
    if (order !== null) store.setState(order.id, 'sent');
  }
}

/** Ends the orders whose nonces were spent in finalized blocks. */
async function settle(dependencies: DeliveryDependencies): Promise<void> {
  const { store, rpc, log, orderEnded } = dependencies;
  // Reads the block before the receipts, so that each spent nonce has a receipt if this worker sent its transfer.
  const block = (await rpc.call('eth_getBlockByNumber', ['finalized', false])) as { number?: string } | null;
  const finalNumber = Number(block?.number);
  if (!Number.isSafeInteger(finalNumber)) throw new Error('the local chain has no finalized block');
  const spent = await readTransactionCount(dependencies, `0x${finalNumber.toString(16)}`);
  for (const order of store.listSentOrders(spent, MAXIMUM_TRANSFERS)) {
    const receipt = (await rpc.call('eth_getTransactionReceipt', [order.transactionHash])) as {
      readonly status?: unknown;
      readonly blockNumber?: unknown;
    } | null;
    if (receipt !== null && Number(receipt.blockNumber) > finalNumber) continue; // The chain changed between the calls.
    const state = receipt?.status === '0x1' ? 'delivered' : 'failed';
    if (state === 'failed') {
      const problem = receipt === null ? 'another sender spent its nonce' : 'the token refused it';
      log.error({ orderId: order.id, nonce: order.nonce, problem }, 'a delivery has failed');
    }
    store.setState(order.id, state);
    orderEnded?.(order, state);
  }
}

/** Sends due and lost transactions, and ends orders whose transaction is final. */
async function deliverOnce(dependencies: DeliveryDependencies): Promise<void> {
  const count = await readTransactionCount(dependencies, 'latest');
  await assignNonces(dependencies, count);
  await sendUnknown(dependencies, count);
  await settle(dependencies);
}

export interface DeliveryWorker {
  /** Runs a complete round that begins after this call. Throws if the chain does not answer. */
  deliverNow(): Promise<void>;
  stop(): Promise<void>;
}

export function startDeliveryWorker(dependencies: DeliveryDependencies, intervalMs: number): DeliveryWorker {
  let queue: Promise<void> = Promise.resolve();
  let isStopped = false;

  function deliverNow(): Promise<void> {
    const round = queue.then(() => (isStopped ? undefined : deliverOnce(dependencies)));
    queue = round.catch(() => undefined); // The next round runs even if this one fails.
    return round;
  }

  const rounds = repeat(intervalMs, deliverNow, dependencies.log, 'deliveries wait for the local chain');
  return {
    deliverNow,
    async stop() {
      isStopped = true;
      await rounds.stop();
      await queue;
    },
  };
}
