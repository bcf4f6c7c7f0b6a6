import { randomUUID } from 'node:crypto';
import type { AccountStore } from '../accounts/account-store.ts';
import { canonicalEmail } from '../payment/checkout-url.ts';
import { HigherChargeError, ServiceError, stateConflict } from '../payment/errors.ts';
import { isDust, isPlausibleQuote, thresholdAfterSessions } from '../payment/fees-and-paid-threshold.ts';
import { formatCents, formatUnits } from '../payment/money.ts';
import type { Payment, PaymentId } from '../payment/payment.ts';
import { stateOf } from '../payment/payment-states.ts';
import type { PaymentStore, PaymentView } from '../payment/payment-store.ts';
import {
  MULTI_PROVIDER,
  namedMeans,
  type PaymentMeans,
  type ProviderId,
  providerCatalog,
} from '../payment/provider-catalog.ts';
import {
  isDelivering,
  MAXIMUM_ADDRESSES_PER_HOUR,
  MAXIMUM_SESSIONS_PER_HOUR,
  type ProviderSession,
} from '../payment/provider-session.ts';
import { type Charge, chargeOf } from '../payment/session-charge.ts';
import { settle, sumObservations } from '../payment/settle.ts';
import type { KeyedHash } from '../platform/keyed-hash.ts';
import { createTtlCache } from '../platform/ttl-cache.ts';
import type { TokenReader } from '../settlement/chain/chain.ts';
import type { Quotes } from './ask-quotes.ts';
import type { ProviderAdapter, StartedSession } from './provider.ts';
import {
  isEnabledFor,
  type ProviderDirectory,
  refusalOfDelivery,
  requireActive,
  requireAmount,
  throwRefusal,
} from './provider-availability.ts';

export interface StartSessionContext extends Readonly<{ payments: PaymentStore; accounts: AccountStore }> {
  readonly providers: ProviderDirectory;
  readonly quotes?: Pick<Quotes, 'note' | 'peek'>;
  readonly token: Pick<TokenReader, 'isBlocklisted'>;
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
  readonly checkoutPageUrl: (payment: Payment) => string;
  /** Hashes customers' IP addresses, because the addresses themselves are not stored. */
  readonly ipHash: KeyedHash;
  /** Creates the references by which providers recognize a returning customer. */
  readonly customerHash: Pick<KeyedHash, 'lasting'>;
}

export type StartSession = ReturnType<typeof createStartSession>;

export interface Visitor {
  /** ISO 3166-1 alpha-2 code; null or absent if unknown. */
  readonly country?: string | null;
  /** Code of a state in the United States; null or absent if unknown. */
  readonly state?: string | null;
  /** Public IP address in canonical form; null or absent if unknown. */
  readonly ip?: string | null;
  /** Payment means that the customer chose; null or absent for the provider's default. */
  readonly means?: PaymentMeans | null;
  /** ISO 639-1 code, stored for later emails. */
  readonly language?: string | null;
  /** Whether the customer knows the payment's email address. Otherwise, it is not sent to the provider. */
  readonly knowsEmail?: boolean;
  /** Total that the page shows if it is above the amount; otherwise 0 or absent. */
  readonly shownTotalCents?: number;
}

/** Lifetime of a cached blocklist check. Blocklists rarely change, and each release is simulated before it is sent. */
const BLOCKLIST_KEEP_MS = 30_000;
const MAXIMUM_KEPT_WALLETS = 10_000;
/** Maximum running session starts that concurrent clicks can share. */
const MAXIMUM_RUNNING = 10_000;

/** Maximum ratio of the provider's total to the total that the page shows, because rates move. */
const MOVEMENT_SHARE = 1.01;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** Minimum lifetime of a session, so that a provider's slow clock does not end it before the customer arrives. */
const MINIMUM_SESSION_MS = MINUTE_MS;
/** Maximum lifetime of a session, because an open session is reused and keeps its payment from being canceled. */
const MAXIMUM_SESSION_MS = 24 * HOUR_MS;

