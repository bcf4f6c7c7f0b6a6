/* Console pages are registered as in the dashboard (`signed-in/pages.ts`), but only operators can open them. */

import type { FastifyInstance, FastifyRequest } from 'fastify';
import { SERVICE_LOG } from '../../accounts/audit-entry.ts';
import { hasSecondFactor } from '../../accounts/second-factor.ts';
import type { Address } from '../../payment/address.ts';
import { ServiceError } from '../../payment/errors.ts';
import type { PaymentId } from '../../payment/payment.ts';
import type { ProviderDescriptions } from '../../providers/provider.ts';
import type { ChainReader, Relayer } from '../../settlement/chain/chain.ts';
import type { RelayStore } from '../../settlement/settlement-store.ts';
import { type Html, html, navigationLink } from '../../web/design/html.ts';
import type { Page } from '../../web/design/page-style.ts';
import { enforceRateLimitFrom } from '../../web/rate-windows.ts';
import {
  type Admission,
  type Area,
  type AreaContext,
  type AreaRequest,
  type AreaRoutes,
  type AreaVisit,
  createCookies,
  type DashboardContext,
} from '../../web/signed-in/context.ts';
import { refusalBanner, requireTextUrl } from '../../web/signed-in/forms.ts';
import {
  dashboardStyleWith,
  type PageContent,
  sendSeeOther,
  signedInBody,
  wholePage,
} from '../../web/signed-in/layout.ts';
import { createPages, readOwnSession, toSignIn, visitOf } from '../../web/signed-in/pages.ts';

const style = dashboardStyleWith(new URL('./operator.css', import.meta.url));

function operatorLayout(
  { title, main, refused }: PageContent,
  visit: OperatorVisit,
  section: Section | null,
  incidents: number,
): Page {
  const links = Object.entries(sections).map(([name, { path, label }]) =>
    navigationLink(`${OPERATOR_PATH}${path}`, label, name === section),
  );
  return wholePage(
    `${incidents === 0 ? '' : `(${incidents}) `}Operator · ${title}`,
    visit.context,
    signedInBody(
      { title },
      html`<header class="bar operator">
<p class="shop">card-checkout <span class="tag">Operator</span></p>
<p class="who"><bdi>${visit.user.email}</bdi></p>
<form method="post" action="${OPERATOR_PATH}/sign-out"><button class="plain">Sign out</button></form>
</header>`,
      html`<nav aria-label="Console"><ul>${links}<li><a href="${visit.context.publicUrl}/docs">Documentation</a></li></ul></nav>`,
      html`${refusalBanner(refused)}${main}`,
    ),
    style,
  );
}

const pages = { second_factor: 'second-factor', set_up: 'set-up' } as const;

/** Admits signed-in operators; in live mode, only with a second factor. */
export async function admit<Context extends AreaContext>(
  asked: AreaRequest<Context>,
): Promise<Admission<AreaVisit<Context>>> {
  const own = await readOwnSession(asked);
  // An operator who has disabled the second factor since signing in must set it up again.
  const isUnproven =
    asked.isSecondFactorRequired &&
    own?.session.stage === 'open' &&
    !(await hasSecondFactor(asked.context, own.user));
  if (own === null || isUnproven) return toSignIn(asked);
  if (own.session.stage !== 'open') {
    return { answered: sendSeeOther(asked.reply, `${OPERATOR_PATH}/${pages[own.session.stage]}`) };
  }
  return { visit: visitOf(asked, own, 'UTC') };
}

/** Runs before each page of the admin server. Refuses untrusted plain HTTP, too many requests and NUL in URLs. */
export async function requireAdmission(
  { isTrustedPeer, limits }: OperatorContext,
  { socket, ip, url }: FastifyRequest,
): Promise<void> {
  if (!isTrustedPeer(socket.remoteAddress ?? '')) throw new ServiceError('https_required');
  await enforceRateLimitFrom(limits.requests, ip);
  requireTextUrl(url);
}

type Shared =
  | 'payments'
  | 'search'
  | 'observations'
  | 'callbacks'
  | 'pictures'
  | 'directory'
  | 'paymentHints';

export interface OperatorContext extends AreaContext, Pick<DashboardContext, Shared> {
  readonly relay: Pick<RelayStore, 'listOpenBatches'>;
  readonly monotonicMs: () => number;
  readonly providerDescriptions: ProviderDescriptions;
  readonly chain: Pick<ChainReader, 'withView' | 'listEndpoints'>;
  readonly relayers: readonly Pick<Relayer, 'address' | 'readGasBalance' | 'quoteFees' | 'signerFailure'>[];
  /** Sends a deposited token other than USDC to the merchant and resolves to the transaction hash. */
  readonly rescue: (id: PaymentId, token: Address) => Promise<string>;
  readonly publicUrl: string;
  /** Returns whether an IP address may use plain HTTP. From other addresses, a password would leak. */
  readonly isTrustedPeer: (address: string) => boolean;
}

export interface OperatorRoutes extends AreaRoutes<OperatorContext> {
  /** Registers pages of a section; null for pages outside all sections. */
  readonly pages: (section: Section | null) => ReturnType<typeof createPages<OperatorContext, OperatorVisit>>;
}

/** @param countIncidents counts incidents for the page titles */
export function operatorRoutesOf(
  server: FastifyInstance,
  context: OperatorContext,
  countIncidents: () => Promise<number>,
): OperatorRoutes {
  const routes: AreaRoutes<OperatorContext> = {
    server,
    context,
    cookies: createCookies(context.baseUrl, 'card_checkout_operator'),
    area: operatorArea,
    isSecondFactorRequired: !context.isTestMode,
  };
  return {
    ...routes,
    pages: (section) =>
      createPages<OperatorContext, OperatorVisit>(routes, {
        path: OPERATOR_PATH,
        admit,
        layout: async (content, visit) => operatorLayout(content, visit, section, await countIncidents()),
      }),
  };
}

export type OperatorVisit = AreaVisit<OperatorContext>;

const operatorArea: Area = {
  name: 'operator',
  path: '/operator',
  signInTitle: 'Operator’s console',
  help: 'Ask an operator with access to the command line',
};

export const OPERATOR_PATH = operatorArea.path;

const sections = {
  overview: { label: 'Overview', path: '' },
  accounts: { label: 'Accounts', path: '/accounts' },
  providers: { label: 'Providers', path: '/providers' },
  settlement: { label: 'Settlement', path: '/settlement' },
  webhooks: { label: 'Webhooks', path: '/webhooks' },
  audit: { label: 'Audit log', path: '/audit' },
} as const satisfies Record<string, { label: string; path: string }>;

type Section = keyof typeof sections;

/** Renders an account in a table, or the service for entries about all accounts. */
export function accountLink(id: string): Html {
  return id === SERVICE_LOG
    ? html`<span class="soft">the service</span>`
    : html`<a href="${OPERATOR_PATH}/accounts/${id}"><code class="small">${id}</code></a>`;
}

/** Renders a payment in a table by both ends of its id, because the whole id would fill half a phone. */
export function paymentLink(id: PaymentId): Html {
  return html`<a href="${OPERATOR_PATH}/payments/${id}" title="${id}"><code class="small">${id.slice(0, 8)}…${id.slice(-6)}</code></a>`;
}
