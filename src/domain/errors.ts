/**
 * The one table of errors that callers of the service can meet.
 *
 * `status` and `code` are the wire contract of the specification: a `code` is present only where the caller can
 * act on it. `text` is public; the internal cause travels beside it in `ServiceError.cause` and is only logged.
 */
export const errorTable = {
  invalid_request: { status: 400, code: null, text: 'The request is invalid.' },
  below_minimum: { status: 400, code: 'below_minimum', text: "The amount is below the provider's minimum." },
  // The specification has no code for it.
  above_maximum: { status: 400, code: null, text: "The amount is above the provider's maximum." },
  currency_locked: { status: 400, code: 'currency_locked', text: 'The provider supports only one currency.' },
  provider_unknown: { status: 400, code: 'provider_unknown', text: 'The provider does not exist.' },
  provider_inactive: {
    status: 400,
    code: 'provider_inactive',
    text: 'The provider is currently unavailable.',
  },
  conversion_failed: {
    status: 400,
    code: 'conversion_failed',
    text: 'The amount could not be converted to USD. Retry shortly.',
  },
  connect_code_invalid: {
    status: 400,
    code: 'connect_code_invalid',
    text: 'The code is invalid, expired or already used. Start the connection again.',
  },
  unauthorized: { status: 401, code: null, text: 'The API key is missing, invalid or revoked.' },
  scope_missing: {
    status: 403,
    code: null,
    text: 'The API key does not have the scope that this operation needs.',
  },
  feature_disabled: { status: 403, code: null, text: 'This feature is not enabled for the account.' },
  callback_host_refused: {
    status: 403,
    code: null,
    text: 'The API key may only name callbacks on the host that it is bound to.',
  },
  role_too_small: {
    status: 403,
    code: null,
    text: 'Your role in this account does not include this permission.',
  },
  foreign_form: {
    status: 403,
    code: null,
    text: 'The form has expired, or was opened in another browser.',
  },
  https_required: { status: 403, code: null, text: 'HTTPS is required.' },
  payment_not_found: { status: 404, code: null, text: 'Payment not found.' },
  not_found: { status: 404, code: null, text: 'Not found. Check the path and the id.' },
  method_not_allowed: { status: 405, code: null, text: 'The method is not allowed for this path.' },
  request_timeout: { status: 408, code: null, text: 'The complete request did not arrive in time.' },
  idempotency_conflict: {
    status: 409,
    code: null,
    text: 'The Idempotency-Key was already used with other parameters.',
  },
  refund_not_found: { status: 404, code: null, text: 'Refund not found.' },
  refund_state_conflict: {
    status: 409,
    code: null,
    text: 'The state of the refund does not allow this.',
  },
  payment_state_conflict: {
    status: 409,
    code: null,
    text: 'The state of the payment does not allow this.',
  },
  too_many_keys: { status: 409, code: null, text: 'The account has the maximum number of active keys.' },
  cursor_expired: {
    status: 410,
    code: 'cursor_expired',
    text: 'The events after this number are no longer available.',
  },
  payload_too_large: { status: 413, code: null, text: 'The request body is larger than 16 KiB.' },
  rate_limited: { status: 429, code: null, text: 'Too many requests.' },
  headers_too_large: { status: 431, code: null, text: 'The request headers are too large.' },
  internal: { status: 500, code: null, text: 'An unexpected error occurred. Retry with backoff.' },
  provider_unavailable: {
    status: 502,
    code: 'provider_unavailable',
    text: 'The provider did not respond. Retry later or use "multi".',
  },
  chain_unreachable: {
    status: 503,
    code: null,
    text: 'The payment network cannot be reached. Your card was not charged. Please try again shortly.',
  },
} as const satisfies Record<string, { status: number; code: string | null; text: string }>;

/** The name of a row of the error table. */
export type ErrorName = keyof typeof errorTable;

/** An error with a row in the table; everything else that is thrown is `internal` (500) to the caller. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly errorName: ErrorName;
  /** Seconds until a retry makes sense; for `rate_limited`, and for `provider_unavailable` where the provider is busy. */
  readonly retryAfterSeconds: number | null;
  /** The problem of a field, without the field's name: a page shows it at the field. Null where no field is named. */
  readonly problem: string | null;

  /** `publicText` replaces the table's text where more can be said; `cause` never leaves the process. */
  constructor(
    errorName: ErrorName,
    publicText?: string,
    options?: { cause?: unknown; retryAfterSeconds?: number | undefined; problem?: string },
  ) {
    super(
      publicText ?? errorTable[errorName].text,
      options?.cause === undefined ? {} : { cause: options.cause },
    );
    this.errorName = errorName;
    this.retryAfterSeconds = options?.retryAfterSeconds ?? null;
    this.problem = options?.problem ?? null;
  }

  get status(): number {
    return errorTable[this.errorName].status;
  }

  get code(): string | null {
    return errorTable[this.errorName].code;
  }
}

/** Whether a provider refused because it is called too often: it is there, and says when it may be called again. */
export function isBusy(error: unknown): boolean {
  return (
    error instanceof ServiceError &&
    error.errorName === 'provider_unavailable' &&
    error.retryAfterSeconds !== null
  );
}

/** A 400 that names the field; `problem` continues the sentence that begins with the field's name. */
export function invalidField(field: string, problem: string): ServiceError {
  return new ServiceError('invalid_request', `${field} ${problem}`, { problem });
}

/** The refusal of a change that the payment's state does not allow, with the reason for the caller. */
export function stateConflict(reason: string): ServiceError {
  return new ServiceError('payment_state_conflict', reason);
}

/** Thrown for a state that the tables do not contain: a defect or a corrupt row, never ignored. */
export class UnknownStateError extends Error {
  override readonly name = 'UnknownStateError';
}