/** Starts or reuses a session. A customer's concurrent clicks share one start. Throws `ServiceError` if it fails. */
export function createStartSession(context: StartSessionContext) {
  const { monotonicMs } = context;
  const running = createTtlCache<ProviderSession>({
    monotonicMs,
    keepMs: 0,
    maximumEntries: MAXIMUM_RUNNING,
  });
  // Cached, so that visitors cannot cause unlimited calls to the chain.
  const answers = createTtlCache<boolean>({
    monotonicMs,
    keepMs: BLOCKLIST_KEEP_MS,
    maximumEntries: MAXIMUM_KEPT_WALLETS,
  });
  const token: StartSessionContext['token'] = {
    isBlocklisted: (address) => answers.fetchOrReuse(address, () => context.token.isBlocklisted(address)),
  };
  return (payment: Payment, provider: ProviderId, visitor: Visitor = {}): Promise<ProviderSession> => {
    const { country = null, state = null, ip = null, language = null } = visitor;
    const { knowsEmail = false, shownTotalCents = 0 } = visitor;
    const means = namedMeans(provider, visitor.means ?? null);
    // A customer who does not know the email address, or has another IP address, must not get someone else's session.
    const key = `${payment.id} ${provider} ${knowsEmail} ${ip ?? ''} ${means ?? ''} ${shownTotalCents}`;
    const choice = { provider, country, state, ip, means, language, knowsEmail, shownTotalCents };
    return running.fetchOrReuse(key, () => startSession({ ...context, token }, payment.id, choice));
  };
}

type SessionChoice = Required<Visitor> & { readonly provider: ProviderId };

async function startSession(
  context: StartSessionContext,
  id: PaymentId,
  { provider, country, state, ip, means, language, knowsEmail, shownTotalCents }: SessionChoice,
): Promise<ProviderSession> {
  const view = await context.payments.viewPayment(id);
  if (view === null) throw new ServiceError('payment_not_found');
  const { payment } = view;
  const nowMs = context.nowMs();
  const charge = chargeOf(view, sumObservations(view.observations).seenUnits);
  requireNothingUnderWay(view, charge, nowMs);
  const adapter = await requireServable(context, payment, charge, provider, { country, state });
  const email = knowsEmail ? payment.email : null;
  // Covers the IP address, the means and a higher total, so that a session with other values is not reused.
  const hashesOf = (totalCents: number) => {
    const higherTotal = totalCents > charge.amountCents ? totalCents : '';
    const bound = [ip ?? '', means ?? '', higherTotal].join(' ').trim();
    return bound === '' ? [] : context.ipHash.candidates(`${payment.id} ${bound}`);
  };
  const customer = { hasEmail: email !== null, ipHashes: hashesOf(shownTotalCents), means };
  const unused = adapter.opensOnce === true ? null : findUnused(view, charge, provider, customer, nowMs);
  if (unused === null) {
    if (nowMs >= (payment.deadlineMs ?? Number.POSITIVE_INFINITY))
      throw stateConflict('This checkout has expired. Your card was not charged.');
    requireRoom(view, customer, nowMs);
    if (adapter.needsCountry === true && country === null)
      throw new ServiceError(
        'invalid_request',
        `${providerCatalog[provider].name} needs your country, which is unknown. Your card was not charged.`,
      );
  }
  // Checked even for a reused session, because the customer would otherwise pay a shop that cannot receive the money.
  await requirePayable(context.token, payment);
  if (unused !== null) {
    // The provider may have become more expensive since the session started.
    const now = context.quotes?.peek(provider, charge, country, means, state);
    if (now?.kind === 'quoted') requireShownTotal(provider, charge, now.quote.chargedCents, shownTotalCents);
    return unused;
  }

  const request = {
    paymentId: payment.id,
    depositAddress: payment.depositAddress,
    amountCents: charge.amountCents,
    currency: charge.currency,
    usdUnits: charge.usdUnits,
    accountId: charge.accountId,
    email,
    customerReference:
      email === null
        ? payment.id
        : context.customerHash.lasting(`${payment.accountId} ${canonicalEmail(email)}`),
    returnUrl: context.checkoutPageUrl(payment),
    customerCountry: country,
    customerState: state,
    customerIp: ip,
    means,
  };
  const { chargedCents, ...started } = await adapter.startSession(request);
  requirePlausible(payment, charge, provider, started);
  context.quotes?.note(provider, request, { deliveryUnits: started.quotedUnits, chargedCents });
  throwRefusal(refusalOfDelivery(provider, started.quotedUnits, charge));
  requireShownTotal(provider, charge, chargedCents, shownTotalCents);
  const session: ProviderSession = {
    id: randomUUID(),
    paymentId: payment.id,
    provider,
    createdAtMs: nowMs,
    chargedCents: charge.amountCents,
    receivedUnits: charge.receivedUnits,
    ...started,
    expiresAtMs: Math.min(
      Math.max(started.expiresAtMs, nowMs + MINIMUM_SESSION_MS),
      nowMs + MAXIMUM_SESSION_MS,
    ),
    progress: null,
    progressAtMs: null,
    approvedAtMs: null,
    language,
    hasEmail: email !== null,
    // Hashes the provider's total, so that only a page that shows this total reuses the session.
    customerIpHash: hashesOf(chargedCents)[0] ?? null,
    customerCountry: country,
  };
  const current = await context.payments.addSession(session, (latest) => {
    // If the email address was erased during the call, the provider's link must not bring it back.
    if (payment.email !== latest.payment.email)
      throw stateConflict('This payment has just changed. Please try again.');
    // If enough arrived or the payment was canceled during the call, the session is recorded but changes nothing.
    // Otherwise, a sufficient amount could become insufficient.
    if (stateOf(latest.payment) !== 'unpaid/pending') return settle(latest, { nowMs });
    // The customer may pay in any of the sessions, so the session with the lowest delivery sets the threshold.
    const all = [...latest.sessions, session];
    const paidThresholdUnits = thresholdAfterSessions(
      latest.payment,
      all,
      latest.payment.toleranceBasisPoints,
    );
    return settle(latest, { nowMs }, { paidThresholdUnits });
  });
  if (current === null) throw new ServiceError('payment_not_found');
  requireOpen(current);
  return session;
}

