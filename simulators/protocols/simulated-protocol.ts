import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { type Currency, isCurrency, parseAmountCents } from '../../src/domain/money.ts';
import type { ProviderId } from '../../src/domain/provider-catalog.ts';
import type { ProviderValues } from '../../src/providers/define-provider.ts';
import { InvalidRequestError } from '../invalid-request.ts';
import type { Order } from '../order-store.ts';
import type { NewOrder } from '../pay-order.ts';

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
  /** The API answers 429, with a page and this `Retry-After`. */
  readonly busySeconds?: number;
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

/** Dependencies of every simulated on-ramp. */
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
  /** The contract of the token that it delivers. */
  readonly usdc: string;
  readonly mode: () => SimulatorMode;
  /** Root of this on-ramp, without a slash at its end. */
  readonly url: () => string;
  /** The delivered amount, 10⁻⁶ units; zero when the fee takes it all. */
  quoteUnits(amountCents: number, currency: Currency): Promise<bigint>;
  openOrder(order: Omit<NewOrder, 'provider'>): Order;
  findOrder(id: string): Order | null;
  /** Redirects the customer to the page where the order is paid. */
  showOrder(reply: FastifyReply, order: Order): FastifyReply;
  /** A page of this on-ramp for a customer who cannot be served. */
  refuseCustomer(reply: FastifyReply, status: number, reason: string): FastifyReply;
}

/** The form in which a provider's API refuses a request. */
export interface SimulatedRefusal {
  readonly status: number;
  readonly body: object;
}

/** The other side of one adapter: checks what the real provider would check. Written without the adapter's source. */
export interface SimulatedProtocol {
  /** The API's answer while the fault `refuse` is set, in the real provider's form. */
  readonly refusal: SimulatedRefusal;
  registerRoutes(server: FastifyInstance, simulator: SimulatorContext): void;
  /** The webhook about an event at `atMs`, signed now. Null if this provider sends none. */
  webhookOf(
    simulator: SimulatorContext,
    order: Order,
    event: OrderEvent,
    atMs: number,
  ): SimulatedWebhook | null;
}

/** Compares two secrets in constant time. */
export function isSame(given: string | undefined, expected: string | undefined): boolean {
  if (given === undefined || expected === undefined) return false;
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

/** Required and optional parameters, and no others, all as text. Throws `InvalidRequestError`. */
export function readParameters<Required extends string, Optional extends string>(
  fields: unknown,
  required: readonly Required[],
  optional: readonly Optional[],
): Readonly<Record<Required, string> & Partial<Record<Optional, string>>> {
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields))
    throw new InvalidRequestError('the parameters are not an object');
  const given = fields as Readonly<Record<string, unknown>>;
  const known: readonly string[] = [...required, ...optional];
  for (const [name, value] of Object.entries(given)) {
    if (!known.includes(name)) throw new InvalidRequestError(`${name} is unknown`);
    if (typeof value !== 'string' || value === '') throw new InvalidRequestError(`${name} must be a text`);
  }
  for (const name of required) {
    if (given[name] === undefined) throw new InvalidRequestError(`${name} is missing`);
  }
  return given as Record<Required, string> & Partial<Record<Optional, string>>;
}

/** Amount and currency of a charge. Throws `InvalidRequestError`. */
export function readCharge(amount: string, currency: string): { amountCents: number; currency: Currency } {
  const code = currency.toUpperCase();
  if (!isCurrency(code)) throw new InvalidRequestError('the currency is not supported');
  const amountCents = parseAmountCents(amount);
  if (amountCents === null) throw new InvalidRequestError('the amount is malformed');
  return { amountCents, currency: code };
}
