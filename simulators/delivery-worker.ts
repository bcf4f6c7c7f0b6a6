/**
 * How an order is delivered exactly once although the local chain may forget its last blocks.
 *
 * - The treasury's key signs nothing but what stands in the `transfers` table, one transaction for each nonce, stored
 *   before it is sent. A chain takes each nonce once, so as long as an order has one nonce it is paid at most once.
 * - The chain's transaction count is the only measure of what it still knows. Every stored transaction from that
 *   count on is sent again, the same bytes in the same order, whatever we believed of it before: "delivered" as well.
 *   So it is paid at least once.
 * - An order gets another nonce only when its own is spent for good without having moved anything: the transfer
 *   reverted, or another sender used the nonce (the key is a public development key). Finalized blocks decide both cases.
 *   The old transaction is `void` from then on and never sent again. If the chain falls back so far that its nonce is
 *   free once more, an empty transaction takes it, so that the later ones can follow.
 */

import { privateKeyToAccount } from 'viem/accounts';
import { encodeFunctionData, keccak256, parseAbi } from 'viem/utils';
import { JsonRpcAnswerError, type JsonRpcClient } from '../src/chain/json-rpc.ts';
import type { Address } from '../src/domain/payout-address.ts';
import { SANDBOX_CHAIN_ID } from './development-keys.ts';
import type { Order, OrderStore, Transfer } from './order-store.ts';
import type { SandboxLog } from './sandbox-log.ts';

interface DeliveryDependencies {
  readonly store: OrderStore;
  /** The node itself, without the gateway whose faults only the server sees. */
  readonly rpc: JsonRpcClient;
  readonly treasury: Treasury & { readonly address: Address };
  readonly log: SandboxLog;
  readonly nowMs: () => number;
  /** Called with an order whose transfer is final, or that was given up. */
  readonly orderEnded?: (orderId: string, event: 'delivered' | 'failed') => void;
}

/** Maximum number of transfers in one step; the rest waits for the next. */
const MAXIMUM_ORDERS = 50;
const MAXIMUM_TRANSFERS = 500;
const MAXIMUM_REFUSALS = 20;
const RETRY_REFUSED_MS = 30_000;

async function readTransactionCount(dependencies: DeliveryDependencies, block: string): Promise<number> {
  const count = Number(
    await dependencies.rpc.call('eth_getTransactionCount', [dependencies.treasury.address, block]),
  );
  if (!Number.isSafeInteger(count)) throw new Error('the local chain answered without a transaction count');
  return count;
}

/** Sends signed bytes. `settle` detects that the node has them already, or that the nonce is spent. */
async function broadcast(dependencies: DeliveryDependencies, transfer: Transfer): Promise<void> {
  try {
    await dependencies.rpc.call('eth_sendRawTransaction', [transfer.rawTransaction]);
  } catch (error) {
    const isKnown =
      error instanceof JsonRpcAnswerError &&
      /already (imported|known)|nonce too low/i.test(error.nodeMessage);
    if (!isKnown) throw error;
  }
}

/** A transaction that moves nothing, for a nonce whose own transfer must not happen (any more). */
async function fillNonce(
  dependencies: DeliveryDependencies,
  nonce: number,
  orderId: string | null,
): Promise<Transfer> {
  const signed = await signTreasuryTransaction(dependencies.treasury, nonce, null);
  const filler: Transfer = { nonce, orderId, ...signed, state: 'void' };
  dependencies.store.putFiller(filler);
  return filler;
}

/** Sends everything again that the chain does not know (any more), lowest nonce first. */
async function sendUnknown(dependencies: DeliveryDependencies): Promise<void> {
  const { store, log } = dependencies;
  const first = await readTransactionCount(dependencies, 'latest');
  const end = Math.min(store.nextNonce(), first + MAXIMUM_TRANSFERS);
  for (let nonce = first; nonce < end; nonce++) {
    const transfer = store.findTransfer(nonce);
    if (transfer === null || transfer.state === 'void') {
      await broadcast(dependencies, await fillNonce(dependencies, nonce, transfer?.orderId ?? null));
      continue;
    }
    if (transfer.state === 'final') {
      log.warn(
        { orderId: transfer.orderId, nonce },
        'the local chain lost a delivery; the same transfer is sent again',
      );
    }
    await broadcast(dependencies, transfer);
    store.markSent(transfer);
  }
}

/** Assigns a nonce to every order that is due, stores the signed transfer and sends it. */
async function sendDue(dependencies: DeliveryDependencies): Promise<void> {
  const { store } = dependencies;
  const orders = store.listDueOrders(dependencies.nowMs(), MAXIMUM_ORDERS);
  if (orders.length === 0) return;
  // Beyond our own nonces, too: another sender may have used the key.
  let nonce = Math.max(store.nextNonce(), await readTransactionCount(dependencies, 'latest'));
  for (const order of orders) {
    await sendOrder(dependencies, order, nonce);
    nonce++;
  }
}

async function sendOrder(dependencies: DeliveryDependencies, order: Order, nonce: number): Promise<void> {
  if (order.deliveryUnits === null) throw new Error(`order ${order.id} is paid but has no amount to deliver`);
  const { usdc, otherToken } = dependencies.treasury;
  const token = order.isWrongToken ? otherToken : usdc;
  const mint = { token, to: order.walletAddress, units: order.deliveryUnits };
  const signed = await signTreasuryTransaction(dependencies.treasury, nonce, mint);
  const transfer = { nonce, orderId: order.id, ...signed, state: 'pending' } as const;
  dependencies.store.addTransfer(transfer);
  await broadcast(dependencies, transfer);
  dependencies.store.markSent(transfer);
}

