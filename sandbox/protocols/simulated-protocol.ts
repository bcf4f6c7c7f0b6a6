import { type BinaryToTextEncoding, createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { LRUCache } from 'lru-cache';
import { type Address, parsePayoutAddress } from '../../src/payment/address.ts';
import type { Currency } from '../../src/payment/money.ts';
import type { ProviderId } from '../../src/payment/provider-catalog.ts';
import type { ProviderValues } from '../../src/providers/adapters/define-provider.ts';
import type { Order } from '../order-store.ts';

export type OrderEvent = 'accepted' | 'declined' | 'delivered' | 'failed';

/** Behaviors of real providers that differ between accounts or versions. */
export interface SimulatorMode {
  /** Refuses sessions without the customer's IP address, and serves pages only to that address. */
  readonly enforcesIp?: boolean;
  /** Signs webhooks with the newest signature only. */
  readonly signsNextVersion?: boolean;
  /** Country, or US state such as `US-NY`, in which the provider locates the customer. */
  readonly customerRegion?: string;
  /** Refuses the parameter that contains the customer's email address. */
  readonly refusesEmail?: boolean;
  /** Status in all webhooks, in the provider's terms. */
  readonly status?: string;
  /** Event name in webhooks, because the provider's guides spell one name in different ways. */
  readonly eventName?: string;
  /** Token contract to state in the catalog and in webhooks. */
  readonly tokenContract?: string;
  /** Answers with an HTML page and this status, like a proxy in front of the API. */
  readonly pageStatus?: number;
  /** Renames each field of the API's answers, sets it to null, or wraps its value in an object. */
  readonly changedShape?: 'renamed' | 'null' | 'wrapped';
}

export interface SimulatedWebhook {
  /** Target if it differs from the URL registered with the provider. */
  readonly url?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Purchase {
  readonly amount: string;
  readonly currency: string;
  readonly walletAddress: string;
  readonly externalId?: string | undefined;
  readonly email?: string | undefined;
  /** Null for a provider without a return link. */
  readonly returnUrl: string | undefined | null;
  /** Id of the order; generated if absent. */
  readonly id?: string;
  /** Delivery in 10⁻⁶ USDC if it differs from the priced one. */
  readonly quotedUnits?: bigint;
}

/** Dependencies of a simulated protocol. Methods that read a request may throw `RefusedRequestError`. */
export interface SimulatorContext {
  readonly provider: ProviderId;
  /** Credentials of the shop's account, against which its requests are checked. */
  readonly values: ProviderValues;
  /** Derives one of the on-ramp's secrets for a purpose: 32 bytes in hex. */
  readonly derive: (purpose: string) => string;
  /** Whether the context simulates a forger without the provider's secrets. `values` and `derive` are then made up. */
  readonly isImpostor: boolean;
  readonly nowMs: () => number;
  /** The shop's webhook URL; null if there is none. */
  readonly webhookUrl: string | null;
  readonly mode: () => SimulatorMode;
  /** Returns the contract of the token that the on-ramp claims to deliver. */
  readonly tokenContract: () => string;
  /** Returns the URL of this on-ramp, without a trailing slash. */
  readonly url: () => string;
  price(amount: string, currency: string): Promise<Price>;
  openOrder(purchase: Purchase): Promise<Order>;
  findOrder(id: unknown): Order | null;
  /** Redirects the customer to the page on which the order is paid. */
  showOrder(reply: FastifyReply, order: Order): FastifyReply;
}

export interface Price {
  readonly amountCents: number;
  readonly currency: Currency;
  /** Delivery in 10⁻⁶ USDC. */
  readonly quotedUnits: bigint;
  /** Value of the amount without fees, in 10⁻⁶ USDC. */
  readonly valueUnits: bigint;
  /** Fee included in the amount. */
  readonly feeCents: number;
}

/** Error for a request that a real on-ramp would also refuse. APIs return it in their own format, and pages show it. */
export class RefusedRequestError extends Error {
  override readonly name = 'RefusedRequestError';
  readonly status: number | null;

  /** @param status null for the on-ramp's status for invalid requests */
  constructor(message: string, status: number | null = null) {
    super(message);
    this.status = status;
  }
}

export function refuseUnless(
  condition: unknown,
  message: string,
  status: number | null = null,
): asserts condition {
  if (!condition) throw new RefusedRequestError(message, status);
}

/** Counterpart of an adapter, with the real provider's checks. Written independently of the adapter. */
export interface SimulatedProtocol {
  /** HTTP status for invalid requests. Default 400. */
  readonly invalidStatus?: number;
  /** Returns the body of an API refusal, in the real provider's format. */
  refusal(message: string, status: number): object;
  registerRoutes(server: FastifyInstance, simulator: SimulatorContext): void;
  /** Creates a webhook about an event at `atMs`, signed now. Returns null if this provider sends none. */
  webhookOf(
    simulator: SimulatorContext,
    order: Order,
    event: OrderEvent,
    atMs: number,
  ): SimulatedWebhook | null;
}

/** Creates links that open once, within their lifetime. They are kept in memory, so a restart drops them. */
export function createOneTimeLinks<Link extends { readonly orderId: string }>(lifetimeMs: number) {
  const links = new LRUCache<string, { readonly link: Link; readonly untilMs: number }>({ max: 1_000 });
  return {
    add(link: Link, { nowMs }: SimulatorContext): string {
      const token = randomBytes(18).toString('base64url');
      links.set(token, { link, untilMs: nowMs() + lifetimeMs });
      return token;
    },
    /** Shows a link's order and drops the link, unless `check` refuses the customer. */
    open(
      token: unknown,
      reply: FastifyReply,
      simulator: SimulatorContext,
      check: (link: Link) => void = () => {},
    ) {
      const { link, untilMs = 0 } = links.get(String(token)) ?? {};
      const order = untilMs > simulator.nowMs() ? simulator.findOrder(link?.orderId) : null;
      refuseUnless(link && order, 'This address was used already, or is over.', 410);
      check(link);
      links.delete(String(token));
      return simulator.showOrder(reply, order);
    },
  };
}

export function requireUsdcOnPolygon(coin: string, network: string, polygon = 'polygon'): void {
  refuseUnless(coin.toUpperCase() === 'USDC' && network === polygon, 'this is not sold here');
}

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

/** Reads required and optional parameters as text. Throws `RefusedRequestError` for missing, unknown or empty ones. */
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

/** Splits a JSON body into one numeric field and all others. Throws `RefusedRequestError` without a number. */
export function takeNumber(body: unknown, name: string): readonly [value: number, others: object] {
  const { [name]: value, ...others } = (body ?? {}) as Readonly<Record<string, unknown>>;
  refuseUnless(typeof value === 'number', `${name} must be a number`);
  return [value, others];
}

export function readWallet(text: string): Address {
  const address = parsePayoutAddress(text);
  refuseUnless(address, 'the wallet address is malformed');
  return address;
}

/** Reads the target of a page's return link. Throws `RefusedRequestError` unless it is http or https. */
export function readReturnUrl(text: string | undefined): string {
  const url = URL.parse(text ?? '');
  refuseUnless(
    url?.protocol === 'http:' || url?.protocol === 'https:',
    'the address that leads back is malformed',
  );
  return (url as URL).href;
}
