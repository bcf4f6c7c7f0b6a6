import { createHmac, timingSafeEqual } from 'node:crypto';
import { UnknownStateError } from '../../payment/errors.ts';
import type { ProviderId } from '../../payment/provider-catalog.ts';
import { type PostedWebhook, ProviderWebhookRefusedError } from '../provider.ts';
import { type AnswerFields, fieldsOf, MalformedAnswerError } from './provider-http.ts';

/** Maximum difference between a webhook's time and its arrival, because an older webhook may be a replay. */
const WEBHOOK_TOLERANCE_MS = 5 * 60_000;

/** Requires that one of the signatures is the message's HMAC-SHA256 in hex. Compares in constant time. */
export function requireHmac(
  key: string,
  message: readonly (string | Buffer)[],
  signatures: readonly string[],
): void {
  const hmac = createHmac('sha256', key);
  for (const part of message) hmac.update(part);
  const expected = Buffer.from(hmac.digest('hex'));
  const isAuthentic = signatures
    .map((signature) => Buffer.from(signature))
    .some((given) => given.length === expected.length && timingSafeEqual(given, expected));
  if (!isAuthentic) throw new ProviderWebhookRefusedError('the signature is not that of the webhook');
}

export function requireRecent(signedAtMs: number, receivedAtMs: number): void {
  if (Math.abs(receivedAtMs - signedAtMs) <= WEBHOOK_TOLERANCE_MS) return;
  throw new ProviderWebhookRefusedError('the webhook was signed too long ago, or in the future');
}

/** Parses `t=1,v1=ab,v1=cd` into values by name. Empty for a missing header. */
export function readSignatureHeader(header: string | undefined): ReadonlyMap<string, readonly string[]> {
  const values = new Map<string, string[]>();
  for (const part of (header ?? '').split(',').slice(0, 20)) {
    const [name = '', ...rest] = part.trim().split('=');
    values.set(name, [...(values.get(name) ?? []), rest.join('=')]);
  }
  return values;
}

/** Requires a header such as `t=1795226590,v1=ab` (`name` is `v1`) that signs a recent time, a dot and the body. */
export function requireTimedHmac(
  key: string,
  header: string | undefined,
  name: string,
  { body, receivedAtMs }: PostedWebhook,
): void {
  const values = readSignatureHeader(header);
  const time = values.get('t')?.[0] ?? '';
  requireHmac(key, [`${time}.`, body], values.get(name) ?? []);
  requireRecent(readSignedTime(time) * 1000, receivedAtMs);
}

export function readSignedTime(text: string | undefined): number {
  if (text === undefined || !/^\d{1,15}$/.test(text))
    throw new ProviderWebhookRefusedError('the webhook does not say when it was signed');
  return Number(text);
}

/** Parses a webhook's JSON object, authentic or not. Throws `ProviderWebhookRefusedError` for anything else. */
export function readWebhookFields(body: Buffer | string): AnswerFields {
  try {
    return fieldsOf(JSON.parse(body.toString()));
  } catch (error) {
    throw new ProviderWebhookRefusedError('the webhook is not a JSON object', { cause: error });
  }
}

/** Returns the progress for a webhook's status. Throws `UnknownStateError` for a status that the table lacks. */
export function readProgress<T>(provider: ProviderId, statuses: ReadonlyMap<unknown, T>, status: unknown): T {
  const progress = statuses.get(status);
  if (progress !== undefined) return progress;
  throw new UnknownStateError(`${provider} sent the unknown status ${JSON.stringify(status)}`);
}

/** Parses a webhook's ISO 8601 time. Returns the time of arrival if the value is missing. */
export function readWebhookTimeMs(value: unknown, receivedAtMs: number): number {
  if (value === undefined || value === null) return receivedAtMs;
  const timeMs = typeof value === 'string' && value.length <= 40 ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(timeMs)) throw new MalformedAnswerError('the time of the webhook is malformed');
  return timeMs;
}
