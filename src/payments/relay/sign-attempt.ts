import { paymentReference } from '../../domain/deposit-address.ts';
import { type Payment, termsOf } from '../../domain/payment.ts';
import type { FeeQuote, RelayCall } from '../../domain/ports/chain.ts';
import type { RelayAttempt } from '../../domain/ports/relay-store.ts';
import type { RelayContext } from './relay-context.ts';

/** The call that releases payments of one factory. */
export function forwardCall(payments: readonly Payment[]): RelayCall {
  const factory = (payments[0] as Payment).factory;
  return {
    kind: 'forward',
    factory,
    terms: payments.map((payment) => termsOf(payment, paymentReference(payment.id))),
  };
}

/** Signs a call for this nonce; sends nothing. */
export async function signAttempt(
  context: Pick<RelayContext, 'relayer' | 'nowMs'>,
  call: RelayCall,
  nonce: number,
  gasLimit: bigint,
  fees: FeeQuote,
): Promise<RelayAttempt> {
  const signed = await context.relayer.sign(call, nonce, gasLimit, fees);
  return { ...signed, signedAtMs: context.nowMs() };
}

/**
 * The nonce of the relayer's next transaction. A node that lags, also one of several behind one address, counts fewer
 * transactions than there are: what is signed for a spent nonce can never be mined.
 */
export async function chooseNonce({
  relay,
  relayer,
}: Pick<RelayContext, 'relay' | 'relayer'>): Promise<number> {
  const latestCount = await relayer.readLatestTransactionCount();
  const own = await relay.findNextNonce(relayer.address);
  return Math.max(latestCount, own ?? (await relayer.readFinalTransactionCount()).count);
}
