import type { Account } from '../domain/account.ts';
import { ServiceError } from '../domain/errors.ts';
import { usdUnits as usdUnitsOf } from '../domain/money.ts';
import type { Payment } from '../domain/payment.ts';
import { DIRECT_PROVIDER } from '../domain/provider-catalogue.ts';
import {
  type CreatePaymentContext,
  type CreatePaymentRequest,
  newPayment,
  recordCreated,
  requireAllowedWallet,
  requireUnreservedAddress,
} from './create-payment.ts';

/** The validated request for a direct payment. */
export type DirectPaymentRequest = Pick<
  CreatePaymentRequest,
  'payoutAddress' | 'callbackUrl' | 'amountCents' | 'currency' | 'email' | 'note'
>;

/**
 * Creates a payment that the customer pays from a wallet, in USDC, to the deposit address. No provider deducts
 * a fee, so the paid threshold is the whole value: no provider's fee and no tolerance. Not for the card API, which knows no such
 * payment. Throws `ServiceError`.
 */
export async function createDirectPayment(
  context: CreatePaymentContext,
  account: Account,
  request: DirectPaymentRequest,
): Promise<Payment> {
  if (account.suspended) throw new ServiceError('feature_disabled', 'The account is suspended.');
  requireAllowedWallet(account, request.payoutAddress);
  await requireUnreservedAddress(context.settlement, request.payoutAddress);
  const usdUnits = usdUnitsOf(request.amountCents, await context.rates.usdRate(request.currency));
  const payment = newPayment(
    context,
    account,
    { ...request, passFeeToCustomer: false },
    {
      amountCents: request.amountCents,
      originalAmountCents: null,
      customerFeeCents: null,
      usdUnits,
      toleranceBasisPoints: 0,
      maxProviderFeeBasisPoints: 0,
      provider: DIRECT_PROVIDER,
    },
  );
  recordCreated(context.settlement, await context.payments.createPayment(payment, null), payment);
  return payment;
}
