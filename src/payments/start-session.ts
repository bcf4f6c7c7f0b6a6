import { randomUUID } from 'node:crypto';
import { ServiceError } from '../domain/errors.ts';
import { leastUnits } from '../domain/money.ts';
import type { Payment } from '../domain/payment.ts';
import { stateOf } from '../domain/payment-states.ts';
import type { AccountStore } from '../domain/ports/account-store.ts';
import type { TokenReader } from '../domain/ports/chain.ts';
import type { PaymentStore, PaymentView } from '../domain/ports/payment-store.ts';
import type { ProviderAdapter } from '../domain/ports/provider.ts';
import { MULTI_PROVIDER, type ProviderId } from '../domain/provider-catalogue.ts';
import { MAXIMUM_SESSIONS_PER_PAYMENT, type ProviderSession } from '../domain/provider-session.ts';
import { settle } from '../domain/settle.ts';
import { enoughUnitsOf } from './create-payment.ts';
import {
  isEnabledFor,
  type ProviderDirectory,
  readMinimumUsdCents,
  requireActive,
  requireCurrency,
  requireMinimum,
} from './provider-availability.ts';

export interface StartSessionContext {
  readonly payments: PaymentStore;
  readonly accounts: AccountStore;
  readonly providers: ProviderDirectory;
  readonly token: TokenReader;
  readonly nowMs: () => number;
  readonly toleranceBasisPoints: number;
  /** The checkout page of a payment, to which the provider sends the customer back. */
  readonly checkoutPageUrl: (payment: Payment) => string;
}

/**
 * The customer's click: sends them to a provider. An unused session of the same provider is used again until it
 * expires, so that double clicks start one. Throws `ServiceError` when the payment or the provider does not allow it.
 */
export type StartSession = (payment: Payment, provider: ProviderId) => Promise<ProviderSession>;

/** One customer's clicks run one after the other, so that two of them at the same time start one session. */
export function createStartSession(context: StartSessionContext): StartSession {
  const running = new Map<string, Promise<ProviderSession>>();
  return (payment, provider) => {
    const key = `${payment.id} ${provider}`;
    const earlier = running.get(key);
    if (earlier !== undefined) return earlier;
    const session = startSession(context, payment.id, provider).finally(() => running.delete(key));
    running.set(key, session);
    return session;
  };
}

async function startSession(
  context: StartSessionContext,
  paymentId: string,
  provider: ProviderId,
): Promise<ProviderSession> {
  const view = await context.payments.viewPayment(paymentId);
  if (view === null) throw new ServiceError('payment_not_found');
  const { payment, sessions } = view;
  const adapter = await requireServable(context, view, provider);

  await requirePayable(context.token, payment);

  const nowMs = context.nowMs();
  // Once something has arrived, its session is used up: who comes back then wants to add what is missing.
  const hasArrived = view.ledger.deposits.length > 0;
  const unused = sessions.find((session) => session.provider === provider && session.expiresAtMs > nowMs);
  if (unused !== undefined && !hasArrived) return unused;
  if (sessions.length >= MAXIMUM_SESSIONS_PER_PAYMENT) {
    throw new ServiceError('rate_limited', 'This checkout was opened at providers too often.', {
      retryAfterSeconds: 3600,
    });
  }
  const started = await adapter.startSession({
    paymentId: payment.id,
    depositAddress: payment.depositAddress,
    amountCents: payment.amountCents,
    currency: payment.currency,
    usdUnits: payment.usdUnits,
    email: payment.email,
    returnUrl: context.checkoutPageUrl(payment),
  });
  const session: ProviderSession = { id: randomUUID(), paymentId, provider, createdAtMs: nowMs, ...started };
  await context.payments.addSession(session, (current) =>
    // Enough may have arrived, or the payment been canceled, while the provider was answering: then the session
    // stays recorded, but changes nothing. What has once been enough must not become too little.
    settle(
      current,
      { nowMs, expiredBeforeMs: null },
      stateOf(current.payment) === 'unpaid/pending'
        ? enoughAfter(current, session, context.toleranceBasisPoints)
        : {},
    ),
  );
  return session;
}

/** Judges payment and provider as creation does; the operator may have changed things since. */
async function requireServable(
  context: StartSessionContext,
  { payment }: PaymentView,
  provider: ProviderId,
): Promise<ProviderAdapter> {
  if (payment.status !== 'unpaid' || payment.forwardStatus !== 'pending') {
    throw new ServiceError('payment_state_conflict', 'This payment cannot be paid any more.');
  }
  if (payment.provider !== MULTI_PROVIDER && payment.provider !== provider) {
    throw new ServiceError('provider_unknown', 'This checkout is for another provider.');
  }
  const account = await context.accounts.findAccount(payment.accountId);
  if (account === null || account.suspended || !isEnabledFor(account, provider)) {
    throw new ServiceError('provider_inactive', 'The shop does not offer this provider at the moment.');
  }
  requireCurrency(provider, payment.currency);
  await requireActive(context.providers, provider);
  requireMinimum(provider, await readMinimumUsdCents(context.providers, provider), payment.usdUnits);
  const adapter = context.providers.adapters.get(provider);
  if (adapter === undefined) throw new ServiceError('provider_inactive');
  return adapter;
}

/** Before anybody is sent to pay: could the money be released to the merchant at all? */
async function requirePayable(token: TokenReader, payment: Payment): Promise<void> {
  const isRefused = await token.isBlocklisted(payment.payoutAddress).catch((cause: unknown) => {
    throw new ServiceError('chain_unreachable', undefined, { cause });
  });
  if (!isRefused) return;
  throw new ServiceError(
    'payment_state_conflict',
    'The shop cannot receive payments at the moment. Please contact the shop.',
  );
}

/** A quoted session lowers or raises what is enough: the lowest quote of all started sessions counts. */
function enoughAfter(view: PaymentView, session: ProviderSession, toleranceBasisPoints: number) {
  const quotes = [...view.sessions, session]
    .map(({ quotedUnits }) => quotedUnits)
    .filter((units) => units !== null);
  const lowest = leastUnits(quotes);
  return lowest === null ? {} : { enoughUnits: enoughUnitsOf(lowest, toleranceBasisPoints) };
}
