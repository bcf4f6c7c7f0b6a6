import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { RecordStore } from '../../accounts/account-store.ts';
import type { AuditAction } from '../../accounts/audit-entry.ts';
import type { PasskeyContext } from '../../accounts/passkeys.ts';
import { requireOwnPassword } from '../../accounts/password-links.ts';
import { type Actor, recordAction, recordForUser } from '../../accounts/people-context.ts';
import type { Role } from '../../accounts/person.ts';
import type { SessionArea } from '../../accounts/session-lifetimes.ts';
import type { Caller, ChosenAccount, ShowOnceContext, SignedIn } from '../../accounts/sessions.ts';
import type { EmailStore, Mailer } from '../../mail/mail.ts';
import type { Address } from '../../payment/address.ts';
import type { CreatePaymentContext } from '../../payment/create-payment.ts';
import type { IpnTokens } from '../../payment/ipn-token.ts';
import type { PaymentSearchStore } from '../../payment/payment-search-store.ts';
import type { PaymentStore } from '../../payment/payment-store.ts';
import type { Pictures } from '../../platform/pictures.ts';
import type { SecretBox } from '../../platform/secret-box.ts';
import type { ProviderDirectory } from '../../providers/provider-availability.ts';
import type { AddedColumns } from '../../reports/export-payments.ts';
import type { ObservationStore } from '../../settlement/settlement-store.ts';
import type { CallbackGuard, CheckEndpoint } from '../../webhooks/delivery-types.ts';
import type { WebhookStore } from '../../webhooks/send-webhook.ts';
import { readCookie, setCookie } from '../cookies.ts';
import { addressGroupOf } from '../rate-windows.ts';
import type { RefusedForm } from './forms.ts';
import type { DashboardLimits } from './sign-in-limits.ts';

export const failedSteps = ['password', 'second_factor'] as const;

export interface AreaContext extends PasskeyContext, ShowOnceContext {
  /** Secret box that encrypts the marks of known browsers. */
  readonly browsers: SecretBox;
  readonly mailer: Mailer | null;
  readonly limits: DashboardLimits;
  readonly observeFailure: (step: (typeof failedSteps)[number]) => void;
  /** Base URL of the area's server without a trailing slash. */
  readonly baseUrl: string;
  /** Whether to show the banner that no real money moves. */
  readonly isTestMode: boolean;
}

/** Origin of a payment other than a shop's checkout. `role` is the lowest role that may open the origin's page. */
export interface PaymentOrigin {
  readonly label: string;
  readonly path: string;
  readonly role: Role;
  readonly title: string;
  /** Customer's answer on the origin's page, which is personal data. */
  readonly answer: string | null;
}

type ReadOfPayments<Value> = (
  accountId: string,
  paymentIds: readonly string[],
) => Promise<ReadonlyMap<string, Value>>;

export interface DashboardContext extends AreaContext {
  readonly payments: PaymentStore;
  readonly search: PaymentSearchStore;
  readonly records: RecordStore;
  readonly webhooks: Pick<WebhookStore, 'listWebhooks'>;
  readonly emails: Pick<EmailStore, 'eraseEmail' | 'eraseReceiptAddress'>;
  readonly observations: Pick<ObservationStore, 'readCursor' | 'listEntriesOf'>;
  readonly tokens: IpnTokens;
  readonly signingSecrets: SecretBox;
  /** Context of checkouts that members create by hand, under the API's rules. */
  readonly create: CreatePaymentContext;
  readonly directory: ProviderDirectory;
  readonly callbacks: CallbackGuard;
  readonly pictures: Pictures;
  readonly checkEndpoint: CheckEndpoint;
  readonly token: Address;
  readonly explorerTransactionUrl: (transactionHash: string) => string | null;
  /** Reads the origins of an account's payments by payment id. Omits payments without an origin. */
  readonly readOrigins: ReadOfPayments<PaymentOrigin>;
  /** Reads the amounts returned to customers in 10⁻⁶ USDC by payment id. Omits payments without a return. */
  readonly readReturned: ReadOfPayments<bigint>;
  readonly columns: readonly AddedColumns[];
  readonly paymentHints: PaymentHints;
}

