import { ServiceError } from '../domain/errors.ts';
import type { PaymentReference } from '../domain/payment.ts';
import type { EmailStore } from '../domain/ports/email-store.ts';

/**
 * Erases the e-mail address of a payment's customer from everything that is stored of the payment. Resolves to whether
 * there was one. Throws `payment_not_found`, and `payment_state_conflict` while a webhook of it is being sent.
 */
export async function eraseEmail(
  { emails }: { readonly emails: Pick<EmailStore, 'eraseEmail'> },
  payment: PaymentReference,
): Promise<boolean> {
  const outcome = await emails.eraseEmail(payment);
  if (outcome === 'unknown') throw new ServiceError('payment_not_found');
  if (outcome === 'busy') {
    throw new ServiceError(
      'payment_state_conflict',
      'A webhook with this e-mail address is being sent at this moment. Please try again in a minute.',
    );
  }
  return outcome === 'erased';
}
