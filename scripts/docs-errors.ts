/** The part of docs/errors.md that follows from the error table. */
import { type ErrorName, errorTable } from '../src/domain/errors.ts';
import { code, table } from './markdown.ts';

/** Where an error can be met, and what whoever meets it should do. */
interface Advice {
  readonly where: string;
  readonly action: string;
}

/** One entry a row of the error table: a row without advice does not compile. */
export const errorAdvice: Record<ErrorName, Advice> = {
  invalid_request: {
    where: 'API',
    action: 'Read the message, which names the field, and correct it. Do not send the same again.',
  },
  below_minimum: { where: 'API', action: 'Raise the amount, choose another provider, or use `multi`.' },
  currency_locked: { where: 'API', action: 'Use the currency named in the message, or another provider.' },
  provider_unknown: { where: 'API', action: 'Use one of the ids listed in the message, or `multi`.' },
  provider_inactive: {
    where: 'API',
    action: 'Use another provider or `multi`. The operator switches providers on and gives them credentials.',
  },
  conversion_failed: {
    where: 'API',
    action:
      'Try again in a minute. It also comes with `multi`, because the amount in USD decides which providers can serve. USD never needs converting.',
  },
  unauthorized: {
    where: 'API',
    action: 'Send exactly one key in exactly one header. If it was revoked, create another.',
  },
  feature_disabled: {
    where: 'API',
    action:
      'Ask the operator: the message names the feature or provider, or says that the account is suspended.',
  },
  role_too_small: {
    where: 'the dashboard',
    action: 'Ask an owner of the account to do it, or to give you another role.',
  },
  foreign_form: {
    where: 'the dashboard',
    action: 'Open the page again and send its form. The browser has to accept cookies.',
  },
  https_required: {
    where: 'everywhere',
    action: 'Use https. In live mode plain HTTP is for this machine and the proxies in `TRUST_PROXY` alone.',
  },
  payment_not_found: {
    where: 'API, command line',
    action: "Check the id or token. Another account's payment looks the same as none.",
  },
  not_found: { where: 'everywhere', action: 'Check the path, or the id given to a command.' },
  method_not_allowed: { where: 'everywhere', action: 'Use a method that the `Allow` header names.' },
  request_timeout: { where: 'everywhere', action: 'Send the whole request within 15 seconds.' },
  idempotency_conflict: {
    where: 'API',
    action: 'Use a new `Idempotency-Key` for a new order, the same parameters for a repetition.',
  },
  payment_state_conflict: {
    where: 'command line',
    action: 'The message says what stands in the way. Look at `payment show`.',
  },
  too_many_keys: { where: 'command line', action: 'Revoke a key that is no longer used.' },
  payload_too_large: { where: 'everywhere', action: 'Send less; no valid request is that large.' },
  rate_limited: {
    where: 'API',
    action: 'Wait for the seconds in `Retry-After`, plus some random time of your own.',
  },
  headers_too_large: { where: 'everywhere', action: 'Send fewer or shorter headers.' },
  internal: {
    where: 'everywhere',
    action:
      'Try again with growing pauses and the same `Idempotency-Key`. Give `X-Request-Id` to the operator, whose log has it.',
  },
  provider_unavailable: {
    where: 'API',
    action:
      'Try again later, after the seconds in `Retry-After` where it is sent, or use another provider or `multi`.',
  },
  chain_unreachable: {
    where: 'checkout page',
    action:
      'Try again shortly. Nobody is sent to pay while the chain cannot be asked; the operator checks the RPC endpoints.',
  },
};

/** Every error, by status. */
export function errorRows(): string {
  return table(
    ['HTTP', '`code`', 'default message', 'where', 'what to do'],
    Object.entries(errorTable).map(([name, { status, code: wireCode, text }]) => {
      const { where, action } = errorAdvice[name as ErrorName];
      return [String(status), wireCode === null ? '–' : code(wireCode), text, where, action];
    }),
  );
}
