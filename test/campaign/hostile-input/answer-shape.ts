import { errorTable } from '../../../src/domain/errors.ts';

/** An answer as it came, whatever carried it. */
export interface Answer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

const ERROR_TEXT_MAX_CHARACTERS = 300;

/** The Payment of the specification: each field with the test of its value. */
const paymentFields: Readonly<Record<string, (value: unknown) => boolean>> = {
  payment_id: isText,
  ipn_token: (value) => isText(value) && /^ipn_[\w-]{81}$/.test(String(value)),
  checkout_url: isUrl,
  short_code: isText,
  short_url: isUrl,
  callback_url: isText,
  address_in: isAddress,
  polygon_address_in: isAddress,
  payment_type: (value) => value === 'card',
  provider: isText,
  amount: isDecimal,
  original_amount: isDecimalOrNull,
  customer_fee_amount: isDecimalOrNull,
  pass_fee_to_customer: (value) => typeof value === 'boolean',
  fee_percent: (value) => typeof value === 'number',
  status: (value) => value === 'unpaid',
};

const statusFields: Readonly<Record<string, (value: unknown) => boolean>> = {
  payment_id: isText,
  status: (value) => ['unpaid', 'paid', 'canceled'].includes(String(value)),
  forward_status: isText,
  amount: isDecimal,
  original_amount: isDecimalOrNull,
  customer_fee_amount: isDecimalOrNull,
  pass_fee_to_customer: (value) => typeof value === 'boolean',
  currency: isText,
  coin: isText,
  value_coin: isDecimal,
  forwarded_amount: isDecimal,
  txid_in: (value) => value === null || isText(value),
  txid_out: (value) => value === null || isText(value),
  address_in: isAddress,
  paid_at: (value) => value === null || isText(value),
  created_at: isText,
};

/** What is wrong with the answer to a create; null when nothing is. */
export function faultOfCreate(answer: Answer): string | null {
  return answer.status === 200 ? faultOfFields(answer, paymentFields) : faultOfError(answer);
}

/** What is wrong with the answer to a status question; null when nothing is. */
export function faultOfStatus(answer: Answer): string | null {
  return answer.status === 200 ? faultOfFields(answer, statusFields) : faultOfError(answer);
}

/** What is wrong with an error: below 500, with a row in the error table, and nothing but `error` and `code`. */
export function faultOfError(answer: Answer): string | null {
  const { status, headers } = answer;
  if (status < 400 || status >= 500) return `status ${status}`;
  const fields = parseObject(answer.body);
  if (fields === null) return 'the error is no JSON object';
  const { error, code, ...rest } = fields;
  if (typeof error !== 'string' || error === '' || error.length > ERROR_TEXT_MAX_CHARACTERS)
    return 'no error text';
  if (Object.keys(rest).length > 0) return `fields of no error: ${Object.keys(rest)}`;
  const isKnown = Object.values(errorTable).some(
    (row) => row.status === status && row.code === (code ?? null),
  );
  if (!isKnown || code === null) return `no error has status ${status} and code ${String(code)}`;
  if (!String(headers['content-type']).startsWith('application/json')) return 'the error is not called JSON';
  return headers['x-content-type-options'] === 'nosniff' ? null : 'the type may be guessed';
}

function faultOfFields(
  answer: Answer,
  tests: Readonly<Record<string, (value: unknown) => boolean>>,
): string | null {
  const fields = parseObject(answer.body);
  if (fields === null) return 'the answer is no JSON object';
  const strange = Object.keys(fields).filter((name) => !Object.hasOwn(tests, name));
  if (strange.length > 0) return `unspecified fields: ${strange}`;
  for (const [name, isRight] of Object.entries(tests)) {
    if (!isRight(fields[name])) return `${name} is ${JSON.stringify(fields[name])}`;
  }
  return null;
}

/** The object in a JSON text, or null. */
export function parseObject(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

function isUrl(value: unknown): boolean {
  return typeof value === 'string' && URL.canParse(value);
}

function isAddress(value: unknown): boolean {
  return typeof value === 'string' && /^0x[0-9a-fA-F]{40}$/.test(value);
}

function isDecimal(value: unknown): boolean {
  return typeof value === 'string' && /^\d+\.\d+$/.test(value);
}

function isDecimalOrNull(value: unknown): boolean {
  return value === null || isDecimal(value);
}
