import type { Account } from '../domain/account.ts';
import { ServiceError } from '../domain/errors.ts';
import { usdUnits as usdUnitsOf } from '../domain/money.ts';
import { directThreshold } from '../domain/paid-threshold.ts';
import type { Payment } from '../domain/payment.ts';
import { DIRECT_PROVIDER } from '../domain/provider-catalogue.ts';
import {
  type CreatePaymentRequest,
  requireAllowedWallet,
  requireUnreservedAddress,
} from './create-checks.ts';
import { type CreatePaymentContext, newPayment, storePayment } from './create-payment.ts';
import { findEarlierCreate, isReplayOf, recordOf } from './idempotent-replay.ts';

export type DirectPaymentRequest = Pick<
  CreatePaymentRequest,
  'payoutAddress' | 'callbackUrl' | 'amountCents' | 'currency' | 'email' | 'note'
> &
  Partial<Pick<CreatePaymentRequest, 'idempotencyKey' | 'order'>>;

/**
 * Creates a payment that the customer pays from a wallet, in USDC, to the deposit address. No provider deducts
 * a fee, so the paid threshold is the whole value, or a cent less where the account says so. Not for the card API, which knows no
 * such payment. A repetition with the same idempotency key returns the first payment. Throws `ServiceError`.
 */
export async function createDirectPayment(
  context: CreatePaymentContext,
  account: Account,
  request: DirectPaymentRequest,
): Promise<Payment> {
  const { payoutAddress, callbackUrl, amountCents, currency, email, note, idempotencyKey = null } = request;
  const parameters = [DIRECT_PROVIDER, payoutAddress, callbackUrl, amountCents, currency, email, note];
  const record = recordOf(account, idempotencyKey, parameters, context.nowMs());
  const earlier = await findEarlierCreate(context.payments, record);
  if (isReplayOf(earlier, record)) return earlier.payment;
  if (earlier !== null) throw new ServiceError('idempotency_conflict');
  if (account.suspended) throw new ServiceError('feature_disabled', 'The account is suspended.');
  requireAllowedWallet(account, payoutAddress);
  await requireUnreservedAddress(context.settlement, payoutAddress);
  const usdUnits = usdUnitsOf(amountCents, await context.rates.usdRate(currency));
  const charge = {
    amountCents,
    originalAmountCents: null,
    customerFeeCents: null,
    usdUnits,
    toleranceBasisPoints: 0,
    maxProviderFeeBasisPoints: 0,
    provider: DIRECT_PROVIDER,
  } as const;
  const payment = {
    ...newPayment(context, account, { ...request, passFeeToCustomer: false }, charge),
    paidThresholdUnits: directThreshold(usdUnits, account.toleratesMissingCent),
  };
  return storePayment(context, payment, record);
}
