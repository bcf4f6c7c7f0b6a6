import type { Account } from '../../domain/account.ts';
import { displayStatuses } from '../../domain/display-status.ts';
import { invalidField } from '../../domain/errors.ts';
import { currencies } from '../../domain/money.ts';
import { amountMismatches } from '../../domain/payment.ts';
import { isPaymentId, type PaymentId } from '../../domain/payment-id.ts';
import type { PaymentQuery } from '../../domain/payment-search.ts';
import {
  forwardStatuses,
  parsePaymentQuery,
  paymentProviders,
  paymentStatuses,
} from '../../payments/parse-payment-query.ts';
import { type LocalMonth, monthOf } from '../../platform/time-zone.ts';
import { createParameters } from '../api/create-parameters.ts';
import type { CreateParameters } from '../api/parse-create-request.ts';
import type { ParameterSchema, QueryParameters, RequestParameter } from '../api/request-input.ts';
import { type Expansion, expansions } from './merchant-schemas.ts';

const MAXIMUM_PAGE = 100;
const DEFAULT_PAGE = 50;
/** Each expanded payment is read on its own. */
const MAXIMUM_EXPANDED_PAGE = 20;
const MAXIMUM_DAYS = 366;
const DEFAULT_DAYS = 30;

function optional(schema: ParameterSchema, description: string, example: string | number): RequestParameter {
  return { isRequired: false, isNullable: false, schema, description, example };
}

export function required(schema: ParameterSchema, description: string, example: string): RequestParameter {
  return { ...optional(schema, description, example), isRequired: true };
}

const wholeNumber = (minimum: number, maximum: number) => ({ type: 'integer', minimum, maximum }) as const;
const oneOf = (values: readonly string[]): ParameterSchema => ({ type: 'string', enum: values });
const time = {
  type: 'string',
  pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+(Z|[+-][0-9]{2}:[0-9]{2})$',
} as const;

const limit = optional(wholeNumber(1, MAXIMUM_PAGE), `The length of the page. Default: ${DEFAULT_PAGE}.`, 50);
const expand = optional(
  { type: 'string', maxLength: 100 },
  `Parts to include, separated by commas: \`${expansions.join('`, `')}\`. In a list, with a \`limit\` of at most ${MAXIMUM_EXPANDED_PAGE}.`,
  'deposits,releases',
);

export const listParameters = {
  limit,
  before: optional(
    { type: 'string', format: 'uuid' },
    '`next` of the page before.',
    '01a1fbd7-b7b3-7002-be38-5df3e4ebf9f4',
  ),
  status: optional(oneOf(paymentStatuses), 'Payments with this status.', 'paid'),
  forward_status: optional(oneOf(forwardStatuses), 'Payments with this forward status.', 'completed'),
  provider: optional(oneOf(paymentProviders), 'Payments created with this provider.', 'multi'),
  currency: optional(oneOf(currencies), 'Payments in this currency.', 'EUR'),
  amount_mismatch: optional(
    oneOf(amountMismatches),
    'Payments with this difference to the price.',
    'overpaid',
  ),
  display_status: optional(
    oneOf(displayStatuses),
    'Payments with this status in the dashboard. `at_provider` and `declined` are unpaid, by the last session at a provider.',
    'at_provider',
  ),
  created_from: optional(time, 'Payments created at this time or later, ISO 8601.', '2026-11-01T00:00:00Z'),
  created_before: optional(time, 'Payments created before this time, ISO 8601.', '2026-12-01T00:00:00Z'),
  search: optional(
    { type: 'string', maxLength: 320 },
    'An id, a short code, a transaction, an amount, an e-mail address or words of the note.',
    'order 1042',
  ),
  expand,
} satisfies Record<string, RequestParameter>;

export const paymentParameters = { expand } satisfies Record<string, RequestParameter>;

export const eventParameters = {
  after: optional(
    wholeNumber(0, Number.MAX_SAFE_INTEGER),
    'The number of the last event that you processed. Default: 0.',
    41,
  ),
  limit: optional(wholeNumber(1, MAXIMUM_PAGE), `The length of the page. Default: ${MAXIMUM_PAGE}.`, 100),
} satisfies Record<string, RequestParameter>;

/** A shop exchanges the code of a connection with these. */
export const connectParameters = {
  code: required({ type: 'string', maxLength: 2_000 }, 'The `code` that came back to your shop.', 'pXk2…'),
  code_verifier: required(
    { type: 'string', pattern: '^[A-Za-z0-9._~-]{43,128}$' },
    'The secret whose SHA-256 is the `code_challenge`.',
    'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
  ),
  return: required(
    { type: 'string', maxLength: 500 },
    'The `return` of the connection, as the browser was sent here with it.',
    'https://shop.example/connected',
  ),
} satisfies Record<string, RequestParameter>;

export const dayParameters = {
  days: optional(
    wholeNumber(1, MAXIMUM_DAYS),
    `The number of days up to today. Default: ${DEFAULT_DAYS}.`,
    30,
  ),
} satisfies Record<string, RequestParameter>;

export const journalParameters = {
  month: required(
    { type: 'string', pattern: '^[1-9][0-9]{3}-(0[1-9]|1[0-2])$' },
    "The month, in your account's time zone.",
    '2026-11',
  ),
} satisfies Record<string, RequestParameter>;

