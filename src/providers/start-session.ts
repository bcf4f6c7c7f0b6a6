import { randomUUID } from 'node:crypto';
import type { AccountStore } from '../accounts/account-store.ts';
import { ServiceError, stateConflict } from '../payment/errors.ts';
import { formatUnits } from '../payment/money.ts';
import { isDust, isPlausibleQuote, thresholdAfterSessions } from '../payment/paid-threshold.ts';
import type { Payment, PaymentId } from '../payment/payment.ts';
import { stateOf } from '../payment/payment-states.ts';
import type { PaymentStore, PaymentView } from '../payment/payment-store.ts';
import { MULTI_PROVIDER, type ProviderId, providerCatalog } from '../payment/provider-catalog.ts';
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
import type { ProviderAdapter, StartedSession } from './provider.ts';
import {
  isEnabledFor,
  type ProviderDirectory,
  requireActive,
  requireAmount,
  requireCurrency,
  requireDelivery,
} from './provider-availability.ts';

export interface StartSessionContext extends Readonly<{ payments: PaymentStore; accounts: AccountStore }> {
  readonly providers: ProviderDirectory;
  readonly token: Pick<TokenReader, 'isBlocklisted'>;
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
  /** The checkout page of a payment, to which the provider sends the customer back. */
  readonly checkoutPageUrl: (payment: Payment) => string;
  /** Hashes the customers' IP addresses, which are not stored. */
  readonly ipHash: KeyedHash;
}

export type StartSession = ReturnType<typeof createStartSession>;

/** Known facts about the customer who opens a session. */
export interface Visitor {
  /** The customer's country, ISO 3166-1 alpha-2; null or absent where it is unknown. */
  readonly country?: string | null;
  /** The customer's public IP address in its canonical form; null or absent where it is unknown. */
  readonly ip?: string | null;
  /** The customer's language, ISO 639-1; stored for later mails. */
  readonly language?: string | null;
  /** They came with the payment's email address. Without that the provider is not given it. */
  readonly knowsEmail?: boolean;
}

/** A wallet's place on the token's blocklist changes rarely, and the release is simulated again before it is sent. */
const BLOCKLIST_KEEP_MS = 30_000;
const MAXIMUM_KEPT_WALLETS = 10_000;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** A clock that runs fast must not end a session before the customer gets there. */
const MINIMUM_SESSION_MS = MINUTE_MS;
/** Maximum lifetime of a session, whatever the provider says: while it is open, it is reused and its payment cannot be canceled. */
const MAXIMUM_SESSION_MS = 24 * HOUR_MS;

/**
 * The customer's click: sends them to a provider. An unused session of the same provider is used again until it
 * expires, and one customer's clicks run one after the other, so that double clicks start one. Throws `ServiceError`
 * when the payment or the provider does not allow it.
 */
export function createStartSession(context: StartSessionContext) {
  const running = new Map<string, Promise<ProviderSession>>();
  const token = withCache(context);
  return (payment: Payment, provider: ProviderId, visitor: Visitor = {}): Promise<ProviderSession> => {
    const { country = null, ip = null, language = null, knowsEmail = false } = visitor;
    // A customer who does not know the email address, or is at another IP address, must not get another one's session.
    const key = `${payment.id} ${provider} ${knowsEmail} ${ip ?? ''}`;
    const earlier = running.get(key);
    if (earlier !== undefined) return earlier;
    const choice = { provider, country, ip, language, knowsEmail };
    const session = startSession({ ...context, token }, payment.id, choice).finally(() =>
      running.delete(key),
    );
    running.set(key, session);
    return session;
  };
}

/** Visitors must not be able to make us ask the chain as often as they like. */
function withCache({ token, monotonicMs }: StartSessionContext): StartSessionContext['token'] {
  const answers = createTtlCache<boolean>({
    monotonicMs,
    keepMs: BLOCKLIST_KEEP_MS,
    maximumEntries: MAXIMUM_KEPT_WALLETS,
  });
  return { isBlocklisted: (address) => answers.fetchOrReuse(address, () => token.isBlocklisted(address)) };
}

type SessionChoice = Required<Visitor> & { readonly provider: ProviderId };

