import type { Account } from '../../accounts/account.ts';
import type { AccountStore } from '../../accounts/account-store.ts';
import type { ReceiptStatus, ReceiptStore } from '../../mail/mail.ts';
import { ServiceError, UnknownStateError } from '../../payment/errors.ts';
import { type ChainObservations, deadlineOf, isDirect, type Payment } from '../../payment/payment.ts';
import { isPaymentId, paymentIdOfShortCode } from '../../payment/payment-id.ts';
import type { PaymentSearchStore, StateChange } from '../../payment/payment-search-store.ts';
import type { PaymentStore, PaymentView } from '../../payment/payment-store.ts';
import { isProviderId, MULTI_PROVIDER, type ProviderId } from '../../payment/provider-catalog.ts';
import { type Charge, chargeOf } from '../../payment/session-charge.ts';
import { sumObservations } from '../../payment/settle.ts';
import {
  listOffers,
  type ProviderDirectory,
  type ProviderOffer,
} from '../../providers/provider-availability.ts';
import { estimateSuccess, type SuccessRates } from '../../providers/provider-success.ts';
import {
  type CheckoutView,
  checkoutViewOf,
  isDeclined,
  isTakenByProvider,
  takesPayment,
} from './checkout-view.ts';
import { type WaitTimes, waitTimesOf } from './wait.ts';

export interface ReadCheckoutContext {
  readonly payments: Pick<PaymentStore, 'viewPayment'>;
  readonly accounts: Pick<AccountStore, 'findAccount'>;
  readonly search: Pick<PaymentSearchStore, 'listStateChanges'>;
  readonly receipts?: Pick<ReceiptStore, 'findReceiptStatus' | 'askForReceipt'> | null;
  readonly directory: ProviderDirectory;
  readonly nowMs: () => number;
  readonly expiryMs: number;
}

/** Success rates without any visits, which are equal for all providers. */
const withoutVisits = estimateSuccess([]);

export interface Checkout {
  /** Path of the page: the payment's own, unless the page is an example. */
  readonly path: string;
  readonly payment: Payment;
  readonly account: Account;
  readonly observations: ChainObservations;
  readonly view: CheckoutView;
  readonly times: WaitTimes;
  /** Amount that a session would charge now: the full amount or the rest. */
  readonly charge: Charge;
  /** Providers of the payment, with reasons if they cannot serve it; empty if no session may start. */
  readonly offers: readonly ProviderOffer[];
  readonly success: SuccessRates;
  readonly expiresAtMs: number;
  readonly nowMs: number;
  readonly mail: MailOffer | null;
  /** Name of the customer's country, if it is why no provider can serve the payment. */
  readonly unservedCountry?: string;
}

/** Returns whether a provider can serve the payment now. */
export function canBePaid({ offers }: Pick<Checkout, 'offers'>): boolean {
  return offers.some(({ refusal }) => refusal === null);
}

/** Returns whether the customer has to pay but no provider can serve the payment. */
export function isStuck({ view, payment, offers }: Pick<Checkout, 'view' | 'payment' | 'offers'>): boolean {
  return (view.kind === 'choose' || isDeclined(view)) && !isDirect(payment) && !canBePaid({ offers });
}

export function singleProviderOf({ payment }: Pick<Checkout, 'payment'>): ProviderId | null {
  return isProviderId(payment.provider) ? payment.provider : null;
}

export async function readCheckout(
  context: ReadCheckoutContext,
  paymentId: string,
): Promise<Checkout | null> {
  if (!isPaymentId(paymentId)) return null;
  const stored = await context.payments.viewPayment(paymentId);
  if (stored === null) return null;
  const { payment } = stored;
  const hasArrived = payment.status === 'unpaid' && payment.forwardStatus !== 'pending';
  const changes = hasArrived ? await context.search.listStateChanges(payment.id) : [];
  const account = await context.accounts.findAccount(payment.accountId);
  if (account === null) throw new UnknownStateError(`payment ${payment.id} belongs to no account`);
  const checkout = await checkoutOf(context, stored, account, changes);
  return { ...checkout, mail: await readMailOffer(context, checkout) };
}

/** Returns the email that the page offers; null if none is sent or another status matters more. */
async function readMailOffer(
  { receipts }: Pick<ReadCheckoutContext, 'receipts'>,
  { payment, view }: Pick<Checkout, 'payment' | 'view'>,
): Promise<MailOffer | null> {
  if (!receipts || !(isUnderWay(view) || view.kind === 'paid')) return null;
  if (payment.email !== null) return 'own';
  return (await receipts.findReceiptStatus(payment.id)) ?? 'none';
}

/** Status of the receipt email. `own`: the payment has an email address. `none`: the customer may enter one. */
export type MailOffer = ReceiptStatus | 'own' | 'none';

/** Returns whether nothing has arrived and no session is open, so that only a new session would help. */
function takesNewSession(view: CheckoutView): boolean {
  if (view.kind === 'choose') return !view.hasLittleArrived;
  return view.kind === 'at_provider' && !view.isOpen && !isTakenByProvider(view);
}

function isUnderWay(view: CheckoutView): boolean {
  const { kind } = view;
  if (kind === 'at_provider') return view.isOpen || isTakenByProvider(view);
  return kind === 'seen' || kind === 'sending' || kind === 'held';
}

/** Reads a checkout. Throws `payment_not_found` for an unknown id. */
export async function requireCheckout(context: ReadCheckoutContext, paymentId: string): Promise<Checkout> {
  const checkout = await readCheckout(context, paymentId);
  if (checkout === null) throw new ServiceError('payment_not_found');
  return checkout;
}

/** Reads a checkout by its short code. Throws `payment_not_found` for an unknown code. */
export function readCheckoutOfShortCode(context: ReadCheckoutContext, shortCode: string): Promise<Checkout> {
  return requireCheckout(context, paymentIdOfShortCode(shortCode) ?? '');
}

export async function checkoutOf(
  context: Pick<ReadCheckoutContext, 'directory' | 'nowMs' | 'expiryMs'>,
  stored: PaymentView,
  account: Account,
  changes: readonly StateChange[],
): Promise<Checkout> {
  const { payment, observations } = stored;
  const nowMs = context.nowMs();
  const expiresAtMs = deadlineOf(payment, context.expiryMs);
  const seen = checkoutViewOf(stored, nowMs, context.directory.adapters);
  const isOver = payment.deadlineMs !== null && nowMs >= payment.deadlineMs && takesNewSession(seen);
  const view: CheckoutView = isOver ? { kind: 'expired' } : seen;
  const charge = chargeOf(stored, sumObservations(observations).seenUnits);
  const offers =
    takesPayment(view) && !account.suspended
      ? (await listOffers(context.directory, account, charge)).filter(
          ({ provider }) =>
            payment.provider === provider ||
            (payment.provider === MULTI_PROVIDER && !account.excludedProviders.includes(provider)),
        )
      : [];
  const success = context.directory.success?.() ?? withoutVisits;
  const path = `/pay/${payment.id}`;
  const times = waitTimesOf(stored, changes);
  const terms = { path, payment, account, observations, charge, expiresAtMs, nowMs };
  return { ...terms, view, times, offers, success, mail: null };
}
