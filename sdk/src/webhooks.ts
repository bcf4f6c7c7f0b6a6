import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { fromHex, isEqualInConstantTime, toBytes } from './bytes.ts';
import { WebhookError } from './errors.ts';
import type { WebhookEvent } from './wire.ts';

/** Header of the signature, in lowercase, which all runtimes accept. */
export const SIGNATURE_HEADER = 'x-service-signature';

const SIGNATURE_BYTES = 32;
/** Maximum size of a body. An event has a few hundred bytes. */
const MAXIMUM_BODY_BYTES = 65_536;
const DEFAULT_TOLERANCE_SECONDS = 300;
const paymentIdPattern = /^[0-9a-fA-F-]{36}$/;

/** Raw body before any parsing. Text must match the sent UTF-8 exactly. */
export type RawBody = string | Uint8Array | ArrayBuffer;
/** Value of `X-Service-Signature` as returned by any framework. */
export type SignatureHeader = string | readonly string[] | null | undefined;

export interface VerificationOptions {
  /**
   * Maximum difference in seconds between `timestamp` and now. Default: 300. Events are sent once and immediately, so
   * an older one is a replay. Use `Infinity` only behind a queue of the shop's own.
   */
  readonly toleranceSeconds?: number;
  /** Current time in milliseconds since 1970. */
  readonly nowMs?: number;
}

/** Function that returns the stored `ipn_token` of a payment; null if there is no such order. */
export type FindToken = (paymentId: string) => string | null | undefined | Promise<string | null | undefined>;

/**
 * Verifies signature and age of a webhook and returns its event.
 *
 * @throws WebhookError if it must not be processed; respond with its `httpStatus`
 * @throws TypeError if the body was already parsed or the token is missing, which is a mistake in the endpoint
 */
export function constructEvent(
  rawBody: RawBody,
  signature: SignatureHeader,
  ipnToken: string,
  options: VerificationOptions = {},
): WebhookEvent {
  const body = readRawBody(rawBody);
  if (typeof ipnToken !== 'string' || ipnToken === '') {
    throw new TypeError('ipnToken must be the token that was stored with the order');
  }
  verifySignature(body, signature, ipnToken);
  return checkFresh(readEvent(body), options);
}

/**
 * Same as `constructEvent`, but looks up the token by the payment id in the body. Until this function returns, nothing
 * in the body can be trusted, not even in `findToken`.
 *
 * @throws WebhookError, also if `findToken` returns no token (`unknown_payment`)
 */
export async function constructEventAsync(
  rawBody: RawBody,
  signature: SignatureHeader,
  findToken: FindToken,
  options: VerificationOptions = {},
): Promise<WebhookEvent> {
  const body = readRawBody(rawBody);
  const claimed = readClaimedPaymentId(body);
  const ipnToken = await findToken(claimed);
  if (typeof ipnToken !== 'string' || ipnToken === '') {
    throw new WebhookError('unknown_payment', 'no token is stored for this payment');
  }
  verifySignature(body, signature, ipnToken);
  return checkFresh(readEvent(body), options);
}

/** Returns the signature that the service sends in `X-Service-Signature`. For tests of an endpoint. */
export function sign(rawBody: RawBody, ipnToken: string): string {
  return bytesToHex(hmac(sha256, toBytes(ipnToken), readRawBody(rawBody)));
}

function readRawBody(rawBody: RawBody): Uint8Array {
  if (typeof rawBody !== 'string' && !ArrayBuffer.isView(rawBody) && !isArrayBuffer(rawBody)) {
    throw new TypeError(
      'rawBody must be the bytes or the text as they came; a parsed body cannot be verified, because writing it again gives other bytes',
    );
  }
  const body = toBytes(rawBody);
  if (body.length > MAXIMUM_BODY_BYTES) throw new WebhookError('malformed', 'the body is too large');
  return body;
}

/** Compares by name, because buffers from another realm, as in test runners, fail `instanceof`. */
function isArrayBuffer(value: unknown): boolean {
  return Object.prototype.toString.call(value) === '[object ArrayBuffer]';
}

function verifySignature(body: Uint8Array, signature: SignatureHeader, ipnToken: string): void {
  const text = typeof signature === 'string' ? signature : signature?.length === 1 ? signature[0] : undefined;
  // Accepts only lowercase, as sent, because another spelling could bypass a store of seen signatures.
  const given = text !== undefined && /^[0-9a-f]{64}$/.test(text) ? fromHex(text) : null;
  if (given === null || given.length !== SIGNATURE_BYTES) {
    throw new WebhookError('no_signature', 'X-Service-Signature is missing or is not a signature');
  }
  if (!isEqualInConstantTime(hmac(sha256, toBytes(ipnToken), body), given)) {
    throw new WebhookError(
      'wrong_signature',
      "the signature is not that of this body and the payment's token",
    );
  }
}

function parseObject(body: Uint8Array): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body));
  } catch {
    throw new WebhookError('malformed', 'the body is not JSON in UTF-8');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new WebhookError('malformed', 'the body is not a JSON object');
  }
  return value as Readonly<Record<string, unknown>>;
}

function readClaimedPaymentId(body: Uint8Array): string {
  const { paymentId } = parseObject(body);
  if (typeof paymentId !== 'string' || !paymentIdPattern.test(paymentId)) {
    throw new WebhookError('malformed', 'the body names no payment');
  }
  return paymentId;
}

function readEvent(body: Uint8Array): WebhookEvent {
  const fields = parseObject(body);
  if (typeof fields['event'] !== 'string' || typeof fields['paymentId'] !== 'string') {
    throw new WebhookError('malformed', 'the body has no event or names no payment');
  }
  if (typeof fields['timestamp'] !== 'number' || !Number.isFinite(fields['timestamp'])) {
    throw new WebhookError('malformed', 'the body does not say when it was sent');
  }
  switch (fields['event']) {
    case 'payment.paid':
      if (fields['status'] !== 'paid') throw new WebhookError('malformed', 'a paid event that is not paid');
      return fields as unknown as WebhookEvent;
    case 'payment.forwarded':
      return fields as unknown as WebhookEvent;
    default:
      throw new WebhookError('unknown_event', `there is no event ${JSON.stringify(fields['event'])}`);
  }
}

function checkFresh(event: WebhookEvent, options: VerificationOptions): WebhookEvent {
  const { toleranceSeconds = DEFAULT_TOLERANCE_SECONDS, nowMs = Date.now() } = options;
  const ageSeconds = nowMs / 1000 - event.timestamp;
  // Negated, so that a tolerance of NaN accepts nothing.
  if (!(Math.abs(ageSeconds) <= toleranceSeconds)) {
    throw new WebhookError('not_fresh', `it was sent ${Math.round(ageSeconds)} seconds ago`);
  }
  return event;
}
