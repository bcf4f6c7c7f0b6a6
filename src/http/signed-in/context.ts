import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Actor } from '../../accounts/people-context.ts';
import type { SecondFactorContext } from '../../accounts/second-factor.ts';
import type { Caller, ChosenAccount, SignedIn } from '../../accounts/sessions.ts';
import type { ShowOnceContext } from '../../accounts/show-once.ts';
import type { SessionArea } from '../../domain/dashboard-session.ts';
import type { IpnTokens } from '../../domain/ipn-token.ts';
import type { Address } from '../../domain/payout-address.ts';
import type { Role } from '../../domain/person.ts';
import type { CallbackGuard } from '../../domain/ports/callback-guard.ts';
import type { EmailStore, Mailer } from '../../domain/ports/mail.ts';
import type { PaymentSearchStore } from '../../domain/ports/payment-search-store.ts';
import type { PaymentStore } from '../../domain/ports/payment-store.ts';
import type { RateLimiter } from '../../domain/ports/rate-limiter.ts';
import type { ObservationStore, WebhookStore } from '../../domain/ports/settlement-store.ts';
import type { CreatePaymentContext } from '../../payments/create-payment.ts';
import type { SecretBox } from '../../platform/secret-box.ts';
import { addressGroupOf } from '../rate-limit.ts';

/** What signing in and out needs, to whatever area. */
export interface AreaContext extends SecondFactorContext {
  /** Seals the marks of browsers in which somebody has signed in. */
  readonly browsers: SecretBox;
  /** Null where no e-mail is configured. */
  readonly mailer: Mailer | null;
  readonly limits: DashboardLimits;
  /** The address of the area's server, without a slash at its end. */
  readonly baseUrl: string;
  /** The address of the dashboard, where passkeys are made. */
  readonly passkeyUrl: string;
  /** Shows the banner that no real money moves. */
  readonly isSandbox: boolean;
}

/** What the dashboard's pages need. A page that needs more adds it here. */
export interface DashboardContext extends AreaContext, ShowOnceContext {
  readonly payments: PaymentStore;
  readonly search: PaymentSearchStore;
  readonly webhooks: Pick<WebhookStore, 'listWebhooks'>;
  readonly emails: Pick<EmailStore, 'eraseEmail'>;
  readonly observations: Pick<ObservationStore, 'readCursor'>;
  readonly tokens: IpnTokens;
  /** For checkouts that are made by hand, under the same rules as the API's. */
  readonly create: CreatePaymentContext;
  readonly callbacks: CallbackGuard;
  /** The contract of USDC, which wallets send. */
  readonly token: Address;
  /** A transaction's page in an explorer of the chain, or null where there is none. */
  readonly explorerTransactionUrl: (transactionHash: string) => string | null;
}

/** One limiter for each kind of request. */
export interface DashboardLimits {
  /** Everything, by address. */
  readonly requests: RateLimiter;
  /** Tries to sign in, by address: many users' passwords from one place. */
  readonly signInsOfAddress: RateLimiter;
  /** Passwords given for one user, by the browser that is known, or else by the address they come from. */
  readonly signInsOfUser: RateLimiter;
  /** Tries to sign in, by user, from all browsers that are not known together: one user's password from many places. */
  readonly strangersOfUser: RateLimiter;
  /** E-mails with a link, by user. */
  readonly mailsOfUser: RateLimiter;
  /** Invitations by e-mail, by account. */
  readonly invitationsOfAccount: RateLimiter;
  /** Codes of the second factor, by user and by what was shown besides the password: there are only a million. */
  readonly codesOfUser: RateLimiter;
}

/** Where the pages of an area are registered. */
export interface AreaRoutes {
  /** The scope below the area's path. */
  readonly server: FastifyInstance;
  readonly context: AreaContext;
  readonly cookies: Cookies;
  readonly area: Area;
  /** Who has none has to set one up before anything else is shown. */
  readonly isSecondFactorRequired: boolean;
}

/** Where pages of the dashboard are registered (`dashboard-page.ts` says how). */
export interface DashboardRoutes extends AreaRoutes {
  readonly context: DashboardContext;
  /** Who is let in, and to which account. */
  readonly enter: (request: FastifyRequest, reply: FastifyReply) => Promise<Entry>;
  /** Sections that have a page. */
  readonly shown: Set<Section>;
}

