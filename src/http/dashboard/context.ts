import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { SecondFactorContext } from '../../accounts/second-factor.ts';
import type { ShowOnceContext } from '../../accounts/show-once.ts';
import type { IpnTokens } from '../../domain/ipn-token.ts';
import type { Address } from '../../domain/payout-address.ts';
import type { CallbackGuard } from '../../domain/ports/callback-guard.ts';
import type { EmailStore } from '../../domain/ports/email-store.ts';
import type { LedgerStore } from '../../domain/ports/ledger-store.ts';
import type { Mailer } from '../../domain/ports/mailer.ts';
import type { PaymentSearchStore } from '../../domain/ports/payment-search-store.ts';
import type { PaymentStore } from '../../domain/ports/payment-store.ts';
import type { RateLimiter } from '../../domain/ports/rate-limiter.ts';
import type { WebhookStore } from '../../domain/ports/webhook-store.ts';
import type { SecretBox } from '../../domain/secret-box.ts';
import type { CreatePaymentContext } from '../../payments/create-payment.ts';
import type { Area } from './area.ts';
import type { Cookies } from './cookies.ts';
import type { Section } from './sections.ts';
import type { Entry } from './visit.ts';

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
  readonly ledger: Pick<LedgerStore, 'readCursor'>;
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