const { amount, currency, email, note } = createParameters;

/** The account's settings stand in for the first two, as in the dashboard. */
export const directParameters = {
  address: {
    ...createParameters.address,
    isRequired: false,
    description: `${createParameters.address.description} Default: the account's wallet.`,
  },
  callback: {
    ...createParameters.callback,
    isRequired: false,
    description: `${createParameters.callback.description} Default: the account's callback URL.`,
  },
  amount,
  currency,
  email,
  note,
} satisfies Record<string, RequestParameter>;

/** The parameters of a create, with those of the account where they are absent. */
export function completeDirectParameters(
  body: Readonly<Record<string, unknown>>,
  { wallet, defaultCallbackUrl }: Pick<Account, 'wallet' | 'defaultCallbackUrl'>,
): CreateParameters {
  requireKnown(body, directParameters);
  const { address = wallet, callback = defaultCallbackUrl } = body;
  if (callback === null) throw invalidField('callback', 'is required');
  return { ...body, address, callback };
}

export interface ListRequest {
  readonly query: PaymentQuery;
  readonly before: PaymentId | null;
  readonly limit: number;
  readonly expand: ReadonlySet<Expansion>;
}

export function parseListRequest(accountId: string, query: QueryParameters, nowMs: number): ListRequest {
  requireKnown(query, listParameters);
  const { before } = query;
  if (before !== undefined && !isPaymentId(before)) throw invalidField('before', 'must be a payment id');
  const expand = parseExpand(query);
  const limit = parseNumber(
    query,
    'limit',
    1,
    MAXIMUM_PAGE,
    expand.size > 0 ? MAXIMUM_EXPANDED_PAGE : DEFAULT_PAGE,
  );
  if (expand.size > 0 && limit > MAXIMUM_EXPANDED_PAGE) {
    throw invalidField('limit', `must be at most ${MAXIMUM_EXPANDED_PAGE} with expand`);
  }
  const { status, forward_status: forwardStatus, provider, currency, search } = query;
  const { amount_mismatch: amountMismatch, display_status: displayStatus } = query;
  const given = { status, forwardStatus, provider, currency, amountMismatch, displayStatus, search };
  const text = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  return {
    query: {
      ...parsePaymentQuery(accountId, text, nowMs),
      ...parseTime(query, 'created_from', 'fromMs'),
      ...parseTime(query, 'created_before', 'beforeMs'),
    },
    before: before ?? null,
    limit,
    expand,
  };
}

export function parseExpandRequest(query: QueryParameters): ReadonlySet<Expansion> {
  requireKnown(query, paymentParameters);
  return parseExpand(query);
}

export function parseEventRequest(query: QueryParameters): {
  /** Null for the oldest event that is kept. */
  readonly after: number | null;
  readonly limit: number;
} {
  requireKnown(query, eventParameters);
  return {
    after: query['after'] === undefined ? null : parseNumber(query, 'after', 0, Number.MAX_SAFE_INTEGER, 0),
    limit: parseNumber(query, 'limit', 1, MAXIMUM_PAGE, MAXIMUM_PAGE),
  };
}

export function parseDayRequest(query: QueryParameters): number {
  requireKnown(query, dayParameters);
  return parseNumber(query, 'days', 1, MAXIMUM_DAYS, DEFAULT_DAYS);
}

export function parseJournalRequest(query: QueryParameters, timeZone: string): LocalMonth {
  requireKnown(query, journalParameters);
  const month = monthOf(query['month'] ?? '', timeZone);
  if (month === null) throw invalidField('month', 'must be a month like 2026-11');
  return month;
}

/** An unknown filter would silently answer with other payments than the caller means. */
function requireKnown(
  query: Readonly<Record<string, unknown>>,
  known: Readonly<Record<string, unknown>>,
): void {
  for (const name of Object.keys(query)) {
    if (Object.hasOwn(known, name)) continue;
    throw invalidField(/^[a-z_]{1,32}$/.test(name) ? name : 'A parameter', 'is not known here');
  }
}

function parseNumber(
  query: QueryParameters,
  name: string,
  least: number,
  most: number,
  absent: number,
): number {
  const text = query[name];
  if (text === undefined) return absent;
  const number = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (!(number >= least && number <= most)) {
    throw invalidField(name, `must be a whole number from ${least} to ${most}`);
  }
  return number;
}

function parseTime<Field extends string>(
  query: QueryParameters,
  name: string,
  field: Field,
): { [Key in Field]?: number } {
  const text = query[name];
  if (text === undefined) return {};
  const timeMs = new RegExp(time.pattern).test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(timeMs)) throw invalidField(name, 'must be a time like 2026-11-01T00:00:00Z');
  return { [field]: timeMs } as { [Key in Field]?: number };
}

function parseExpand({ expand: text }: QueryParameters): ReadonlySet<Expansion> {
  const asked = new Set<Expansion>();
  for (const name of text?.split(',') ?? []) {
    const known = expansions.find((expansion) => expansion === name);
    if (known === undefined) throw invalidField('expand', `must be a list of ${expansions.join(', ')}`);
    asked.add(known);
  }
  return asked;
}
