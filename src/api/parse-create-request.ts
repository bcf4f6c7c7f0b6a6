import type { Address } from '../payment/address.ts';
import type { CreatePaymentRequest } from '../payment/create-checks.ts';
import { invalidField } from '../payment/errors.ts';
import { type Currency, isCurrency, parseAmountCents } from '../payment/money.ts';
import type { CallbackGuard } from '../webhooks/callback-guard.ts';
import { createParameters } from './create-parameters.ts';

/** Parameters as received: any value in JSON, only text in a query. */
export type CreateParameters = Readonly<Record<string, unknown>>;

/** Source of the parameters. A query has words for booleans; JSON must have real ones. */
export type ParameterSource = 'json' | 'query';

const { currency, email, note, passFeeToCustomer, provider } = createParameters;
const emailForm = new RegExp(email.schema.pattern);
const noteForm = new RegExp(note.schema.pattern);

export interface ParseCreateContext {
  readonly callbacks: CallbackGuard;
  /** The checksummed address; null for an invalid payout address. */
  readonly parsePayoutAddress: (value: unknown) => Address | null;
}

/**
 * Validates a create request in JSON or a query. Ignores unknown parameters. Throws `invalid_request`, naming the field
 * and its rule. Checks the callback last, because it may need a DNS lookup, which is usually cached.
 */
export async function parseCreateRequest(
  { callbacks, parsePayoutAddress }: ParseCreateContext,
  parameters: CreateParameters,
  source: ParameterSource,
  idempotencyKey: string | null,
): Promise<CreatePaymentRequest & { readonly callbackUrl: string }> {
  const parsed = {
    payoutAddress: requireAddress(parameters['address'], parsePayoutAddress),
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
  if (typeof callback !== 'string') throw invalidField('callback', 'must be a string');
  return { ...parsed, callbackUrl: callback };
}

function requireAddress(value: unknown, parse: ParseCreateContext['parsePayoutAddress']): Address {
  if (value === undefined || value === null) throw invalidField('address', 'is required');
  const address = parse(value);
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

/** Parses a currency, with a default. Throws `invalid_request`. */
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

/** Accepts any text: the provider is validated after the account's features. */
function parseProvider(value: unknown): string {
  if (value === undefined || value === null) return provider.default;
  if (typeof value === 'string' && value !== '') return value;
  throw invalidField('provider', `must be "${provider.default}" or a provider id`);
}

function parseEmail(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== 'string') throw invalidField('email', 'must be a string');
  // Checks for line breaks before trimming, which would hide them.
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

/** A note with LF line breaks; null without one. Throws `invalid_request`. */
export function parseNote(sent: unknown): string | null {
  if (sent === undefined || sent === null) return null;
  if (typeof sent !== 'string') throw invalidField('note', 'must be a string');
  // HTML text areas always send CRLF.
  const value = sent.replaceAll('\r\n', '\n');
  if (value === '') throw invalidField('note', 'must not be empty: omit it instead');
  const { maxLength } = note.schema;
  // Counts code points, which take one or two UTF-16 units each.
  if (value.length > maxLength && [...value].length > maxLength) {
    throw invalidField('note', `must be at most ${maxLength} characters long`);
  }
  if (!noteForm.test(sent)) {
    throw invalidField('note', 'must not contain control characters other than newline and tab');
  }
  if (!value.isWellFormed()) throw invalidField('note', 'must be valid Unicode text');
  return value;
}
