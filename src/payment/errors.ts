/**
 * All errors that API callers see. `status` and `code` are fixed by the specification, which defines a `code` only for
 * errors that callers can act on. `text` is public. The internal cause is in `ServiceError.cause` and is only logged.
 */
export const errorTable = {
  invalid_request: row(400, null, 'The request is invalid.'),
  // `belowMinimum` in `src/providers/provider-availability.ts` builds the usual text, which states the minimum.
  below_minimum: row(400, 'below_minimum', "The amount is below the provider's minimum."),
  // The specification has no code for this error.
  above_maximum: row(400, null, "The amount is above the provider's maximum."),
  currency_locked: row(400, 'currency_locked', 'The provider supports only one currency.'),
  provider_unknown: row(400, 'provider_unknown', 'The provider does not exist.'),
  provider_inactive: row(
    400,
    'provider_inactive',
    'The provider is currently unavailable. Use another provider or "multi".',
  ),
  conversion_failed: row(
    400,
    'conversion_failed',
    'The amount could not be converted to USD. Retry shortly.',
  ),
  connect_code_invalid: row(
    400,
    'connect_code_invalid',
    'The code is invalid, expired or already used. Start the connection again.',
  ),
  unauthorized: row(
    401,
    null,
    'The API key is missing, invalid or revoked. Send one key, as X-API-Key or as Authorization: Bearer.',
  ),
  scope_missing: row(403, null, 'The API key does not have the scope that this operation needs.'),
  feature_disabled: row(403, null, 'This feature is not enabled for the account.'),
  callback_host_refused: row(
    403,
    null,
    'The API key may only name callbacks on the host that it is bound to.',
  ),
  role_too_small: row(403, null, 'Your role in this account does not include this permission.'),
  foreign_form: row(403, null, 'The form was not sent from a page of this service.'),
  https_required: row(403, null, 'HTTPS is required.'),
  payment_not_found: row(404, null, 'Payment not found.'),
  not_found: row(404, null, 'Not found. Check the path and the id.'),
  method_not_allowed: row(405, null, 'The method is not allowed for this path.'),
  request_timeout: row(408, null, 'The complete request did not arrive in time.'),
  idempotency_conflict: row(409, null, 'The Idempotency-Key was already used with other parameters.'),
  payment_state_conflict: row(409, null, 'The state of the payment does not allow this.'),
  too_many_keys: row(409, null, 'The account has the maximum number of active keys.'),
  cursor_expired: row(410, 'cursor_expired', 'The events after this number are no longer available.'),
  payload_too_large: row(413, null, 'The request body is larger than 16 KiB.'),
  rate_limited: row(429, null, 'Too many requests.'),
  headers_too_large: row(431, null, 'The request headers are too large.'),
  internal: row(500, null, 'An unexpected error occurred. Retry with backoff.'),
  provider_unavailable: row(
    502,
    'provider_unavailable',
    'The provider did not respond. Retry later or use "multi".',
  ),
  chain_unreachable: row(
    503,
    null,
    'The payment network cannot be reached. Your card was not charged. Please try again shortly.',
  ),
} as const;

function row(status: number, code: string | null, text: string) {
  return { status, code, text };
}

export type ErrorName = keyof typeof errorTable;

/** Error in the API description: from `errorTable`, or a feature's own error with a status from this table. */
export type DescribedError = ReturnType<typeof row> & { readonly name: string };

const fieldOfError: Readonly<Partial<Record<ErrorName, string>>> = {
  below_minimum: 'amount',
  above_maximum: 'amount',
  currency_locked: 'currency',
  provider_unknown: 'provider',
  provider_inactive: 'provider',
};

/** Error from `errorTable`. Callers see any other error as `internal` (500). */
export class ServiceError extends Error {
  readonly errorName: ErrorName;
  /** Seconds until a retry makes sense, after `rate_limited`, or `provider_unavailable` from a busy provider. */
  readonly retryAfterSeconds: number | null;
  /** Problems by field name. A page shows each problem next to its field. */
  readonly problems: ReadonlyMap<string, string>;

  /** @param publicText replaces the table's text; `options.cause` is only logged */
  constructor(
    errorName: ErrorName,
    publicText?: string,
    options?: {
      cause?: unknown;
      retryAfterSeconds?: number | undefined;
      problems?: ReadonlyMap<string, string>;
    },
  ) {
    super(
      publicText ?? errorTable[errorName].text,
      options?.cause === undefined ? {} : { cause: options.cause },
    );
    this.errorName = errorName;
    this.retryAfterSeconds = options?.retryAfterSeconds ?? null;
    const field = fieldOfError[errorName];
    this.problems = options?.problems ?? new Map(field === undefined ? [] : [[field, this.message]]);
  }

  get status(): number {
    return errorTable[this.errorName].status;
  }

  get code(): string | null {
    return errorTable[this.errorName].code;
  }
}

export class RegionNotServedError extends ServiceError {
  constructor(publicText: string) {
    super('provider_inactive', publicText);
  }
}

/** Refusal of a session whose total is higher than the total shown on the page. */
export class HigherChargeError extends ServiceError {
  readonly chargedCents: number;

  constructor(publicText: string, chargedCents: number) {
    super('payment_state_conflict', publicText);
    this.chargedCents = chargedCents;
  }
}

/** Returns whether a provider refused because of too many requests, so that a later retry may succeed. */
export function isBusy(error: unknown): boolean {
  return (
    error instanceof ServiceError &&
    error.errorName === 'provider_unavailable' &&
    error.retryAfterSeconds !== null
  );
}

/** Creates an `invalid_request` with the text `field problem`. `name` is the field's name in the form. */
export function invalidField(field: string, problem: string, name = field): ServiceError {
  return new ServiceError('invalid_request', `${field} ${problem}`, { problems: new Map([[name, problem]]) });
}

/** Resolves to the values of all fields. Throws one `invalid_request` for all invalid fields. Rethrows other errors. */
export async function checkFields<Checks extends Readonly<Record<string, () => unknown>>>(checks: Checks) {
  const problems = new Map<string, string>();
  const read: Record<string, unknown> = {};
  for (const [name, check] of Object.entries(checks)) {
    try {
      read[name] = await check();
    } catch (error) {
      if (!(error instanceof ServiceError) || error.errorName !== 'invalid_request') throw error;
      problems.set(name, [...error.problems.values()][0] ?? error.message);
    }
  }
  const text = [...problems].map(([field, problem]) => `${field} ${problem}`).join('; ');
  if (problems.size > 0) throw new ServiceError('invalid_request', text, { problems });
  return read as { readonly [Name in keyof Checks]: Awaited<ReturnType<Checks[Name]>> };
}

export function stateConflict(reason: string): ServiceError {
  return new ServiceError('payment_state_conflict', reason);
}

/** Error for a payment state or transition missing from the state tables: the sign of a defect or a corrupt row. */
export class UnknownStateError extends Error {}
