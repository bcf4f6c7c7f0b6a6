import { type Address, POL_ADDRESS, parsePayoutAddress } from '../payment/address.ts';
import { invalidField, ServiceError, stateConflict } from '../payment/errors.ts';
import type { PaymentId } from '../payment/payment.ts';
import { CallRevertedError, type RelayCall, SignerError } from './chain/chain.ts';
import { chooseNonce, hasFreeSlot, readCounts, unminedOf } from './relay/nonces.ts';
import type { RelayContext } from './relay/relay-context.ts';
import { costOf, feeBudgetOf, forwardCall, signAttempt, unaffordableError } from './relay/size-batch.ts';

/** Parses an operator's token: `pol` or an address. Throws `invalid_request` for the field `token`. */
export function parseRescuedToken(text: string): Address {
  const name = text.trim();
  if (name.toLowerCase() === 'pol') return POL_ADDRESS;
  const token = parsePayoutAddress(name);
  if (token === null) throw invalidField('token', 'must be "pol" or a token address (0x…)');
  return token;
}

/**
 * Sends a wrong token, or POL (`POL_ADDRESS`), from a deposit address to the merchant without a fee. Uses one of the
 * relayer's slots. Returns the hash of the first attempt.
 *
 * Throws `payment_not_found` for an unknown payment, and `payment_state_conflict` if no slot is free, the contract
 * refuses, the deposit address holds none of the token, its rescue is under way, or the signer does not sign. An
 * unaffordable gas cost is a conflict, too, because the rescue would block all later releases.
 */
export async function rescueToken(
  context: Pick<RelayContext, 'payments' | 'observations' | 'relay' | 'relayer' | 'limits' | 'nowMs'>,
  id: PaymentId,
  token: Address,
): Promise<string> {
  const { limits } = context;
  const payment = await context.payments.findPaymentById(id);
  if (payment === null) throw new ServiceError('payment_not_found');
  const call: RelayCall = { ...forwardCall([payment]), kind: 'rescue', token };
  const gasLimit = await context.relayer.estimateGas(call).catch((cause: unknown) => {
    if (!(cause instanceof CallRevertedError)) throw cause;
    throw new ServiceError('payment_state_conflict', `This cannot be rescued: ${cause.message}.`, { cause });
  });
  if ((await context.relayer.readHeld(payment.depositAddress, token)) === 0n) {
    throw stateConflict('This cannot be rescued: the deposit address holds nothing of this token.');
  }
  const fees = await context.relayer.quoteFees();
  const counts = await readCounts(context);
  const open = await context.relay.listOpenBatchesOf(context.relayer.address);
  const isUnderWay = open.some(
    (batch) => batch.kind === 'rescue' && batch.rescueToken === token && batch.paymentIds.includes(id),
  );
  if (isUnderWay) {
    throw stateConflict('This token of this payment is being rescued already.');
  }
  if (!hasFreeSlot(limits, open, counts)) {
    throw stateConflict('The relayer has too many transactions in flight; try again shortly.');
  }
  const othersWei = costOf(unminedOf(open, counts));
  const budgetWei = feeBudgetOf(limits, await context.relayer.readGasBalance(), othersWei);
  const costWei = gasLimit * fees.maxFeePerGas;
  if (costWei > budgetWei) {
    const { message } = unaffordableError(context, costWei, budgetWei);
    throw stateConflict(`This cannot be rescued: ${message}.`);
  }
  const nonce = await chooseNonce(context, open, counts);
  const attempt = await signAttempt(context, call, nonce, gasLimit, fees).catch((error: unknown) => {
    throw error instanceof SignerError ? stateConflict(`This cannot be rescued: ${error.message}.`) : error;
  });
  await context.relay.openBatch(
    {
      relayer: context.relayer.address,
      nonce,
      kind: 'rescue',
      rescueToken: token,
      gasLimit,
      paymentIds: [id],
      attempts: [attempt],
      createdAtMs: attempt.signedAtMs,
    },
    () => null,
  );
  await context.relayer.broadcast(attempt.rawTransaction);
  return attempt.hash;
}
