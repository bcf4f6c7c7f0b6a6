import type { Account } from '../../accounts/account.ts';
import { displayStatuses } from '../../payment/display-status.ts';
import { invalidField } from '../../payment/errors.ts';
import { currencies } from '../../payment/money.ts';
import { amountMismatches, type PaymentId } from '../../payment/payment.ts';
import { isPaymentId } from '../../payment/payment-id.ts';
import type { PaymentQuery } from '../../payment/payment-search.ts';
import { type LocalMonth, monthOf } from '../../platform/time-zone.ts';
import {
  forwardStatuses,
  parsePaymentQuery,
  paymentProviders,
  paymentStatuses,
} from '../../reports/parse-payment-query.ts';
import {
  EXAMPLE_ID,
  type JsonSchema,
  type RequestParameter,
  type RequestParameters,
  TIME,
  word,
} from '../json-schema.ts';
import { type CreateParameters, createParameters } from '../parse-create-request.ts';
import { type QueryParameters, requireKnown } from '../request-input.ts';
import { type Expansion, expansions } from './merchant-schemas.ts';

export const MAXIMUM_PAGE = 100;
export const DEFAULT_PAGE = 50;
/** Maximum page size with expansion. It is lower, because each expanded payment needs a separate read. */
const MAXIMUM_EXPANDED_PAGE = 20;
const MAXIMUM_DAYS = 366;
export const DEFAULT_DAYS = 30;

interface QueryParameter<Value> extends RequestParameter {
  /** Parses a value. Throws `invalid_request`, naming the field. */
  readonly read: (text: string, name: string) => Value;
}

function optional<Value = string>(
  schema: JsonSchema,
  description: string,
  example: RequestParameter['example'],
  read: QueryParameter<Value>['read'] = (text) => text as Value,
): QueryParameter<Value> {
  return { schema, description, example, read };
}

export const required = (...parameter: Parameters<typeof optional<string>>) => ({
  ...optional(...parameter),
  isRequired: true as const,
});

export const nullable = (...parameter: Parameters<typeof optional<string>>) => ({
  ...optional(...parameter),
  isNullable: true,
});

/** Maximum of an integer without a format, because generated clients then assume 32 bits. */
const MAXIMUM_INT32 = 2 ** 31 - 1;

const wholeNumber = (minimum: number, maximum: number, description: string, example: number) =>
  optional(
    { type: 'integer', minimum, maximum, ...(maximum > MAXIMUM_INT32 && { format: 'int64' }) },
    description,
    example,
    (text, name) => {
      const number = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
      if (number >= minimum && number <= maximum) return number;
      throw invalidField(name, `must be a whole number from ${minimum} to ${maximum}`);
    },
  );

const TIME_PATTERN = '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+(Z|[+-][0-9]{2}:[0-9]{2})$';

const time = (description: string, example: string) =>
  optional({ type: 'string', pattern: TIME_PATTERN, ...TIME }, description, example, (text, name) => {
    const timeMs = new RegExp(TIME_PATTERN).test(text) ? Date.parse(text) : Number.NaN;
    if (!Number.isNaN(timeMs)) return timeMs;
    throw invalidField(name, 'must be a time like 2026-11-01T00:00:00Z');
  });

const expand = optional(
  { type: 'string', maxLength: 100 },
  `Parts to include, separated by commas: \`${expansions.join('`, `')}\`. In a list, with a \`limit\` of at most ${MAXIMUM_EXPANDED_PAGE}.`,
  'deposits,releases',
  (text): ReadonlySet<Expansion> => {
    const names = text.split(',').map((name) => expansions.find((expansion) => expansion === name));
    if (names.every((name) => name !== undefined)) return new Set(names);
    throw invalidField('expand', `must be a list of ${expansions.join(', ')}`);
  },
);

export const listParameters = {
  limit: wholeNumber(1, MAXIMUM_PAGE, `The length of the page. Default: ${DEFAULT_PAGE}.`, 50),
  before: optional(
    { type: 'string', format: 'uuid' },
    '`next` of the previous page.',
    EXAMPLE_ID,
    (text): PaymentId => {
      if (isPaymentId(text)) return text;
      throw invalidField('before', 'must be a payment id');
    },
  ),
  status: optional(word(paymentStatuses), 'Payments with this status.', 'paid'),
  forward_status: optional(word(forwardStatuses), 'Payments with this forward status.', 'completed'),
  provider: optional(word(paymentProviders), 'Payments created with this provider.', 'multi'),
  currency: optional(word(currencies), 'Payments in this currency.', 'EUR'),
  amount_mismatch: optional(
    word(amountMismatches),
    'Payments with this difference from the price.',
    'overpaid',
  ),
  display_status: optional(
    word(displayStatuses),
    'Payments with this status in the dashboard. `at_provider` and `declined` are unpaid payments, classified by their last session at a provider.',
    'at_provider',
  ),
  created_from: time('Payments created at this time or later, ISO 8601.', '2026-11-01T00:00:00Z'),
  created_before: time('Payments created before this time, ISO 8601.', '2026-12-01T00:00:00Z'),
  search: optional(
    { type: 'string', maxLength: 320 },
    'An id, short code, transaction hash, amount or email address, or words from the note or the reference.',
    'order 1042',
  ),
  reference: optional(
    { type: 'string', minLength: 1, maxLength: 200 },
    'Payments with exactly this reference.',
    'order_01JD7Z',
  ),
  expand,
};