/**
 * Finds the session that a returning customer reuses, or null. Excludes failed sessions and, after a deposit, all
 * earlier ones, because the customer then pays the rest. A session with the email address is only for customers who
 * know it, and the others are only for those who do not. A link is only for one IP address and payment means.
 */
function findUnused(
  { payment, observations, sessions }: PaymentView,
  { amountCents, receivedUnits }: Charge,
  provider: ProviderId,
  { hasEmail, ipHashes, means }: KnownCustomer,
  nowMs: number,
): ProviderSession | null {
  const hasArrived = !isDust(payment, sumObservations(observations).seenUnits);
  if (hasArrived && receivedUnits === 0n) return null;
  const unused = sessions.find(
    (session) =>
      session.provider === provider &&
      session.receivedUnits === receivedUnits &&
      // Differs if another session has lowered the threshold, and therefore the remaining charge.
      session.chargedCents === amountCents &&
      session.expiresAtMs > nowMs &&
      session.progress !== 'failed' &&
      (payment.email === null || session.hasEmail === hasEmail) &&
      (session.customerIpHash === null ? means === null : ipHashes.includes(session.customerIpHash)) &&
      // Empty once the customer's email address has been erased.
      session.redirectUrl !== '',
  );
  return unused ?? null;
}

interface KnownCustomer {
  readonly hasEmail: boolean;
  /** Hashes of IP address, means and higher total under every secret, the current one first. May be empty. */
  readonly ipHashes: readonly string[];
  readonly means: PaymentMeans | null;
}

/**
 * Limits the sessions per hour and the IP addresses that start them. Customers who do not know the payment's email
 * address have limits of their own, so that they cannot block those who do.
 */
