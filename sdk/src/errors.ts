/** What can go wrong, by class. Every error of this package is a `CardCheckoutError`. */
export class CardCheckoutError extends Error {
  override readonly name: string = 'CardCheckoutError';
}

/** The service answered with an error. `message` is the service's own sentence, for people. */
export class ApiError extends CardCheckoutError {
  override readonly name = 'ApiError';
  /** The HTTP status. */
  readonly status: number;
  /** For programs, such as `below_minimum`; null where there is nothing that a program could do. */
  readonly code: string | null;
  /** Seconds to wait, of a 429; else null. */
  readonly retryAfter: number | null;
  /** Names the request in the service's log. */
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

  /** Whether the same request may succeed later. Of the refusals (400) only `conversion_failed` may. */
  get isTemporary(): boolean {
    return isTemporaryStatus(this.status) || this.code === 'conversion_failed';
  }
}

/** 408, 429 and what is the service's fault. */
export function isTemporaryStatus(status: number): boolean {
  return status === 408 || status === 429 || status === 500 || status === 502 || status === 503;
}

/** No answer, or one that is no answer of this service. A create may have happened: repeat it with the same key. */
export class ConnectionError extends CardCheckoutError {
  override readonly name = 'ConnectionError';
}

/** Why a webhook was not accepted. */
export type WebhookRefusal =
  /** The header is missing, or is not 64 hexadecimal digits. */
  | 'no_signature'
  /** No order has this payment, or no token is stored for it. */
  | 'unknown_payment'
  /** It was not made with this payment's token, or it was altered on the way. */
  | 'wrong_signature'
  /** Genuine, but sent too long ago, or by a clock that is far ahead: a recording played back. */
  | 'not_fresh'
  /** The body is not JSON in UTF-8 with the fields of an event. */
  | 'malformed'
  /** Genuine, but of a kind that this version does not know. */
  | 'unknown_event';

/** A request to your endpoint that must not be acted upon. Answer with `httpStatus` and do nothing else. */
export class WebhookError extends CardCheckoutError {
  override readonly name = 'WebhookError';
  readonly reason: WebhookRefusal;

  constructor(reason: WebhookRefusal, message: string) {
    super(message);
    this.reason = reason;
  }

  /** 401 for what may be forged, 400 for what is genuine or cannot be read at all. */
  get httpStatus(): 400 | 401 {
    return this.reason === 'malformed' || this.reason === 'unknown_event' ? 400 : 401;
  }
}

/** The money of this payment could go elsewhere: do not send a customer to it. */
export class DepositAddressError extends CardCheckoutError {
  override readonly name = 'DepositAddressError';
}
