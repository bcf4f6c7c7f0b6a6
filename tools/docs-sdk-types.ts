/** Generates the types of both clients from the schemas of the OpenAPI document. */

import { bodyOf, type JsonSchema } from '../src/api/json-schema.ts';
import { listParameters } from '../src/api/merchant/merchant-parameters.ts';
import { apiDescription } from '../src/app/features.ts';

/** Name and description of a schema in the clients. */
const names: Readonly<Record<string, readonly [name: string, description: string]>> = {
  CreateCheckout: ['CheckoutRequest', 'The request that creates a checkout.'],
  Payment: ['Payment', 'A payment, as returned when it is created.'],
  PaymentStatus: ['PaymentStatus', 'The state of a payment.'],
  MerchantPayment: ['MerchantPayment', 'A payment of your account, as `/merchant/v1` shows it.'],
  CreateMerchantCheckout: ['MerchantCheckoutRequest', 'The request of a platform that creates a checkout.'],
  MerchantCheckout: ['MerchantCheckout', 'A checkout of a platform, as returned when it is created.'],
  CreateDirectPayment: ['DirectPaymentRequest', 'The request that creates a direct payment.'],
  DirectPayment: ['DirectPayment', 'A direct payment, as returned when it is created.'],
  MerchantPaymentList: ['MerchantPaymentPage', 'Payments, newest first.'],
  CreateRefund: ['RefundRequest', 'The request that opens a refund.'],
  Refund: ['Refund', 'A refund in USDC, which you transfer from your own wallet.'],
  RefundList: ['RefundList', 'Refunds of a payment, oldest first.'],
  MerchantEvents: ['MerchantEventPage', 'Events, in order.'],
  AuditLog: ['AuditLog', 'Who did what in your account, newest first.'],
  PaymentPaidEvent: ['PaymentPaidEvent', 'A payment is paid.'],
  PaymentForwardedEvent: ['PaymentForwardedEvent', 'The money of a direct payment was sent to your wallet.'],
  SettlementProof: [
    'SettlementPublication',
    '`/.well-known/card-checkout.json`: what anyone needs to prove where the money of a payment can go.',
  ],
};

const HEAD = `/** Requests, answers and events, under the names of the API. Generated from the schemas of the service. */

/** The currencies that a checkout can have. */
export type Currency = PaymentStatus['currency'];
/** One on-ramp, or \`multi\`: the customer chooses. */
export type Provider = Payment['provider'];
/** One entry of the account's event log. Numbers increase from each event to the next, but with gaps. */
export type MerchantEvent = MerchantEventPage['events'][number];
/** What an event says happened. Other types can be added: ignore those that you do not know. */
export type MerchantEventType = MerchantEvent['type'];
/** Every event that your callback receives. */
export type WebhookEvent = PaymentPaidEvent | PaymentForwardedEvent;
`;

/** The source text of `sdk/src/wire.ts`. */
export function sdkTypes(): string {
  const interfaces = Object.entries(names).map(([schema, [name, description]]) =>
    interfaceOf(name, description, apiDescription.schemas[schema] ?? {}),
  );
  const filter = 'The filter of a payment list, under the names of the API.';
  return [HEAD, ...interfaces, interfaceOf('PaymentListFilter', filter, bodyOf(listParameters))].join('\n');
}

const interfaceOf = (name: string, description: string, schema: JsonSchema) =>
  `/** ${description} */\nexport interface ${name} ${typeOf(schema, '')}\n`;

/** The keywords that the schemas use. */
interface Keywords {
  readonly $ref?: string;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly type?: string | readonly string[];
  readonly items?: JsonSchema;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
}

