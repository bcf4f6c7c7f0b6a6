import { isSecureUrl } from '../domain/loopback.ts';

/**
 * Reads single values out of what a provider answered. Nothing is taken for granted: whatever has another form than it
 * should is a `MalformedAnswerError`.
 */

const MAXIMUM_REDIRECT_LENGTH = 4_096;
const MAXIMUM_REFERENCE_LENGTH = 200;
const MAXIMUM_TOKEN_LENGTH = 8_192;

/** A defect of the provider's, told apart from the network's only in the log. */
export class MalformedAnswerError extends Error {
  override readonly name = 'MalformedAnswerError';
}

export type AnswerFields = Readonly<Record<string, unknown>>;

/** A JSON object. */
export function fieldsOf(value: unknown): AnswerFields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new MalformedAnswerError('the answer is not a JSON object');
  }
  return value as AnswerFields;
}

/** A positive amount as providers write it, a JSON number or decimal text; what is below 10⁻⁶ is cut off. */
export function readDecimalUnits(value: unknown, name: string): bigint {
  const text = typeof value === 'number' && Number.isFinite(value) ? value.toFixed(8) : value;
  const match = typeof text === 'string' ? /^(\d{1,9})(?:\.(\d{1,30}))?$/.exec(text) : null;
  if (match === null) throw new MalformedAnswerError(`${name} is not an amount`);
  const units = BigInt(match[1] as string) * 1_000_000n + BigInt((match[2] ?? '').padEnd(6, '0').slice(0, 6));
  if (units === 0n) throw new MalformedAnswerError(`${name} is zero`);
  return units;
}

/** Where the customer's browser may be sent: an absolute https (on loopback also http) address without credentials. */
export function readRedirectUrl(value: unknown): string {
  if (typeof value !== 'string' || value.length > MAXIMUM_REDIRECT_LENGTH || !URL.canParse(value)) {
    throw new MalformedAnswerError('url is not an address');
  }
  const url = new URL(value);
  if (!isSecureUrl(url) || url.username !== '' || url.password !== '') {
    throw new MalformedAnswerError('url is not a plain https address');
  }
  return url.href;
}

/** A provider's own name for something: visible ASCII, which may stand on a page and in a path. */
export function readReference(value: unknown): string {
  const isReference = typeof value === 'string' && /^[\x21-\x7e]+$/.test(value);
  if (!isReference || value.length > MAXIMUM_REFERENCE_LENGTH)
    throw new MalformedAnswerError('id is not a reference');
  return value;
}

/** A text, or null for everything else. */
export function readTextOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** A credential that goes back to the provider in a header: visible ASCII. */
export function readToken(value: unknown): string {
  if (typeof value !== 'string' || value.length > MAXIMUM_TOKEN_LENGTH || !/^[\x21-\x7e]+$/.test(value))
    throw new MalformedAnswerError('the token is malformed');
  return value;
}
