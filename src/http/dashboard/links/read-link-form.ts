import type { Account } from '../../../domain/account.ts';
import { parsePayoutAddress } from '../../../domain/payout-address.ts';
import type { CreatePaymentRequest } from '../../../payments/create-payment-request.ts';
import { parseCreateRequest } from '../../api/parse-create-request.ts';
import type { DashboardContext } from '../context.ts';
import type { FormFields } from '../form-fields.ts';

/** What a form asks for, judged as the API judges it; what the account's settings keep goes first. Throws `ServiceError`. */
export async function readLinkForm(
  { callbacks }: DashboardContext,
  account: Account,
  form: FormFields,
): Promise<CreatePaymentRequest> {
  const given = (name: string) => form.text(name).trim() || null;
  const parameters = {
    address: account.wallet ?? given('address'),
    callback: account.defaultCallbackUrl ?? given('callback'),
    amount: given('amount'),
    currency: given('currency'),
    provider: given('provider'),
    email: given('email'),
    note: given('note'),
    passFeeToCustomer: form.has('passFeeToCustomer'),
  };
  return parseCreateRequest({ callbacks, parsePayoutAddress }, parameters, 'json', null);
}
