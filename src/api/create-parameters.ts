import type { IncomingHttpHeaders } from 'node:http';
import { HEX_ADDRESS_PATTERN, ZERO_ADDRESS_PATTERN } from '../payment/address.ts';
import { CALLBACK_MAX_CHARACTERS } from '../payment/callback-url.ts';
import { invalidField } from '../payment/errors.ts';
import { AMOUNT_PATTERN, currencies, MAXIMUM_AMOUNT_CENTS, MINIMUM_AMOUNT_CENTS } from '../payment/money.ts';
import { MULTI_PROVIDER, providerIds } from '../payment/provider-catalog.ts';
import type { RequestParameter, RequestParameters } from './json-schema.ts';

const amountText = { type: 'string', pattern: AMOUNT_PATTERN } as const;

const domainLabel = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
/**
 * Email address as in HTML's `<input type=email>`, with surrounding spaces, or only spaces: no display names, lists,
 * comments, quotes, line breaks or non-ASCII.
 */
const EMAIL_PATTERN = `^[^\\S\\r\\n]*(?:[A-Za-z0-9.!#$%&'*+/=?^_\`{|}~-]{1,64}@${domainLabel}(?:\\.${domainLabel})*)?[^\\S\\r\\n]*$`;

/** All parameters of a create request. `parse-create-request.ts` validates what a schema cannot express. */
export const createParameters = {
  address: {
    isRequired: true,
    schema: { type: 'string', pattern: HEX_ADDRESS_PATTERN, not: { pattern: ZERO_ADDRESS_PATTERN } },
    description:
      'Your payout wallet on Polygon: `0x` and 40 hex digits. A mixed-case address must have a valid checksum. ' +
      "The zero address and the service's own addresses are refused. If payouts are locked to the account's wallet, all other addresses are refused.",
    example: '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65',
  },
  callback: {
    isRequired: true,
    schema: { type: 'string', pattern: '^[Hh][Tt][Tt][Pp][Ss]://.', maxLength: CALLBACK_MAX_CHARACTERS },
    description:
      `The webhook URL: \`https://\`, a public host, no credentials, at most ${CALLBACK_MAX_CHARACTERS} characters. ` +
      `Hosts that resolve to a private address or to this service are refused.`,
    example: 'https://shop.example/webhook',
  },
  amount: {
    isRequired: true,
    schema: {
      anyOf: [
        amountText,
        // No `multipleOf: 0.01`: validators that divide in binary would refuse 0.29.
        { type: 'number', minimum: MINIMUM_AMOUNT_CENTS / 100, maximum: MAXIMUM_AMOUNT_CENTS / 100 },
      ],
    },
    querySchema: amountText,
    description:
      `From ${MINIMUM_AMOUNT_CENTS / 100} to ${MAXIMUM_AMOUNT_CENTS / 100}, at most two decimals. ` +
      `Prefer a string such as \`"25.00"\`. The digits of a number count as written: \`10.001\` and \`10.100\` are refused, and \`1e2\` is 100.`,
    example: '25.00',
  },
  currency: {
    isNullable: true,
    schema: { type: 'string', enum: currencies },
    default: currencies[0],
    description: 'The currency of the amount.',
    example: currencies[0],
  },
  passFeeToCustomer: {
    isNullable: true,
    schema: { type: 'boolean' },
    default: false,
    description:
      "`true` increases the charge so that the amount you requested remains after the account's fee. " +
      "It does not cover the provider's fee. The total including the fee must not exceed 10000. Alias: `pass_fee_to_customer`.",
    example: false,
  },
  pass_fee_to_customer: {
    isNullable: true,
    schema: { type: 'boolean' },
    description: 'Alias of `passFeeToCustomer`. If you send both, they must be equal.',
    example: false,
  },
  provider: {
    isNullable: true,
    schema: { type: 'string', enum: [MULTI_PROVIDER, ...providerIds] },
    default: MULTI_PROVIDER,
    description:
      '`multi` lets the customer choose. An id selects one provider. `klarna` supports EUR only. ' +
      'A provider that is not enabled for the account returns 403, and the message lists the enabled ones.',
    example: MULTI_PROVIDER,
  },
  email: {
    isNullable: true,
    schema: { type: 'string', maxLength: 254, pattern: EMAIL_PATTERN },
    description:
      "The customer's email address, at most 254 ASCII characters, with an internationalized domain in its `xn--` form. " +
      'The webhook contains it. A provider receives it if the customer opens `checkout_url`, except Coinbase, Crypto.com and Revolut. ' +
      'Surrounding spaces are removed. An empty string means absent.',
    example: 'customer@example.com',
  },
  note: {
    isNullable: true,
    // No control characters except newline and tab; a carriage return only before a newline, as sent by HTML text
    // areas.
    schema: {
      type: 'string',
      minLength: 1,
      maxLength: 500,
      pattern: '^(?:[^\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f]|\\r\\n)*$',
    },
    description:
      'At most 500 characters. Included in the webhook and in the preview of the short link, and hidden from the checkout page. ' +
      'CRLF line breaks are stored as LF and count as one character. An empty note is refused: omit it, or send `null`.',
    example: 'Order 1001',
  },
} as const satisfies RequestParameters;

const visibleAscii = /^[\x21-\x7e]{1,255}$/;

/** The header in the OpenAPI document. */
export const idempotencyKeyParameter = {
  schema: { type: 'string', pattern: visibleAscii.source },
  description:
    'At most 255 visible ASCII characters, such as your order number. ' +
    'For 24 hours, a repeated create with the same key and parameters returns the first payment.',
  example: 'order-1001',
} as const satisfies RequestParameter;

/**
 * The `Idempotency-Key` of a request; null without one. Throws `invalid_request` for a malformed one. A repeated header
 * is malformed too: Node joins the values with ", ", and spaces are not allowed.
 */
export function readIdempotencyKey(headers: IncomingHttpHeaders): string | null {
  const key = headers['idempotency-key'];
  if (key === undefined) return null;
  if (typeof key !== 'string' || !visibleAscii.test(key)) {
    throw invalidField('Idempotency-Key', 'must be one header of 1 to 255 visible ASCII characters');
  }
  return key;
}

/** Parameters by which a status read names its payment. */
export const statusParameters = {
  ipn_token: {
    schema: { type: 'string', minLength: 1 },
    description:
      'The `ipn_token` of the payment. It takes precedence: if both are sent, `payment_id` is ignored.',
    example: 'ipn_fX52m501a1fbd7b7b37002be385df3e4ebf9f4',
  },
  payment_id: {
    // Ignored beside a token, so it may be empty.
    schema: { type: 'string' },
    description: "The payment's id, in upper or lower case.",
    example: '01a1fbd7-b7b3-7002-be38-5df3e4ebf9f4',
  },
} as const satisfies RequestParameters;

export type StatusParameterName = keyof typeof statusParameters;