/** The places of the dashboard, in the order of its navigation. */
export const sections = {
  overview: { label: 'Overview', path: '', role: 'viewer' },
  payments: { label: 'Payments', path: '/payments', role: 'viewer' },
  links: { label: 'Payment links', path: '/links', role: 'developer' },
  keys: { label: 'API keys', path: '/keys', role: 'developer' },
  settings: { label: 'Settings', path: '/settings', role: 'owner' },
  people: { label: 'People', path: '/people', role: 'owner' },
  sessions: { label: 'Sessions', path: '/sessions', role: 'viewer' },
  audit: { label: 'Audit log', path: '/audit', role: 'owner' },
} as const satisfies Record<string, { label: string; path: string; role: Role }>;

export type Section = keyof typeof sections;

/** All of the dashboard is below it. */
export const DASHBOARD_PATH = '/dashboard';

/** A place that people sign in to, each by a cookie and sessions of its own. */
export interface Area {
  readonly name: Exclude<SessionArea, 'viewing'>;
  /** All of its pages are below it. */
  readonly path: '/dashboard' | '/operator';
  /** Above the form to sign in. */
  readonly signInTitle: string;
  /** Who helps those who cannot sign in. */
  readonly help: string;
  /** The link by which somebody sets a forgotten password is sent here, where e-mail is configured. */
  readonly hasForgottenPage: boolean;
}

export const dashboardArea: Area = {
  name: 'dashboard',
  path: DASHBOARD_PATH,
  signInTitle: 'Sign in',
  help: 'Ask the operator of this service',
  hasForgottenPage: true,
};

/** One request of somebody who is signed in and has a right in an account. */
export interface Visit extends SignedIn, ChosenAccount {
  /** Who it is, for the audit log. */
  readonly actor: Actor;
  /** For every form of the page: `formTokenField(visit.formToken)`. */
  readonly formToken: string;
  /** The named parts of the path. */
  readonly params: Readonly<Record<string, string>>;
  /** What stands after `?`. */
  readonly query: URLSearchParams;
  /** In which times are shown. */
  readonly timeZone: string;
  /** An operator's look at somebody else's account: until when, and where it is ended; null for a member. */
  readonly viewing: { readonly untilMs: number; readonly stopPath: string } | null;
}

/** Who has come in, or the answer to who may not: first sign in, or there is nothing for you here. */
export type Entry = { readonly visit: Visit } | { readonly answered: FastifyReply };

/**
 * `session`: who is signed in. `visitor`: whose form it is, before anybody is. `browser`: that its user has signed in
 * with it before. `viewing`: which account an operator looks at.
 */
type CookieName = 'session' | 'visitor' | 'browser' | 'viewing';

/** The browser keeps them for itself, for this host alone and, unless they are to last longer, until it is closed. */
export interface Cookies {
  /** Null when there is none, or more than one: another host of the same site may have added its own. */
  read(headers: IncomingHttpHeaders, name: CookieName): string | null;
  set(reply: FastifyReply, name: CookieName, value: string, lifetimeMs?: number): void;
  remove(reply: FastifyReply, name: CookieName): void;
}

/**
 * Over HTTPS a cookie's name begins with `__Host-`, by which browsers promise that no other host has set it. Over plain
 * HTTP, which is served on loopback only, they would not take it.
 *
 * @param prefix tells the areas apart: a browser does not tell ports apart
 */
export function createCookies(baseUrl: string, prefix: 'card_checkout' | 'card_checkout_operator'): Cookies {
  const isSecure = baseUrl.startsWith('https:');
  const nameOf = (name: CookieName) => `${isSecure ? '__Host-' : ''}${prefix}_${name}`;
  const attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  return {
    read(headers, name) {
      const beginning = `${nameOf(name)}=`;
      const found = (headers.cookie ?? '')
        .split(';')
        .map((pair) => pair.trim())
        .filter((pair) => pair.startsWith(beginning));
      return found.length === 1 ? (found[0] as string).slice(beginning.length) : null;
    },
    set(reply, name, value, lifetimeMs) {
      const lasting = lifetimeMs === undefined ? '' : `; Max-Age=${Math.floor(lifetimeMs / 1000)}`;
      reply.header('set-cookie', `${nameOf(name)}=${value}; ${attributes}${lasting}`);
    },
    remove: (reply, name) => void reply.header('set-cookie', `${nameOf(name)}=; ${attributes}; Max-Age=0`),
  };
}

/** From where a request comes, as sessions keep it. */
export function callerOf(request: FastifyRequest): Caller {
  return { address: addressGroupOf(request.ip), userAgent: request.headers['user-agent'] ?? '' };
}
