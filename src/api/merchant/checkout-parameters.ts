import { parseReturnUrl } from '../../accounts/shop-profile.ts';
import type { CreatePaymentRequest } from '../../payment/create-payment.ts';
import { invalidField } from '../../payment/errors.ts';
import { formatCents, parseAmountCents } from '../../payment/money.ts';
import type { LineItem } from '../../payment/payment.ts';
import { parseLine } from '../../payment/typed-input.ts';
import { createParameters } from '../parse-create-request.ts';
import { directParameters, nullable } from './merchant-parameters.ts';

const REFERENCE_CHARACTERS = 200;
const RETURN_URL_CHARACTERS = 2_048;
const MAXIMUM_METADATA = 20;
const metadataKey = /^[A-Za-z0-9_.-]{1,40}$/;
const VALUE_CHARACTERS = 500;
const MAXIMUM_ITEMS = 50;
const ITEM_NAME_CHARACTERS = 200;
const MAXIMUM_QUANTITY = 1_000_000;
const itemAmount = /^-?(0|[1-9][0-9]{0,5})(\.[0-9]{1,2})?$/;
/** Minimum time to pay, because a customer may spend that long at a provider. */
const MINIMUM_EXPIRY_SECONDS = 900;
/**
 * Text without control characters, except line breaks and tabs, and without marks that change the direction of other
 * text. The marks are literal, because Go does not support `\u` in a pattern.
 */
const TEXT_PATTERN = '^[^\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f\u202a-\u202e\u2066-\u2069]*$';
const plainText = new RegExp(TEXT_PATTERN);

const returnUrl = (when: string) =>
  nullable(
    { type: 'string', minLength: 1, maxLength: RETURN_URL_CHARACTERS },
    `Where the customer goes ${when}: \`https://\`, on a host that the account's owner saved under Settings, Return hosts. ` +
      'Host and port must be the same. `{payment_id}` in the path or query becomes the payment’s id.',
    'https://shop.example/orders/1001',
  );

const itemSchema = {
  title: 'NewLineItem',
  type: 'object',
  required: ['name', 'amount'],
  additionalProperties: false,
  properties: {
    name: { type: 'string', minLength: 1, maxLength: ITEM_NAME_CHARACTERS },
    quantity: { type: 'integer', minimum: 1, maximum: MAXIMUM_QUANTITY },
    amount: { type: 'string', pattern: itemAmount.source },
  },
};

/** Parameters of a checkout beyond those of `/api/v1/wallet`. */
const orderParameters = {
  reference: nullable(
    { type: 'string', minLength: 1, maxLength: REFERENCE_CHARACTERS, pattern: TEXT_PATTERN },
    `Your id of the order or session, at most ${REFERENCE_CHARACTERS} characters. Not interpreted, not shown to the customer, and not unique. ` +
      'Payments can be listed by it. Put no personal data into it: it is kept.',
    'order_01JD7Z',
  ),
  metadata: nullable(
    {
      type: 'object',
      maxProperties: MAXIMUM_METADATA,
      propertyNames: { pattern: metadataKey.source },
      additionalProperties: { type: 'string', maxLength: VALUE_CHARACTERS, pattern: TEXT_PATTERN },
    },
    `Your own values: at most ${MAXIMUM_METADATA} keys of at most 40 letters, digits, \`_\`, \`.\` and \`-\`, ` +
      `with texts of at most ${VALUE_CHARACTERS} characters. Not shown to the customer, and erased with the email address.`,
    { cart: 'cart_91' },
  ),
  items: nullable(
    { type: 'array', minItems: 1, maxItems: MAXIMUM_ITEMS, items: itemSchema },
    `What the customer buys, for the checkout and the receipt: 1 to ${MAXIMUM_ITEMS} lines. \`amount\` is that of the whole line, as text; ` +
      'a discount is negative. The amounts must add up to `amount`. `quantity` is 1 if absent.',
    [{ name: 'Tea, 100 g', quantity: 2, amount: '25.00' }],
  ),
  return_url: returnUrl('after the payment'),
  cancel_url: returnUrl('from a canceled or expired checkout (if absent, to `return_url`)'),
  expires_in_seconds: nullable(
    { type: 'integer', minimum: MINIMUM_EXPIRY_SECONDS },
    `Seconds until the checkout expires, from ${MINIMUM_EXPIRY_SECONDS} up to the service's default, which applies if absent. ` +
      'A customer who is at a provider at that time can still pay.',
    3_600,
  ),
};

const { address, callback } = directParameters;

/** Checkout parameters. `address` and `callback` default to the account's settings, as in the dashboard. */
export const checkoutParameters = { ...createParameters, address, callback, ...orderParameters };

type Body = Readonly<Record<string, unknown>>;