/** Settles the pending transfers whose nonces are spent, by finalized blocks alone. */
async function settle(dependencies: DeliveryDependencies): Promise<void> {
  const { store, rpc } = dependencies;
  // The count is read before the receipts: a spent nonce has a receipt, if the transfer was ours.
  const finalBlock = (await rpc.call('eth_getBlockByNumber', ['finalized', false])) as {
    number?: unknown;
  } | null;
  const finalNumber = Number(finalBlock?.number);
  if (!Number.isSafeInteger(finalNumber)) throw new Error('the local chain has no finalized block');
  const spent = await readTransactionCount(dependencies, `0x${finalNumber.toString(16)}`);
  for (const transfer of store.listPendingTransfers(spent, MAXIMUM_TRANSFERS)) {
    const receipt = (await rpc.call('eth_getTransactionReceipt', [transfer.hash])) as {
      status?: unknown;
      blockNumber?: unknown;
    } | null;
    if (receipt !== null && Number(receipt.blockNumber) > finalNumber) continue; // the chain just moved
    if (receipt?.status === '0x1') {
      store.markDelivered(transfer);
      if (transfer.orderId !== null) dependencies.orderEnded?.(transfer.orderId, 'delivered');
    } else retryElsewhere(dependencies, transfer, receipt !== null);
  }
}

function retryElsewhere(dependencies: DeliveryDependencies, transfer: Transfer, isRefused: boolean): void {
  const { store, log, nowMs } = dependencies;
  const order = transfer.orderId === null ? null : store.findOrder(transfer.orderId);
  if (order === null) throw new Error(`the pending transfer with nonce ${transfer.nonce} has no order`);
  const isHopeless = isRefused && order.refusals + 1 >= MAXIMUM_REFUSALS;
  const facts = { orderId: order.id, nonce: transfer.nonce, refusals: order.refusals };
  if (isHopeless) log.error(facts, 'the token refuses the delivery; the order is given up');
  else if (isRefused) log.warn(facts, 'the token refused the delivery; it is tried again later');
  else log.warn(facts, "another sender used the treasury's nonce; the delivery takes the next one");
  store.voidTransfer(transfer, {
    state: isHopeless ? 'failed' : 'accepted',
    dueAtMs: nowMs() + (isRefused ? RETRY_REFUSED_MS : 0),
    isRefused,
  });
  if (isHopeless) dependencies.orderEnded?.(order.id, 'failed');
}

/** One round: resends what the chain lost, sends what is due, closes what is final. */
async function deliverOnce(dependencies: DeliveryDependencies): Promise<void> {
  await sendUnknown(dependencies);
  await sendDue(dependencies);
  await settle(dependencies);
}

export interface DeliveryWorker {
  /** Runs one whole round that begins after this call; throws when the chain does not answer. */
  deliverNow(): Promise<void>;
  stop(): Promise<void>;
}

/** Delivers in the background, one round at a time. */
export function startDeliveryWorker(dependencies: DeliveryDependencies, intervalMs: number): DeliveryWorker {
  let queue: Promise<void> = Promise.resolve();
  let isStopped = false;
  let isFailing = false;
  let timer: NodeJS.Timeout;

  function deliverNow(): Promise<void> {
    const round = queue.then(() => (isStopped ? undefined : deliverOnce(dependencies)));
    queue = round.catch(() => undefined); // the next round runs whatever became of this one
    return round;
  }

  async function tick(): Promise<void> {
    try {
      await deliverNow();
      isFailing = false;
    } catch (error) {
      if (!isFailing && !isStopped)
        dependencies.log.warn({ err: error }, 'deliveries wait for the local chain');
      isFailing = true;
    }
    if (!isStopped) schedule();
  }

  function schedule(): void {
    timer = setTimeout(() => void tick(), intervalMs);
  }

  schedule();
  return {
    deliverNow,
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await queue;
    },
  };
}

const mintAbi = parseAbi(['function mint(address to, uint256 amount)']);

/** Generous and the same for all, so that a transfer never waits for a better price. */
const MAXIMUM_FEE_PER_GAS = 10n ** 11n;
const MAXIMUM_PRIORITY_FEE_PER_GAS = 10n ** 9n;
const MINT_GAS = 200_000n;
const EMPTY_GAS = 21_000n;

/** The treasury that pays all simulated deliveries. */
interface Treasury {
  readonly privateKey: `0x${string}`;
  readonly usdc: Address;
  /** The token that is delivered by mistake. */
  readonly otherToken: Address;
}

interface SignedTransaction {
  readonly hash: string;
  readonly rawTransaction: string;
}

/** Signs the minting of a token to a deposit address, or, without one, a transaction that moves nothing. */
async function signTreasuryTransaction(
  treasury: Treasury,
  nonce: number,
  mint: { readonly token: Address; readonly to: Address; readonly units: bigint } | null,
): Promise<SignedTransaction> {
  const account = privateKeyToAccount(treasury.privateKey);
  const action =
    mint === null
      ? { to: account.address, gas: EMPTY_GAS }
      : {
          to: mint.token,
          gas: MINT_GAS,
          data: encodeFunctionData({ abi: mintAbi, functionName: 'mint', args: [mint.to, mint.units] }),
        };
  const rawTransaction = await account.signTransaction({
    chainId: SANDBOX_CHAIN_ID,
    type: 'eip1559',
    nonce,
    maxFeePerGas: MAXIMUM_FEE_PER_GAS,
    maxPriorityFeePerGas: MAXIMUM_PRIORITY_FEE_PER_GAS,
    ...action,
  });
  return { hash: keccak256(rawTransaction), rawTransaction };
}
