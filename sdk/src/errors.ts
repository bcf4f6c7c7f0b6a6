/** Base class of all errors of this package. */
export class CardCheckoutError extends Error {
  override readonly name: string = 'CardCheckoutError';
}

/** Error response of the service. `message` is an explanation for people. */
export class ApiError extends CardCheckoutError {
  override readonly name = 'ApiError';
  /** HTTP status. */
  readonly status: number;
  /** Machine-readable code, such as `below_minimum`; null if a program cannot react. */
  readonly code: string | null;
  /** Seconds to wait after a 429; null for other errors. */
  readonly retryAfter: number | null;
  /** Id of the request in the service's log. */
  readonly requestId: string | null;

  constructor(
    message: string,
    facts: { status: number; code: string | null; retryAfter: number | null; requestId: string | null },
  ) {
    super(message);
    this.status = facts.status;
    this.code = facts.code;
    this.retryAfter = facts.retryAfter;
    this.requestId = facts.requestId;
  }

  /** Returns whether the same request may succeed later. With status 400, only `conversion_failed` may. */
  get isTemporary(): boolean {
    return isTemporaryStatus(this.status) || this.code === 'conversion_failed';
  }
}

/** Temporary statuses. Cloudflare sends 520 to 524 when it cannot reach the service. */
const temporaryStatuses: ReadonlySet<number> = new Set([
  408, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524,
]);

export function isTemporaryStatus(status: number): boolean {
  return temporaryStatuses.has(status);
}

/** Invalid argument. No request was sent, and the message does not quote the value. */
export class ArgumentError extends CardCheckoutError {
  override readonly name = 'ArgumentError';
  /** Name of the argument, such as `idempotencyKey`. */
  readonly argument: string;

  constructor(argument: string, problem: string) {
    super(`${argument} ${problem}`);
    this.argument = argument;
  }
}

/**
 * Error thrown if no response of the service arrived. A creation may have been executed: repeat it with the same key.
 */
export class ConnectionError extends CardCheckoutError {
  override readonly name = 'ConnectionError';
}

/** Reason why a webhook was rejected. */
export type WebhookRefusal =
  /** The header is missing, repeated, or not 64 lowercase hexadecimal digits. */
  | 'no_signature'
  /** No order has this payment, or no token is stored for it. */
  | 'unknown_payment'
  /** Altered, or signed with another token than this payment's. */
  | 'wrong_signature'
  /** Genuine, but too old or too far in the future: a replay. */
  | 'not_fresh'
  /** The body is too large, or is not JSON in UTF-8 with the fields of an event. */
  | 'malformed'
  /** Genuine, but of a type that this version does not support. */
  | 'unknown_event';

/** Webhook that must not be processed. Respond with `httpStatus` and do nothing else. */
export class WebhookError extends CardCheckoutError {
  override readonly name = 'WebhookError';
  readonly reason: WebhookRefusal;

  constructor(reason: WebhookRefusal, message: string) {
    super(message);
    this.reason = reason;
  }

  /** Returns 401 if the webhook may be forged or replayed, and 400 if its body is malformed or its type unknown. */
  get httpStatus(): 400 | 401 {
    return this.reason === 'malformed' || this.reason === 'unknown_event' ? 400 : 401;
  }
}

/** Error thrown if the payment's money could go elsewhere. Do not redirect customers to this payment. */
export class DepositAddressError extends CardCheckoutError {
  override readonly name = 'DepositAddressError';
}
