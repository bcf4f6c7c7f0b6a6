import type { Store } from '../../../src/app/store/store.ts';
import type { Refund } from '../../../src/features/refunds/refund.ts';
import { createRefund } from '../../../src/features/refunds/refunds.ts';
import { checksumAddress } from '../../../src/payment/address.ts';
import { createKeyedHash } from '../../../src/platform/keyed-hash.ts';
import { transfersTo } from './chain-truth.ts';
import type { SimulatedWorld } from './simulated-world.ts';

const links = createKeyedHash('links of refunds', 'never used here, and long enough');

/** A merchant opens a refund of one of the paid payments, to an address that nobody else has. */
export async function openRefundInWorld(
  world: SimulatedWorld,
  { store, nowMs }: { readonly store: Store; readonly nowMs: () => number },
): Promise<void> {
  const { draws, payments } = world;
  for (const { id, accountId } of payments) {
    const payment = await store.payments.findPaymentById(id);
    if (payment?.status !== 'paid') continue;
    const request = {
      amount: draws.oneOf(['all', '1', '0.5']),
      reason: null,
      destination: checksumAddress(draws.hex(40)),
    };
    const context = {
      ...store,
      addressLinkTokens: links,
      isServiceAddress: async () => false,
      baseUrl: 'http://localhost',
      nowMs,
    };
    world.refunds.push(await createRefund(context, accountId, id, request));
    world.recorder.fault('refund opened');
    return;
  }
}

/** Now and then the merchant transfers a refund: what was asked for, or something else. Some are transferred twice. */
export function transferRefunds({ draws, chain, refunds, recorder }: SimulatedWorld): void {
  const refund = refunds[draws.between(0, Math.max(0, refunds.length - 1))];
  if (refund?.destination == null || !draws.chance(20)) return;
  const units = draws.chance(80) ? refund.units : refund.units + 1n;
  chain.submit({ kind: 'mint', to: refund.destination, units });
  recorder.fault('refund transferred');
}

/** Once everything has settled: a refund is paid exactly when a final transfer of its amount is on the chain. */
export async function checkRefunds(world: SimulatedWorld, raw: Store): Promise<void> {
  for (const { id, accountId, ...opened } of world.refunds) {
    const refund = await raw.refunds.findRefund(accountId, id);
    const transfer = transferOf(world, opened);
    const isRight =
      refund !== null &&
      (transfer === undefined
        ? refund.status === 'awaiting_transfer' && refund.transactionHash === null
        : refund.status === 'paid' && refund.units === opened.units && isOnChain(world, refund));
    const story = () =>
      `${id} is ${refund?.status} by ${refund?.transactionHash}, sent ${transfer?.transactionHash}`;
    world.recorder.expect('refunded', isRight, story);
  }
}

function transferOf(
  { chain }: SimulatedWorld,
  { destination, units }: Pick<Refund, 'destination' | 'units'>,
) {
  const transfers = destination === null ? [] : transfersTo(chain, destination);
  return transfers.find((transfer) => transfer.units === units && transfer.blockNumber <= chain.finalNumber);
}

function isOnChain({ chain }: SimulatedWorld, { destination, transactionHash, logIndex }: Refund): boolean {
  const transfers = destination === null ? [] : transfersTo(chain, destination);
  return transfers.some(
    (transfer) => transfer.transactionHash === transactionHash && transfer.logIndex === logIndex,
  );
}

/** Whether a transfer is still to be booked. */
export async function isRefundDue(world: SimulatedWorld, raw: Store): Promise<boolean> {
  for (const opened of world.refunds) {
    if (transferOf(world, opened) === undefined) continue;
    if ((await raw.refunds.findRefund(opened.accountId, opened.id))?.status !== 'paid') return true;
  }
  return false;
}