/** Parses the parameters of a platform's order. Throws `invalid_request`, naming the field and its rule. */
export function parseOrder(
  body: Body,
  expiryMs: number,
): Pick<CreatePaymentRequest, 'order' | 'expiresInMs'> {
  const { reference: sent, expires_in_seconds: seconds } = body;
  const reference = sent == null ? null : requireText('reference', sent, 1, REFERENCE_CHARACTERS);
  const metadata = parseMetadata(body['metadata']);
  const items = parseItems(body['items']);
  requireSum(items, parseAmountCents(body['amount']));
  const [returnUrl, cancelUrl] = [parseUrl(body, 'return_url'), parseUrl(body, 'cancel_url')];
  const hasDetails = items.length > 0 || returnUrl !== null || cancelUrl !== null;
  const orderDetails = hasDetails ? { items, returnUrl, cancelUrl } : null;
  const order = { reference, metadata, orderDetails };
  if (seconds == null) return { order };
  const maximum = expiryMs / 1_000;
  const count = requireWholeNumber('expires_in_seconds', seconds, MINIMUM_EXPIRY_SECONDS, maximum);
  return { order, expiresInMs: count * 1_000 };
}

function requireText(field: string, value: unknown, minimum: number, maximum: number): string {
  const text = typeof value === 'string' ? value : null;
  // Counts code points, because some take two UTF-16 units.
  const length = text === null || text.length > 2 * maximum ? Number.NaN : [...text].length;
  if (text !== null && length >= minimum && length <= maximum && text.isWellFormed() && plainText.test(text))
    return text;
  const rule = 'without control characters and direction marks';
  throw invalidField(field, `must be text of ${minimum} to ${maximum} characters, ${rule}`);
}

function parseMetadata(value: unknown): Readonly<Record<string, string>> | null {
  if (value == null) return null;
  const rule = `must be an object with at most ${MAXIMUM_METADATA} keys`;
  if (typeof value !== 'object' || Array.isArray(value)) throw invalidField('metadata', rule);
  const entries = Object.entries(value);
  if (entries.length > MAXIMUM_METADATA) throw invalidField('metadata', `${rule}, not ${entries.length}`);
  if (!entries.every(([key]) => metadataKey.test(key)))
    throw invalidField('metadata', 'must have keys of 1 to 40 letters, digits, _, . and -');
  const texts = entries.map(
    ([key, text]) => [key, requireText(`metadata.${key}`, text, 0, VALUE_CHARACTERS)] as const,
  );
  // Sorts the keys, because a repeated request may list them in another order.
  return texts.length === 0
    ? null
    : Object.fromEntries(texts.sort(([one], [other]) => (one < other ? -1 : 1)));
}

function parseItems(value: unknown): readonly LineItem[] {
  if (value == null) return [];
  if (!Array.isArray(value) || value.length === 0 || value.length > MAXIMUM_ITEMS)
    throw invalidField('items', `must be a list of 1 to ${MAXIMUM_ITEMS} items`);
  return value.map((item: unknown, index) => parseItem(item, `items[${index}]`));
}

function parseItem(item: unknown, field: string): LineItem {
  if (typeof item !== 'object' || item === null) throw invalidField(field, 'must be an object');
  const { name: sent, quantity = 1, amount, ...others } = item as Body;
  if (Object.keys(others).length > 0) throw invalidField(field, 'must have only name, quantity and amount');
  const name = parseLine(`${field}.name`, typeof sent === 'string' ? sent : '', ITEM_NAME_CHARACTERS);
  const count = requireWholeNumber(`${field}.quantity`, quantity, 1, MAXIMUM_QUANTITY);
  if (typeof amount !== 'string' || !itemAmount.test(amount))
    throw invalidField(`${field}.amount`, 'must be a decimal text such as "12.50"');
  return { name, quantity: count, amountCents: Math.round(Number(amount) * 100) };
}

/** @param amountCents null for an invalid amount, which is refused elsewhere */
function requireSum(items: readonly LineItem[], amountCents: number | null): void {
  if (items.length === 0 || amountCents === null) return;
  const sum = items.reduce((cents, item) => cents + item.amountCents, 0);
  if (sum === amountCents) return;
  const difference = `${formatCents(Math.abs(sum - amountCents))} ${sum > amountCents ? 'more' : 'less'}`;
  throw invalidField(
    'items',
    `must add up to ${formatCents(amountCents)}, the amount: they are ${difference}`,
  );
}

function parseUrl(body: Body, field: 'return_url' | 'cancel_url'): string | null {
  const value = body[field];
  if (value == null) return null;
  const url = typeof value === 'string' ? parseReturnUrl(value, field, RETURN_URL_CHARACTERS) : null;
  if (url !== null) return url;
  throw invalidField(field, 'must be an https address; omit it if there is none');
}

function requireWholeNumber(field: string, value: unknown, minimum: number, maximum: number): number {
  const number = typeof value === 'number' && Number.isInteger(value) ? value : Number.NaN;
  if (number >= minimum && number <= maximum) return number;
  throw invalidField(field, `must be a whole number from ${minimum} to ${maximum}`);
}
