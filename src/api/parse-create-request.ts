import type { IncomingHttpHeaders } from 'node:http';
import {
  type Address,
  HEX_ADDRESS_PATTERN,
  parsePayoutAddress,
  ZERO_ADDRESS_PATTERN,
} from '../payment/address.ts';
import { CALLBACK_MAX_CHARACTERS } from '../payment/callback-url.ts';
import type { CreatePaymentRequest } from '../payment/create-payment.ts';
import { invalidField } from '../payment/errors.ts';
import {
  AMOUNT_PATTERN,
  type Currency,
  currencies,
  isCurrency,
  MAXIMUM_AMOUNT_CENTS,
  MINIMUM_AMOUNT_CENTS,
  parseAmountCents,
} from '../payment/money.ts';
import { MULTI_PROVIDER, providerIds } from '../payment/provider-catalog.ts';
import type { CallbackGuard } from '../webhooks/delivery-types.ts';
import type { RequestParameter, RequestParameters } from './json-schema.ts';

const amountText = { type: 'string', pattern: AMOUNT_PATTERN } as const;

const domainLabel = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
/** Form of HTML's `<input type=email>`, or spaces alone. Excludes names, lists, quotes, line breaks and non-ASCII. */
const EMAIL_PATTERN = `^[^\\S\\r\\n]*(?:[A-Za-z0-9.!#$%&'*+/=?^_\`{|}~-]{1,64}@${domainLabel}(?:\\.${domainLabel})*)?[^\\S\\r\\n]*$`;

/** Parameters of a create request. `parseCreateRequest` also validates what a schema cannot express. */
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
        // `multipleOf: 0.01` is omitted, because validators that divide in binary would refuse 0.29.
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
    // No control characters, except newline, tab, and the carriage return before a newline from HTML text areas.
    schema: {
      type: 'string',
      minLength: 1,
      maxLength: 500,
      pattern: '^(?:[^\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f]|\\r\\n)*$',
    },
    description:
      'At most 500 characters. Included in the webhook and in the preview of the short link, and hidden from the checkout page. ' +
      'CRLF line breaks are stored as LF and count as one character. An empty note is refused: omit it, or send `null`.',
    example: 'Order 1001',
  },
} as const satisfies RequestParameters;

const visibleAscii = /^[\x21-\x7e]{1,255}$/;

export const idempotencyKeyParameter = {
  schema: { type: 'string', pattern: visibleAscii.source },
  description:
    'At most 255 visible ASCII characters, such as your order number. ' +
    'For 24 hours, a repeated create with the same key and parameters returns the first payment.',
  example: 'order-1001',
} as const satisfies RequestParameter;

/** Reads `Idempotency-Key`; null if absent. Throws `invalid_request`, even for repeated headers, which Node joins. */
export function readIdempotencyKey(headers: IncomingHttpHeaders): string | null {
  const key = headers['idempotency-key'];
  if (key === undefined) return null;
  if (typeof key !== 'string' || !visibleAscii.test(key)) {
    throw invalidField('Idempotency-Key', 'must be one header of 1 to 255 visible ASCII characters');
  }
  return key;
}

export const statusParameters = {
  ipn_token: {
    schema: { type: 'string', minLength: 1 },
    description:
      'The `ipn_token` of the payment. It takes precedence: if both are sent, `payment_id` is ignored.',
    example: 'ipn_fX52m501a1fbd7b7b37002be385df3e4ebf9f4',
  },
  payment_id: {
    // Accepts an empty id, because a token takes precedence.
    schema: { type: 'string' },
    description: "The payment's id, in upper or lower case.",
    example: '01a1fbd7-b7b3-7002-be38-5df3e4ebf9f4',
  },
} as const satisfies RequestParameters;

export type StatusParameterName = keyof typeof statusParameters;

/** Parameters as received: any value in JSON, only text in a query. */
export type CreateParameters = Readonly<Record<string, unknown>>;

/** Source of the parameters. A boolean is the text `true` or `false` in a query, and a boolean value in JSON. */
export type ParameterSource = 'json' | 'query';

const { currency, email, note, passFeeToCustomer, provider } = createParameters;
const emailForm = new RegExp(email.schema.pattern);
const noteForm = new RegExp(note.schema.pattern);

