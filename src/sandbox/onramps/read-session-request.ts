import { type Currency, isCurrency, parseAmountCents, parseUnits } from '../../domain/money.ts';
import { type Address, parsePayoutAddress } from '../../domain/payout-address.ts';

/** What a shop asks a simulated on-ramp for. */
export interface PriceRequest {
  readonly amountCents: number;
  readonly currency: Currency;
  readonly usdUnits: bigint;
}

export interface NewSession extends PriceRequest {
  readonly walletAddress: Address;
  readonly externalId: string;
  readonly email: string | null;
  readonly returnUrl: string;
}

/** A request that a real on-ramp would refuse as well: a parameter is missing, malformed or unknown. */
export class InvalidRequestError extends Error {
  override readonly name = 'InvalidRequestError';
}

const MAXIMUM_TEXT_LENGTH = 2_048;

type Fields = Readonly<Record<string, unknown>>;

function fieldsOf(value: unknown, known: readonly string[]): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new InvalidRequestError('the parameters are not an object');
  }
  for (const name of Object.keys(value)) {
    if (!known.includes(name)) throw new InvalidRequestError(`${name} is unknown`);
  }
  return value as Fields;
}

function textOf(fields: Fields, name: string): string {
  const value = fields[name];
  if (typeof value !== 'string' || value === '' || value.length > MAXIMUM_TEXT_LENGTH) {
    throw new InvalidRequestError(`${name} must be a text`);
  }
  return value;
}

function required<T>(name: string, value: T | null): T {
  if (value === null) throw new InvalidRequestError(`${name} is malformed`);
  return value;
}

const priceFields = ['amount', 'currency', 'usd_value'];
const sessionFields = [...priceFields, 'wallet_address', 'external_id', 'email', 'return_url'];

function readPrice(fields: Fields): PriceRequest {
  const currency = textOf(fields, 'currency');
  if (!isCurrency(currency)) throw new InvalidRequestError('currency is not supported');
  return {
    amountCents: required('amount', parseAmountCents(textOf(fields, 'amount'))),
    currency,
    usdUnits: required('usd_value', parseUnits(textOf(fields, 'usd_value'))),
  };
}

/** Where the page's "back" link leads: http(s) only, because it becomes a link. */
export function readReturnUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw new InvalidRequestError('return_url is malformed');
  return url.href;
}

/** The parameters of `GET /quote`. Throws `InvalidRequestError`. */
export function readQuoteRequest(query: unknown): PriceRequest {
  return readPrice(fieldsOf(query, priceFields));
}

/** The body of `POST /sessions`. Throws `InvalidRequestError`. */
export function readSessionRequest(body: unknown): NewSession {
  const fields = fieldsOf(body, sessionFields);
  return {
    ...readPrice(fields),
    walletAddress: required('wallet_address', parsePayoutAddress(fields['wallet_address'])),
    externalId: textOf(fields, 'external_id'),
    email: fields['email'] === null || fields['email'] === undefined ? null : textOf(fields, 'email'),
    returnUrl: readReturnUrl(textOf(fields, 'return_url')),
  };
}
