/** Generates the part of docs/errors.md from the error table. */
import { refundErrors } from '../src/features/refunds/refund.ts';
import { type DescribedError, type ErrorName, errorTable } from '../src/payment/errors.ts';
import { code, table } from './markdown.ts';

/** Where an error occurs, and what the caller should do. */
interface Advice {
  readonly where: string;
  readonly action: string;
}

type Name = ErrorName | (typeof refundErrors)['notFound' | 'conflict']['name'];

/** One entry per error: one without advice does not compile. */
export const errorAdvice: Record<Name, Advice> = {
  invalid_request: {
    where: 'API',
    action: 'Correct the field that the message names. Do not retry unchanged.',
  },
  below_minimum: { where: 'API', action: 'Increase the amount, choose another provider, or use `multi`.' },
  above_maximum: { where: 'API', action: 'Decrease the amount, choose another provider, or use `multi`.' },
  currency_locked: { where: 'API', action: 'Use the currency in the message, or another provider.' },
  provider_unknown: { where: 'API', action: 'Use one of the ids in the message, or `multi`.' },
  provider_inactive: {
    where: 'API',
    action:
      'Use another provider or `multi`. The operator enables providers and configures their credentials.',
  },
  conversion_failed: {
    where: 'API',
    action:
      'Retry in a minute. `multi` needs the conversion too, because the amount in USD decides which providers are available. Amounts in USD need no conversion.',
  },
  unauthorized: {
    where: 'API',
    action: 'Send exactly one key in exactly one header. If the key was revoked, create another.',
  },
  scope_missing: {
    where: 'API, merchant API',
    action: 'Create a key with the scope that the message names, and use it instead.',
  },
  feature_disabled: {
    where: 'API',
    action:
      'Contact the operator. The message names the feature or provider, or says that the account is suspended.',
  },
  role_too_small: {
    where: 'the dashboard',
    action: 'Ask an owner of the account to do it, or to change your role.',
  },
  foreign_form: {
    where: 'the dashboard',
    action:
      'Open the page here and submit its form. A request without `Sec-Fetch-Site` or `Origin` is refused, and a form of another account than the one chosen now.',
  },
  https_required: {
    where: 'everywhere',
    action:
      'Use HTTPS. In live mode, plain HTTP is accepted only from the same machine and the proxies in `TRUST_PROXY`.',
  },
  payment_not_found: {
    where: 'API, command line',
    action: 'Check the id or token. A payment of another account returns the same error.',
  },
  not_found: { where: 'everywhere', action: 'Check the path of the request, or the id in the command.' },
  method_not_allowed: { where: 'everywhere', action: 'Use a method in the `Allow` header.' },
  request_timeout: {
    where: 'everywhere',
    action: 'Send the headers within 10 seconds and the whole request within 15.',
  },
  idempotency_conflict: {
    where: 'API',
    action: 'Use a new `Idempotency-Key` for a new order. Retry a request with the same parameters.',
  },
  payment_state_conflict: {
    where: 'merchant API, command line',
    action: 'The message gives the reason. `payment show` has the details.',
  },
  refund_not_found: {
    where: 'merchant API',
    action: 'Check the id. A refund of another account returns the same error.',
  },
  refund_state_conflict: {
    where: 'merchant API',
    action: 'The message gives the reason. Read the refund again.',
  },
  connect_code_invalid: {
    where: 'merchant API',
    action:
      'Let the merchant start the connection again in your shop. A code lasts 60 seconds and works once.',
  },
  callback_host_refused: {
    where: 'API, merchant API',
    action: 'Use a callback on the host that the message names, or another key.',
  },
  too_many_keys: { where: 'command line, merchant API', action: 'Revoke an unused key.' },
  cursor_expired: {
    where: 'merchant API',
    action: 'Continue with the `after` in the message. Read the orders that are still open one by one.',
  },
  payload_too_large: {
    where: 'everywhere',
    action: 'Send a smaller body. Only a checkout with many line items or long metadata can be that large.',
  },
  rate_limited: {
    where: 'API',
    action: 'Wait for the seconds in `Retry-After`, plus a random delay.',
  },
  headers_too_large: { where: 'everywhere', action: 'Send fewer or shorter headers.' },
  internal: {
    where: 'everywhere',
    action:
      'Retry with exponential backoff and the same `Idempotency-Key`. For help, send the `X-Request-Id` of the response to the operator.',
  },
  provider_unavailable: {
    where: 'API',
    action:
      'Retry later, or use another provider or `multi`. If the response has `Retry-After`, wait for that many seconds.',
  },
  chain_unreachable: {
    where: 'checkout page',
    action:
      'Retry shortly. The service redirects no customer to a provider while the chain is unreachable. The operator checks the RPC endpoints.',
  },
};

/** All errors, by status. */
export function errorRows(): string {
  const ofTable = Object.entries(errorTable).map(([name, row]) => ({ name, ...row }));
  const errors: readonly DescribedError[] = [...ofTable, ...Object.values(refundErrors)];
  return table(
    ['HTTP', '`code`', 'default message', 'where', 'what to do'],
    errors
      .toSorted((one, other) => one.status - other.status)
      .map(({ name, status, code: wireCode, text }) => {
        const { where, action } = errorAdvice[name as Name];
        return [String(status), wireCode === null ? '–' : code(wireCode), text, where, action];
      }),
  );
}
