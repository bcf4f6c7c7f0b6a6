import type { IncomingHttpHeaders } from 'node:http';
import { invalidField } from '../../domain/errors.ts';
import type { RequestParameter } from './request-parameter.ts';

const visibleAscii = /^[\x21-\x7e]{1,255}$/;

/** The header as the OpenAPI document says it. */
export const idempotencyKeyParameter = {
  isRequired: false,
  isNullable: false,
  schema: { type: 'string', pattern: visibleAscii.source },
  description:
    'At most 255 visible ASCII characters, such as your order number. A repeated create with the same key and parameters answers with the payment of the first, for 24 hours.',
  example: 'order-1001',
} as const satisfies RequestParameter;

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
