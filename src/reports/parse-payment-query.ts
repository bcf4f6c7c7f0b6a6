import { displayStatuses } from '../payment/display-status.ts';
import { invalidField } from '../payment/errors.ts';
import { currencies } from '../payment/money.ts';
import { amountMismatches } from '../payment/payment.ts';
import { type PaymentQuery, parsePaymentSearch } from '../payment/payment-search.ts';
import { type ForwardStatus, fieldsOf, type PaymentState, paymentStates } from '../payment/payment-states.ts';
import { DIRECT_PROVIDER, MULTI_PROVIDER, providerIds } from '../payment/provider-catalog.ts';

/** Values of a filter, from the command line or a URL. An absent or empty value does not filter. */
export interface PaymentQueryText {
  readonly status?: string;
  readonly forwardStatus?: string;
  readonly provider?: string;
  readonly currency?: string;
  readonly amountMismatch?: string;
  readonly displayStatus?: string;
  readonly search?: string;
}

const states = (Object.keys(paymentStates) as PaymentState[]).map(fieldsOf);
export const paymentStatuses = [...new Set(states.map(({ status }) => status))];
export const forwardStatuses: readonly ForwardStatus[] = [
  ...new Set(states.map(({ forwardStatus }) => forwardStatus)),
];
export const providerChoices = [MULTI_PROVIDER, ...providerIds] as const;
export const paymentProviders = [...providerChoices, DIRECT_PROVIDER] as const;

/** Parses a filter. Throws `invalid_request` for an unknown value. */
export function parsePaymentQuery(accountId: string, text: PaymentQueryText, nowMs: number): PaymentQuery {
  const search = parsePaymentSearch(text.search ?? '');
  const { displayStatus } = oneOf('displayStatus', text.displayStatus, displayStatuses);
  return {
    accountId,
    ...oneOf('status', text.status, paymentStatuses),
    ...oneOf('forwardStatus', text.forwardStatus, forwardStatuses),
    ...oneOf('provider', text.provider, paymentProviders),
    ...oneOf('currency', text.currency, currencies),
    ...oneOf('amountMismatch', text.amountMismatch, amountMismatches),
    ...(displayStatus === undefined ? {} : { display: { status: displayStatus, nowMs } }),
    ...(search === null ? {} : { search }),
  };
}

function oneOf<Field extends string, Value extends string>(
  field: Field,
  text: string | undefined,
  values: readonly Value[],
): { readonly [Key in Field]?: Value } {
  if (text === undefined || text === '') return {};
  const value = values.find((candidate) => candidate === text);
  if (value === undefined) {
    const name = field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    throw invalidField(name, `must be one of ${values.join(', ')}`);
  }
  return { [field]: value } as { readonly [Key in Field]?: Value };
}
