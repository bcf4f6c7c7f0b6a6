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
  /** Refuses sessions without the customer's IP address, and opens pages only from it. */
  readonly enforcesIp?: boolean;
  /** Signs webhooks with the newest signature only. */
  readonly signsNextVersion?: boolean;
  /** Returns null for the fields that a session was locked to. */
  readonly echoesNull?: boolean;
  /** Serves quotes at its earlier path only, and answers this at the current one. */
  readonly earlierQuotes?: 400 | 404;
  /** Refuses sessions, because it does not serve the customer's country. */
  readonly refusesCountry?: boolean;
  /** Leaves sessions unlocked. */
  readonly isUnlocked?: boolean;
  /** Status of webhooks, in the provider's terms. */
  readonly status?: string;
  /** Names this contract in catalog and webhooks. */
  readonly tokenContract?: string;
  /** Answers with an HTML page and this status, like a proxy in front of the API. */
  readonly pageStatus?: number;
  /** Renames each field of the API's answers, or sets it to null or to an object with the value. */
  readonly changedShape?: 'renamed' | 'null' | 'wrapped';
}

export interface SimulatedWebhook {
  /** Target, if it differs from the URL registered with the provider. */
  readonly url?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Purchase {
  /** Amount as decimal text. */
  readonly amount: string;
  readonly currency: string;
  readonly walletAddress: string;
  readonly externalId?: string | undefined;
  readonly email?: string | undefined;
  /** Null at a provider without a return link. */
  readonly returnUrl: string | undefined | null;
  /** Id of the order; new if absent. */
  readonly id?: string;
  /** Delivery, 10⁻⁶ USDC, unless it is that of the amount. */
  readonly quotedUnits?: bigint;
}

/** Dependencies of every simulated on-ramp. Methods that read a request throw `RefusedRequestError`. */
export interface SimulatorContext {
  readonly provider: ProviderId;
  /** Credentials of the shop's account, against which its requests are checked. */
  readonly values: ProviderValues;
  /** A secret of the on-ramp for one purpose, 32 bytes in hex. */
  readonly derive: (purpose: string) => string;
  /** Whether it is a forger without the provider's secrets: `values` and `derive` are made up. */
  readonly isImpostor: boolean;
  readonly nowMs: () => number;
  /** The shop's webhook URL; null if there is none. */
  readonly webhookUrl: string | null;
  readonly mode: () => SimulatorMode;
  /** Contract of the token that it claims to deliver. */
  readonly tokenContract: () => string;
  /** Root of this on-ramp, without a trailing slash. */
  readonly url: () => string;
  /** Charge, and delivered amount in 10⁻⁶ USDC. */
  price(amount: string, currency: string): Promise<Price>;
  openOrder(purchase: Purchase): Promise<Order>;
  findOrder(id: unknown): Order | null;
  /** Redirects the customer to the page where the order is paid. */
  showOrder(reply: FastifyReply, order: Order): FastifyReply;
}

/** Charge and delivered amount of a purchase. */
export interface Price {
  readonly amountCents: number;
  readonly currency: Currency;
  /** In 10⁻⁶ USDC. */
  readonly quotedUnits: bigint;
  /** Value of the amount without any fee, 10⁻⁶ USDC. */
  readonly valueUnits: bigint;
}

/** A request that a real on-ramp would also refuse. Its API answers in its own format, its pages with a page. */
export class RefusedRequestError extends Error {
  override readonly name = 'RefusedRequestError';
  readonly status: number | null;

  /** @param status null for this on-ramp's status of invalid requests */
  constructor(message: string, status: number | null = null) {
    super(message);
    this.status = status;
  }
}

/** Throws `RefusedRequestError` unless the condition holds. */
export function refuseUnless(
  condition: unknown,
  message: string,
  status: number | null = null,
): asserts condition {
  if (!condition) throw new RefusedRequestError(message, status);
}

/** Counterpart of one adapter, with the checks of the real provider. Written without the adapter's source. */
export interface SimulatedProtocol {
  /** Status of an invalid request. Default: 400. */
  readonly invalidStatus?: number;
  /** Body of a refusal by the API, in the real provider's format. */
  refusal(message: string, status: number): object;
  registerRoutes(server: FastifyInstance, simulator: SimulatorContext): void;
  /** Webhook about an event at `atMs`, signed now. Null if this provider sends none. */
  webhookOf(
    simulator: SimulatorContext,
    order: Order,
    event: OrderEvent,
    atMs: number,
  ): SimulatedWebhook | null;
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

/** Required and optional parameters and no others, all as text. Throws `RefusedRequestError`. */
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

/** Splits a JSON body into one numeric field and the others. Throws `RefusedRequestError`. */
export function takeNumber(body: unknown, name: string): readonly [value: number, others: object] {
  const { [name]: value, ...others } = (body ?? {}) as Readonly<Record<string, unknown>>;
  refuseUnless(typeof value === 'number', `${name} must be a number`);
  return [value, others];
}

/** Wallet of a customer's purchase. Throws `RefusedRequestError`. */
export function readWallet(text: string): Address {
  const address = parsePayoutAddress(text);
  refuseUnless(address, 'the wallet address is malformed');
  return address;
}

/** Target of a page's return link: http(s) only. Throws `RefusedRequestError`. */
export function readReturnUrl(text: string | undefined): string {
  const url = URL.parse(text ?? '');
  refuseUnless(
    url?.protocol === 'http:' || url?.protocol === 'https:',
    'the address that leads back is malformed',
  );
  return (url as URL).href;
}
