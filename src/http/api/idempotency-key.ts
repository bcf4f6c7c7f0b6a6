import type { IncomingHttpHeaders } from 'node:http';
import { invalidField } from '../../domain/errors.ts';

const visibleAscii = /^[\x21-\x7e]{1,255}$/;

/**
 * The `Idempotency-Key` of a request, or null when it has none. Throws `invalid_request` for a malformed one. A
 * repeated header is malformed too: Node joins the values with ", ", and a space is not visible.
 */
export function readIdempotencyKey(headers: IncomingHttpHeaders): string | null {
  const key = headers['idempotency-key'];
  if (key === undefined) return null;
  if (typeof key !== 'string' || !visibleAscii.test(key)) {
    throw invalidField('Idempotency-Key', 'must be one header of 1 to 255 visible ASCII characters');
  }
  return key;
}