/** Texts that a feature adds to the pages of a payment. */
export interface PaymentHints {
  /** Link to the form that returns a surplus: path relative to the payment's page, and text. */
  readonly surplus: readonly [place: string, words: string];
  readonly overpaid: string;
  readonly overpaidForOperator: string;
  readonly evidence: string;
  /** Hint for the field where the merchant notes how a payment was settled. */
  readonly settled: string;
}

export interface AreaRoutes<Context extends AreaContext = AreaContext> {
  /** Fastify scope of the area's path. */
  readonly server: FastifyInstance;
  readonly context: Context;
  readonly cookies: Cookies;
  readonly area: Area;
  /** Whether users must set up a second factor before opening other pages. */
  readonly isSecondFactorRequired: boolean;
}

/** Request to an area, before the sender is identified. */
export interface AreaRequest<Context extends AreaContext = AreaContext> extends AreaRoutes<Context> {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly params: Readonly<Record<string, string>>;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly refused?: RefusedForm;
}

export const DASHBOARD_PATH = '/dashboard';

export interface Area {
  readonly name: Exclude<SessionArea, 'viewing'>;
  readonly path: '/dashboard' | '/operator';
  readonly signInTitle: string;
  /** Contact for users who cannot sign in. */
  readonly help: string;
}

export const dashboardArea: Area = {
  name: 'dashboard',
  path: DASHBOARD_PATH,
  signInTitle: 'Sign in',
  help: 'Ask the operator of this service',
};

export interface AreaVisit<Context extends AreaContext = AreaContext> extends SignedIn, AreaRequest<Context> {
  readonly actor: Actor;
  readonly timeZone: string;
  /** Creates the challenge that all passkey forms of the page share. The first submitted form consumes it. */
  readonly challenge: () => Promise<Uint8Array<ArrayBuffer>>;
}

export interface Visit extends AreaVisit<DashboardContext>, ChosenAccount {
  /** Expiry of an operator's view of the account and the path that ends the view; null for a member. */
  readonly viewing: { readonly untilMs: number; readonly stopPath: string } | null;
}

export function record({ context, account, actor }: Visit, action: AuditAction, target?: string) {
  return recordAction(context, account.id, actor, action, target);
}

export type Admission<AnyVisit> = { readonly visit: AnyVisit } | { readonly answered: FastifyReply };

/** `challenge`: passkey challenge before sign-in. `browser`: mark of a known browser. `viewing`: operator's view. */
type CookieName = 'session' | 'challenge' | 'browser' | 'viewing';

export type Cookies = ReturnType<typeof createCookies>;

/**
 * Creates HttpOnly cookies of this host. Over HTTPS, `__Host-` keeps other hosts from setting them. `prefix`
 * distinguishes the areas, because browsers do not separate cookies by port.
 */
export function createCookies(baseUrl: string, prefix: 'card_checkout' | 'card_checkout_operator') {
  const isSecure = baseUrl.startsWith('https:');
  const nameOf = (name: CookieName) => `${isSecure ? '__Host-' : ''}${prefix}_${name}`;
  const scope = { path: '/', isSecure };
  return {
    /** Returns null if missing or repeated. Another host of the same site may have set a repeated cookie. */
    read: (headers: IncomingHttpHeaders, name: CookieName) => readCookie(headers, nameOf(name)),
    set(reply: FastifyReply, name: CookieName, value: string, lifetimeMs?: number): void {
      const lifetimeSeconds = lifetimeMs === undefined ? undefined : Math.floor(lifetimeMs / 1000);
      setCookie(reply, nameOf(name), value, { ...scope, lifetimeSeconds });
    },
    remove: (reply: FastifyReply, name: CookieName) =>
      setCookie(reply, nameOf(name), '', { ...scope, lifetimeSeconds: 0 }),
  };
}

export function callerOf(request: FastifyRequest): Caller {
  return { address: addressGroupOf(request.ip), userAgent: request.headers['user-agent'] ?? '' };
}

export async function recordWrongFactor({ context, user, actor }: AreaVisit): Promise<void> {
  context.observeFailure('second_factor');
  await recordForUser(context, user, actor, 'second_factor.failed', null);
}

/** Throws a 400 for a wrong password, and records and counts the attempt. */
export async function requirePassword(visit: AreaVisit, password: string): Promise<void> {
  const { context } = visit;
  await requireOwnPassword(context, visit, password).catch((error: unknown) => {
    context.observeFailure('password');
    throw error;
  });
}
