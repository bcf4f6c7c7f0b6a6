import { type BinaryToTextEncoding, createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { type Address, parsePayoutAddress } from '../../src/payment/address.ts';
import type { Currency } from '../../src/payment/money.ts';
import type { ProviderId } from '../../src/payment/provider-catalog.ts';
import type { ProviderValues } from '../../src/providers/adapters/define-provider.ts';
import type { Order } from '../order-store.ts';

/** A change of an order that its provider reports to the shop. */
export type OrderEvent = 'accepted' | 'declined' | 'delivered' | 'failed';

/** Behaviors of a real provider that differ between accounts and versions. */
export interface SimulatorMode {
  /** Sessions without the customer's IP address are refused, and pages open only from that address. */
  readonly enforcesIp?: boolean;
  /** Webhooks carry only the newest signature. */
  readonly signsNextVersion?: boolean;
  /** What a session was locked to is answered as null. */
  readonly echoesNull?: boolean;
  /** Sessions are not locked. */
  readonly isUnlocked?: boolean;
  /** The status of webhooks, in the provider's words. */
  readonly status?: string;
  /** Catalog and webhooks name this contract. */
  readonly tokenContract?: string;
  /** The API answers with an HTML page and this status, as a proxy in front of it does. */
  readonly pageStatus?: number;
  /** Each field of the API's answers has another name, or is null, or an object that holds the value. */
  readonly changedShape?: 'renamed' | 'null' | 'wrapped';
}

/** A webhook as it is posted. */
export interface SimulatedWebhook {
  /** The target, if it is not the address registered with the provider. */
  readonly url?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A purchase as a request names it. */
export interface Purchase {
  /** Decimal text. */
  readonly amount: string;
  readonly currency: string;
  readonly walletAddress: string;
  readonly externalId?: string | undefined;
  readonly email?: string | undefined;
  /** Null at a provider without a return link. */
  readonly returnUrl: string | undefined | null;
  /** The id of the order; a new one if none is given. */
  readonly id?: string;
}

/** Dependencies of every simulated on-ramp. Methods that read a request throw `RefusedRequestError`. */
export interface SimulatorContext {
  readonly provider: ProviderId;
  /** The credentials of the shop's account; the shop's requests are checked against them. */
  readonly values: ProviderValues;
  /** A secret of the on-ramp's own for one purpose, 32 bytes in hex. */
  readonly derive: (purpose: string) => string;
  /** A forger without the provider's secrets: `values` and `derive` are made up. */
  readonly isImpostor: boolean;
  readonly nowMs: () => number;
  /** The shop's webhook address; null for a shop without one. */
  readonly webhookUrl: string | null;
  readonly mode: () => SimulatorMode;
  /** The contract of the token that it says it delivers. */
  readonly tokenContract: () => string;
  /** Root of this on-ramp, without a slash at its end. */
  readonly url: () => string;
  /** Charge and delivered amount in 10⁻⁶ units. */
  price(amount: string, currency: string): Promise<Price>;
  openOrder(purchase: Purchase): Promise<Order>;
  /** An order of this on-ramp. */
  findOrder(id: unknown): Order | null;
  /** Redirects the customer to the page where the order is paid. */
  showOrder(reply: FastifyReply, order: Order): FastifyReply;
}

/** Charge and delivered amount of a purchase. */
export interface Price {
  readonly amountCents: number;
  readonly currency: Currency;
  /** 10⁻⁶ units. */
  readonly quotedUnits: bigint;
}

/** A request that a real on-ramp would refuse as well. Its API answers in its own form, its pages with a page. */
export class RefusedRequestError extends Error {
  override readonly name = 'RefusedRequestError';
  readonly status: number | null;

  /** @param status null for the one with which this on-ramp refuses invalid requests */
  constructor(message: string, status: number | null = null) {
    super(message);
    this.status = status;
  }
}

/** Throws `RefusedRequestError` unless the condition is met. */
export function refuseUnless(
  condition: unknown,
  message: string,
  status: number | null = null,
): asserts condition {
  if (!condition) throw new RefusedRequestError(message, status);
}

/** The other side of one adapter: checks what the real provider would check. Written without the adapter's source. */
export interface SimulatedProtocol {
  /** The status of an invalid request; 400 by default. */
  readonly invalidStatus?: number;
  /** The body with which the API refuses a request, in the real provider's form. */
  refusal(message: string, status: number): object;
  registerRoutes(server: FastifyInstance, simulator: SimulatorContext): void;
  /** The webhook about an event at `atMs`, signed now. Null if this provider sends none. */
  webhookOf(
    simulator: SimulatorContext,
    order: Order,
    event: OrderEvent,
    atMs: number,
  ): SimulatedWebhook | null;
}

/** The HMAC-SHA256 of a text. */
export function hmac(key: string | undefined, text: string, encoding: BinaryToTextEncoding = 'hex'): string {
  return createHmac('sha256', key ?? '')
    .update(text)
    .digest(encoding);
}

/** Compares two secrets in constant time. */
export function isSame(given: unknown, expected: string | undefined): boolean {
  if (typeof given !== 'string' || expected === undefined) return false;
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

/** Required and optional parameters, and no others, all as text. Throws `RefusedRequestError`. */
export function readParameters<Required extends string, Optional extends string = never>(
  fields: unknown,
  required: readonly Required[],
  optional: readonly Optional[] = [],
): Readonly<Record<Required, string> & Partial<Record<Optional, string>>> {
  refuseUnless(
    typeof fields === 'object' && fields !== null && !Array.isArray(fields),
    'the parameters are not an object',
  );
  const given = fields as Readonly<Record<string, unknown>>;
  const known: readonly string[] = [...required, ...optional];
  for (const [name, value] of Object.entries(given)) {
    refuseUnless(known.includes(name), `${name} is unknown`);
    refuseUnless(typeof value === 'string' && value !== '', `${name} must be a text`);
  }
  for (const name of required) refuseUnless(given[name] !== undefined, `${name} is missing`);
  return given as Record<Required, string> & Partial<Record<Optional, string>>;
}

/** The fields of a JSON body, one of them apart, which is a number. Throws `RefusedRequestError`. */
export function takeNumber(body: unknown, name: string): readonly [value: number, others: object] {
  const { [name]: value, ...others } = (body ?? {}) as Readonly<Record<string, unknown>>;
  refuseUnless(typeof value === 'number', `${name} must be a number`);
  return [value, others];
}

/** The wallet of a customer's purchase. Throws `RefusedRequestError`. */
export function readWallet(text: string): Address {
  const address = parsePayoutAddress(text);
  refuseUnless(address, 'the wallet address is malformed');
  return address;
}

/** The target of a page's link back: http(s) only, because it becomes a link. Throws `RefusedRequestError`. */
export function readReturnUrl(text: string | undefined): string {
  const url = URL.parse(text ?? '');
  refuseUnless(
    url?.protocol === 'http:' || url?.protocol === 'https:',
    'the address that leads back is malformed',
  );
  return (url as URL).href;
}