function requireRoom(
  { payment, sessions }: PaymentView,
  { hasEmail, ipHashes }: KnownCustomer,
  nowMs: number,
): void {
  const recent = sessions.filter(
    (session) =>
      session.createdAtMs > nowMs - HOUR_MS && (payment.email === null || session.hasEmail === hasEmail),
  );
  const addresses = new Set(recent.flatMap(({ customerIpHash }) => customerIpHash ?? []));
  const isNewAddress = ipHashes.length > 0 && !ipHashes.some((hash) => addresses.has(hash));
  const hasRoom = !isNewAddress || addresses.size < MAXIMUM_ADDRESSES_PER_HOUR;
  if (recent.length < MAXIMUM_SESSIONS_PER_HOUR && hasRoom) return;
  throw new ServiceError(
    'rate_limited',
    'Too many provider sessions were started for this checkout. Please try again in an hour.',
    { retryAfterSeconds: HOUR_MS / 1000 },
  );
}

/** Refuses an implausible quote as a failure of the provider, because it would lower the paid threshold. */
function requirePlausible(
  payment: Payment,
  { usdUnits }: Charge,
  provider: ProviderId,
  { quotedUnits }: Pick<StartedSession, 'quotedUnits'>,
): void {
  if (quotedUnits === null || isPlausibleQuote(provider, quotedUnits, usdUnits)) return;
  throw new ServiceError('provider_unavailable', undefined, {
    cause: new Error(
      `${provider} quoted ${formatUnits(quotedUnits)} USDC for a charge of ${formatUnits(usdUnits)} USD; ` +
        `the session for payment ${payment.id} was not used`,
    ),
  });
}

function requireShownTotal(
  provider: ProviderId,
  { amountCents, currency }: Charge,
  chargedCents: number,
  shownTotalCents: number,
): void {
  if (chargedCents <= Math.max(amountCents, Math.floor(shownTotalCents * MOVEMENT_SHARE))) return;
  throw new HigherChargeError(
    `${providerCatalog[provider].name} charges ${formatCents(chargedCents)} ${currency} in all.`,
    chargedCents,
  );
}

function requireOpen(payment: Payment): void {
  if (stateOf(payment) === 'unpaid/pending') return;
  throw stateConflict('This payment can no longer be paid.');
}

/** Refuses a session for the remaining charge while a provider delivers, because the customer would pay twice. */
function requireNothingUnderWay({ sessions }: PaymentView, { receivedUnits }: Charge, nowMs: number): void {
  if (receivedUnits === 0n || !sessions.some((session) => isDelivering(session, nowMs))) return;
  throw stateConflict('A payment to this checkout is under way. Please wait until it has arrived.');
}

/** Repeats the checks made at the payment's creation, because the operator may have changed settings since. */
async function requireServable(
  context: StartSessionContext,
  payment: Payment,
  charge: Charge,
  provider: ProviderId,
  { country, state }: Pick<SessionChoice, 'country' | 'state'>,
): Promise<ProviderAdapter> {
  requireOpen(payment);
  if (payment.provider !== MULTI_PROVIDER && payment.provider !== provider) {
    throw new ServiceError('provider_unknown', 'This checkout uses another provider.');
  }
  const account = await context.accounts.findAccount(payment.accountId);
  if (account === null || account.suspended || !isEnabledFor(account, provider)) {
    throw new ServiceError(
      'provider_inactive',
      'This provider is not available for this shop at the moment.',
    );
  }
  await requireActive(context.providers, account, provider, payment.currency);
  await requireAmount(context.providers, provider, charge, country, state);
  const adapter = context.providers.adapters.get(provider);
  if (adapter === undefined) throw new ServiceError('provider_inactive');
  return adapter;
}

/** Requires, before the customer pays, that the money can be released to the merchant. */
async function requirePayable(token: StartSessionContext['token'], payment: Payment): Promise<void> {
  const isRefused = await token.isBlocklisted(payment.payoutAddress).catch((cause: unknown) => {
    throw new ServiceError('chain_unreachable', undefined, { cause });
  });
  if (!isRefused) return;
  throw stateConflict('The shop cannot receive payments at the moment. Please contact the shop.');
}
