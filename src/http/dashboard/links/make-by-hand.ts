import { recordAction } from '../../../accounts/people-context.ts';
import type { Account } from '../../../domain/account.ts';
import { ServiceError } from '../../../domain/errors.ts';
import type { Payment } from '../../../domain/payment.ts';
import type { CreatePaymentContext } from '../../../payments/create-payment.ts';
import type { CreatePaymentRequest } from '../../../payments/create-payment-request.ts';
import type { Html } from '../../design/html.ts';
import type { DashboardContext } from '../context.ts';
import { type DashboardView, type SeeOther, seeOther } from '../dashboard-page.ts';
import { notice } from '../fields.ts';
import type { FormFields } from '../form-fields.ts';
import type { Visit } from '../visit.ts';
import { readLinkForm } from './read-link-form.ts';

/** What the forms that make a payment by hand differ in. */
interface HandForm {
  readonly create: (
    context: CreatePaymentContext,
    account: Account,
    request: CreatePaymentRequest,
  ) => Promise<Payment>;
  /** The page with the form, filled in again with what was given. */
  readonly formView: (visit: Visit, form: FormFields, said: Html) => DashboardView;
}

/** Under the API's own rules; what they refuse is said above the form. */
export async function makeByHand(
  context: DashboardContext,
  visit: Visit,
  form: FormFields,
  { create, formView }: HandForm,
): Promise<DashboardView | SeeOther> {
  try {
    const request = await readLinkForm(context, visit.account, form);
    const payment = await create(context.create, visit.account, request);
    await recordAction(context, visit.account.id, visit.actor, 'link.created', payment.id);
    return seeOther(`/links/${payment.id}`);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status === 500) throw error;
    return { ...formView(visit, form, notice('bad', error.message)), status: error.status };
  }
}