async function startSession(
  context: StartSessionContext,
  id: PaymentId,
  { provider, country, ip, language, knowsEmail }: SessionChoice,
): Promise<ProviderSession> {
  const view = await context.payments.viewPayment(id);
  if (view === null) throw new ServiceError('payment_not_found');
  const { payment } = view;
  const nowMs = context.nowMs();
  const charge = chargeOf(view, sumObservations(view.observations).seenUnits);
  requireNothingUnderWay(view, charge, nowMs);
  const adapter = await requireServable(context, payment, charge, provider, country);
  const email = knowsEmail ? payment.email : null;
  const ipHashes = ip === null ? [] : context.ipHash.candidates(`${payment.id} ${ip}`);
  const customer = { hasEmail: email !== null, ipHashes };
  const unused = adapter.opensOnce === true ? null : findUnused(view, charge, provider, customer, nowMs);
  if (unused === null) {
    requireRoom(view, customer, nowMs);
    if (adapter.needsCountry === true && country === null)
      throw new ServiceError(
        'invalid_request',
        `${providerCatalog[provider].name} needs your country, which is unknown. Your card was not charged.`,
      );
  }
  // Also before an earlier session is handed out again: its customer would pay for a shop that cannot be given it.
  await requirePayable(context.token, payment);
  if (unused !== null) return unused;

  const started = await adapter.startSession({
    paymentId: payment.id,
    depositAddress: payment.depositAddress,
    amountCents: charge.amountCents,
    currency: charge.currency,
    usdUnits: charge.usdUnits,
    accountId: charge.accountId,
    email,
    returnUrl: context.checkoutPageUrl(payment),
    customerCountry: country,
    customerIp: ip,
  });
  requirePlausible(payment, charge, provider, started);
  requireDelivery(provider, started.quotedUnits, charge);
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
    language,
    hasEmail: email !== null,
    customerIpHash: ipHashes[0] ?? null,
    customerCountry: country,
  };
  const current = await context.payments.addSession(session, (latest) => {
    // An address that was erased while the provider was answering must not come back with the provider's link.
    if (payment.email !== latest.payment.email)
      throw stateConflict('This payment has just changed. Please try again.');
    // Enough may have arrived, or the payment been canceled, while the provider was answering: then the session
    // stays recorded, but changes nothing. What has once been enough must not become too little.
    if (stateOf(latest.payment) !== 'unpaid/pending') return settle(latest, { nowMs });
    // The customer may pay in any session that was started, so that the one that delivers least decides.
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
 * The session that a returning customer reuses. One that failed at the provider may have ended there. Once a deposit has
 * arrived, earlier sessions are used up: a customer who returns then pays the rest. A session that shows the
 * customer's email address at the provider is only for customers who know the address, and the others are only for
 * those who do not: neither takes the other's away. A session of another IP address is never reused, because the
 * provider may refuse its link there.
 */
function findUnused(
  { payment, observations, sessions }: PaymentView,
  { receivedUnits }: Charge,
  provider: ProviderId,
  { hasEmail, ipHashes }: KnownCustomer,
  nowMs: number,
): ProviderSession | null {
  const hasArrived = !isDust(payment, sumObservations(observations).seenUnits);
  if (hasArrived && receivedUnits === 0n) return null;
  const unused = sessions.find(
    (session) =>
      session.provider === provider &&
      session.receivedUnits === receivedUnits &&
      session.expiresAtMs > nowMs &&
      session.progress !== 'failed' &&
      (payment.email === null || session.hasEmail === hasEmail) &&
      (session.customerIpHash === null || ipHashes.includes(session.customerIpHash)) &&
      // Emptied where the customer's email address was erased.
      session.redirectUrl !== '',
  );
  return unused ?? null;
}

interface KnownCustomer {
  readonly hasEmail: boolean;
  /** Hashes of the customer's IP address under every secret, the current one first; empty where it is unknown. */
  readonly ipHashes: readonly string[];
}

/**
 * Limits sessions and the IP addresses that they are started for, counted separately: customers who do not know the
 * payment's email address use up no session of those who do.
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

/** A quote lowers the paid threshold, so one that cannot be right is the provider's failure, and loud in the log. */
function requirePlausible(
  payment: Payment,
  { usdUnits }: Charge,
  provider: ProviderId,
  { quotedUnits }: StartedSession,
): void {
  if (quotedUnits === null || isPlausibleQuote(provider, quotedUnits, usdUnits)) return;
  throw new ServiceError('provider_unavailable', undefined, {
    cause: new Error(
      `${provider} quoted ${formatUnits(quotedUnits)} USDC for a charge of ${formatUnits(usdUnits)} USD; ` +
        `the session for payment ${payment.id} was not used`,
    ),
  });
}

function requireOpen(payment: Payment): void {
  if (stateOf(payment) === 'unpaid/pending') return;
  throw stateConflict('This payment can no longer be paid.');
}

/** While a provider has the customer's money and has not delivered it, a session for the rest would charge part of it again. */
function requireNothingUnderWay({ sessions }: PaymentView, { receivedUnits }: Charge, nowMs: number): void {
  if (receivedUnits === 0n || !sessions.some((session) => isDelivering(session, nowMs))) return;
  throw stateConflict('A payment to this checkout is under way. Please wait until it has arrived.');
}

/** Validates payment and provider as creation does; the operator may have changed settings since. */
async function requireServable(
  context: StartSessionContext,
  payment: Payment,
  charge: Charge,
  provider: ProviderId,
  country: string | null,
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
  requireCurrency(provider, payment.currency);
  await requireActive(context.providers, account, provider, payment.currency);
  await requireAmount(context.providers, provider, charge, country);
  const adapter = context.providers.adapters.get(provider);
  if (adapter === undefined) throw new ServiceError('provider_inactive');
  return adapter;
}

/** Requires, before the customer is redirected to pay, that the money could be released to the merchant. */
async function requirePayable(token: StartSessionContext['token'], payment: Payment): Promise<void> {
  const isRefused = await token.isBlocklisted(payment.payoutAddress).catch((cause: unknown) => {
    throw new ServiceError('chain_unreachable', undefined, { cause });
  });
  if (!isRefused) return;
  throw stateConflict('The shop cannot receive payments at the moment. Please contact the shop.');
}