function typeOf(schema: JsonSchema, indent: string): string {
  const { $ref, enum: values, anyOf, type, items, required = [], properties } = schema as Keywords;
  if ($ref !== undefined) return names[$ref.split('/').at(-1) ?? '']?.[0] ?? 'unknown';
  const literals = values?.map((value) => JSON.stringify(value).replaceAll('"', "'"));
  if (literals !== undefined) return literals.join(' | ');
  if (anyOf !== undefined) return anyOf.map((each) => typeOf(each, indent)).join(' | ');
  const orNull = type?.includes('null') === true ? ' | null' : '';
  if (items !== undefined) return `ReadonlyArray<${typeOf(items, indent)}>${orNull}`;
  if (properties !== undefined) {
    const fields = Object.entries(properties).map(([name, field]) => {
      const comment = field['description'] === undefined ? '' : `${indent}  /** ${field['description']} */\n`;
      const mark = required.includes(name) ? '' : '?';
      return `${comment}${indent}  readonly ${name}${mark}: ${typeOf(field, `${indent}  `)};\n`;
    });
    return `{\n${fields.join('')}${indent}}`;
  }
  if (type === 'object' || type?.includes('object') === true)
    return `Readonly<Record<string, string>>${orNull}`;
  return [type]
    .flat()
    .map((name) => (name === 'integer' ? 'number' : name))
    .join(' | ');
}

const PYTHON_HEAD = `"""Answers and events, under the names of the API. Generated from the schemas of the service."""

from __future__ import annotations

from typing import TYPE_CHECKING, Dict, List, Literal, Optional, TypedDict, Union

if TYPE_CHECKING:
    from typing_extensions import NotRequired
`;

const pythonNames: Readonly<Record<string, string>> = {
  string: 'str',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
};

/** Source of `sdk-python/src/card_checkout/_types.py`: a class for each object, including nested ones. */
export function pythonTypes(): string {
  const classes = new Map<string, string>();
  for (const [schema, [name, description]] of Object.entries(names)) {
    if (!name.endsWith('Request'))
      defineClass(classes, name, description, apiDescription.schemas[schema] ?? {});
  }
  const webhook = '\n\nWebhookEvent = Union[PaymentPaidEvent, PaymentForwardedEvent]\n';
  return [PYTHON_HEAD, ...classes.values(), webhook].join('');
}

const pythonText = (text: string) => text.replaceAll('`', '``').replace(/\bnull\b/g, 'None');

function defineClass(
  classes: Map<string, string>,
  name: string,
  description: string,
  schema: JsonSchema,
): void {
  const { required = [], properties = {} } = schema as Keywords;
  const fields = Object.entries(properties).map(([field, own]) => {
    const inside = `${field.charAt(0).toUpperCase()}${field.slice(1)}`.replace(/ies$/, 'y').replace(/s$/, '');
    // `Event` would hide that of `threading` and `asyncio`.
    const named = inside.replace(/^Event$/, 'MerchantEvent').replace(/^Entry$/, 'AuditEntry');
    const type = pythonType(classes, named, own);
    const comment = own['description'] === undefined ? '' : `    #: ${pythonText(`${own['description']}`)}\n`;
    return `${comment}    ${field}: ${required.includes(field) ? type : `NotRequired[${type}]`}\n`;
  });
  const words = description === '' ? '' : `    """${pythonText(description)}"""\n\n`;
  classes.set(name, `\n\nclass ${name}(TypedDict):\n${words}${fields.join('')}`);
}

function pythonType(classes: Map<string, string>, name: string, schema: JsonSchema): string {
  const { $ref, enum: values = [], anyOf, type = '', items, properties } = schema as Keywords;
  if ($ref !== undefined) return typeOf(schema, '');
  if (anyOf !== undefined) return `Optional[${pythonType(classes, name, anyOf[0] ?? {})}]`;
  if (items !== undefined) return `List[${pythonType(classes, name, items)}]`;
  if (properties !== undefined) {
    defineClass(classes, name, '', schema);
    return name;
  }
  if (values.length === 1) return `Literal[${JSON.stringify(values[0])}]`;
  if (type === 'object') return 'Dict[str, str]';
  const [named = '', ...others] = [type].flat();
  return others.length === 0 ? `${pythonNames[named]}` : `Optional[${pythonNames[named]}]`;
}