/** Parses a create request and ignores unknown parameters. Throws `invalid_request`. The callback is checked last. */
export async function parseCreateRequest(
  { callbacks }: Readonly<{ callbacks: CallbackGuard }>,
  parameters: CreateParameters,
  source: ParameterSource,
  idempotencyKey: string | null,
): Promise<CreatePaymentRequest & { readonly callbackUrl: string }> {
  const parsed = {
    payoutAddress: requireAddress(parameters['address']),
    amountCents: parseAmount(parameters['amount']),
    currency: parseCurrency(parameters['currency']),
    passFeeToCustomer: parsePassFee(parameters, source),
    provider: parseProvider(parameters['provider']),
    email: parseEmail(parameters['email']),
    note: parseNote(parameters['note']),
    idempotencyKey,
  };
  const callback = parameters['callback'];
  const refusal = await callbacks.refusalOf(callback);
  if (refusal !== null) throw invalidField('callback', refusal);
  // Only narrows the type, because the guard refuses anything but a string.
  if (typeof callback !== 'string') throw invalidField('callback', 'must be a string');
  return { ...parsed, callbackUrl: callback };
}

function requireAddress(value: unknown): Address {
  if (value === undefined || value === null) throw invalidField('address', 'is required');
  const address = parsePayoutAddress(value);
  if (address !== null) return address;
  throw invalidField(
    'address',
    'must be a non-zero Polygon address: 0x and 40 hex digits, with a valid checksum if the case is mixed',
  );
}

function parseAmount(value: unknown): number {
  if (value === undefined || value === null) throw invalidField('amount', 'is required');
  const cents = parseAmountCents(value);
  if (cents !== null) return cents;
  throw invalidField('amount', 'must be a decimal from 0.01 to 10000 with at most two decimals');
}

/** Parses a currency. Returns the default if it is absent, and throws `invalid_request` if it is unknown. */
export function parseCurrency(value: unknown): Currency {
  if (value === undefined || value === null) return currency.default;
  if (isCurrency(value)) return value;
  throw invalidField('currency', `must be one of ${currency.schema.enum.join(', ')}`);
}

function parsePassFee(parameters: CreateParameters, source: ParameterSource): boolean {
  const name = parseBoolean(parameters, 'passFeeToCustomer', source);
  const alias = parseBoolean(parameters, 'pass_fee_to_customer', source);
  if (name !== null && alias !== null && name !== alias) {
    throw invalidField('passFeeToCustomer', 'and pass_fee_to_customer must be equal');
  }
  return name ?? alias ?? passFeeToCustomer.default;
}

function parseBoolean(parameters: CreateParameters, name: string, source: ParameterSource): boolean | null {
  const value = parameters[name];
  if (value === undefined || value === null) return null;
  if (value === (source === 'json' ? true : 'true')) return true;
  if (value === (source === 'json' ? false : 'false')) return false;
  throw invalidField(name, 'must be true or false');
}

/** Parses a provider. Accepts any text, because the provider is validated after the account's features. */
function parseProvider(value: unknown): string {
  if (value === undefined || value === null) return provider.default;
  if (typeof value === 'string' && value !== '') return value;
  throw invalidField('provider', `must be "${provider.default}" or a provider id`);
}

function parseEmail(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== 'string') throw invalidField('email', 'must be a string');
  // Tests for line breaks before trimming, which would remove them at the ends.
  const trimmed = /[\r\n]/.test(value) ? value : value.trim();
  if (trimmed === '') return null;
  if (trimmed.length <= email.schema.maxLength && emailForm.test(trimmed)) return trimmed;
  if (/[^\0-\x7f]/.test(trimmed)) {
    throw invalidField(
      'email',
      'must be ASCII: internationalized addresses are not supported; write the domain in its xn-- form',
    );
  }
  throw invalidField('email', `must be one email address of at most ${email.schema.maxLength} characters`);
}

/** Parses a note and converts its line breaks to LF. Returns null if absent. Throws `invalid_request` if invalid. */
export function parseNote(sent: unknown): string | null {
  if (sent === undefined || sent === null) return null;
  if (typeof sent !== 'string') throw invalidField('note', 'must be a string');
  // Converts CRLF, which HTML text areas always send.
  const value = sent.replaceAll('\r\n', '\n');
  if (value === '') throw invalidField('note', 'must not be empty: omit it instead');
  const { maxLength } = note.schema;
  // Counts code points, because some take two UTF-16 units.
  if (value.length > maxLength && [...value].length > maxLength) {
    throw invalidField('note', `must be at most ${maxLength} characters long`);
  }
  if (!noteForm.test(sent)) {
    throw invalidField('note', 'must not contain control characters other than newline and tab');
  }
  if (!value.isWellFormed()) throw invalidField('note', 'must be valid Unicode text');
  return value;
}