export const paymentParameters = { expand };

export const eventParameters = {
  after: wholeNumber(
    0,
    Number.MAX_SAFE_INTEGER,
    'The number of the last event that you processed. Default: 0.',
    1_795_226_471_325,
  ),
  limit: wholeNumber(1, MAXIMUM_PAGE, `The length of the page. Default: ${MAXIMUM_PAGE}.`, 100),
};

export const auditParameters = {
  limit: wholeNumber(1, MAXIMUM_PAGE, `The length of the page. Default: ${DEFAULT_PAGE}.`, 50),
  before: wholeNumber(1, Number.MAX_SAFE_INTEGER, '`next` of the previous page.', 34),
  created_from: time('Entries of this time or later, ISO 8601.', '2026-11-01T00:00:00Z'),
  created_before: time('Entries before this time, ISO 8601.', '2026-12-01T00:00:00Z'),
};

export const dayParameters = {
  days: wholeNumber(1, MAXIMUM_DAYS, `The number of days up to today. Default: ${DEFAULT_DAYS}.`, 30),
};

export const journalParameters = {
  month: required(
    { type: 'string', pattern: '^[1-9][0-9]{3}-(0[1-9]|1[0-2])$' },
    "The month, in your account's time zone.",
    '2026-11',
  ),
};

const { address, callback, amount, currency, email, note } = createParameters;

const standIn = (parameter: RequestParameter, setting: string) => ({
  ...parameter,
  isRequired: false,
  isNullable: true,
  description: `${parameter.description} Default: the account's ${setting}.`,
});

/** Direct payment parameters. `address` and `callback` default to the account's settings, as in the dashboard. */
export const directParameters = {
  address: standIn(address, 'wallet'),
  callback: standIn(callback, 'callback URL'),
  amount,
  currency,
  email,
  note,
};

/** Completes a create request from the account. Throws `invalid_request` for unknown fields or a missing callback. */
export function completeParameters(
  body: Readonly<Record<string, unknown>>,
  known: RequestParameters,
  { wallet, defaultCallbackUrl }: Pick<Account, 'wallet' | 'defaultCallbackUrl'>,
): CreateParameters {
  requireKnown(body, known);
  const address = body['address'] ?? wallet;
  const callback = body['callback'] ?? defaultCallbackUrl;
  if (callback === null) throw invalidField('callback', 'is required');
  return { ...body, address, callback };
}

/** Parses query parameters. Throws `invalid_request` for unknown ones, because ignoring a filter widens the result. */
export function readQuery<Known extends Readonly<Record<string, QueryParameter<unknown>>>>(
  query: QueryParameters,
  known: Known,
): { readonly [Name in keyof Known]?: ReturnType<Known[Name]['read']> } {
  requireKnown(query, known);
  return Object.fromEntries(
    Object.entries(query).map(([name, text]) => [name, known[name]?.read(text, name)]),
  ) as never;
}

/** Parses a query for payments. Throws `invalid_request` if it is invalid or asks to expand too long a page. */
export function readListQuery(accountId: string, query: QueryParameters, nowMs: number) {
  const given = readQuery(query, listParameters);
  const {
    before = null,
    expand = new Set<Expansion>(),
    created_from: fromMs,
    created_before: beforeMs,
  } = given;
  const { limit = expand.size > 0 ? MAXIMUM_EXPANDED_PAGE : DEFAULT_PAGE } = given;
  if (expand.size > 0 && limit > MAXIMUM_EXPANDED_PAGE)
    throw invalidField('limit', `must be at most ${MAXIMUM_EXPANDED_PAGE} with expand`);
  const filters = {
    ...given,
    forwardStatus: given.forward_status ?? '',
    amountMismatch: given.amount_mismatch ?? '',
    displayStatus: given.display_status ?? '',
  };
  const paymentQuery: PaymentQuery = {
    ...parsePaymentQuery(accountId, filters, nowMs),
    ...(given.reference === undefined ? {} : { reference: given.reference }),
    ...(fromMs === undefined ? {} : { fromMs }),
    ...(beforeMs === undefined ? {} : { beforeMs }),
  };
  return { query: paymentQuery, before, limit, expand };
}

export function readMonth(query: QueryParameters, timeZone: string): LocalMonth {
  const month = monthOf(readQuery(query, journalParameters).month ?? '', timeZone);
  if (month === null) throw invalidField('month', 'must be a month like 2026-11');
  return month;
}
