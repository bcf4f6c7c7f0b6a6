import { fullDepositsOf, isDust, isNearlyAllMissing } from '../../payment/fees-and-paid-threshold.ts';
import { type ChainObservations, type Deposit, isDirect, type Payment } from '../../payment/payment.ts';
import { stateOf } from '../../payment/payment-states.ts';
import type { PaymentView } from '../../payment/payment-store.ts';
import type { ProviderId } from '../../payment/provider-catalog.ts';
import {
  hasTakenMoney,
  isDelivering,
  type ProviderSession,
  type SessionProgress,
} from '../../payment/provider-session.ts';
import { sumObservations } from '../../payment/settle.ts';
import type { ProviderAdapters } from '../../providers/provider.ts';

export type CheckoutView =
  | { readonly kind: 'choose'; readonly hasLittleArrived: boolean }
  /** At least one provider session for the missing amount was started. */
  | {
      readonly kind: 'at_provider';
      readonly hasLittleArrived: boolean;
      readonly provider: ProviderId;
      readonly providerReference: string;
      readonly isOpen: boolean;
      /** Progress as reported by the provider, which is only a hint; null without a report. */
      readonly progress: SessionProgress | null;
    }
  /** Less than the paid threshold arrived. Amounts in 10⁻⁶ USDC. */
  | {
      readonly kind: 'underpaid';
      /** Whether a provider may charge the rest. False while a provider has taken money but not delivered it. */
      readonly canBeCharged: boolean;
      readonly receivedUnits: bigint;
      readonly missingUnits: bigint;
    }
  /** Deposits that reach the paid threshold were seen on the chain. */
  | { readonly kind: 'seen' }
  | { readonly kind: 'sending' }
  /** The money arrived, but its release to the merchant is blocked. */
  | { readonly kind: 'held' }
  | {
      readonly kind: 'paid';
      readonly paidAtMs: number;
      /** Sellers that are known to have charged the customer (`chargingProviders`). */
      readonly providers: readonly ProviderId[];
      /** Set if clearly more than the amount due arrived, or if a second payment arrived or is on its way. */
      readonly surplus: Surplus | null;
      /** Sellers that report another payment, which has not arrived. */
      readonly holders: readonly ProviderId[];
      readonly receivedUnits: bigint;
    }
  | { readonly kind: 'canceled' }
  | { readonly kind: 'expired' }
  /** Closed. The deposit address has or had a balance that was too small or arrived too late. */
  | { readonly kind: 'closed_with_money'; readonly receivedUnits: bigint }
  /** Closed. The received money was released to the merchant but did not count as paid. */
  | { readonly kind: 'closed_and_released'; readonly receivedUnits: bigint };

/** Excess of a payment: more than the amount due, the full amount twice, or another payment on its way. */
export type Surplus = 'overpaid' | 'paidTwice' | 'paidAgain';

/** Returns the checkout's view of a payment. Throws `UnknownStateError` for an unknown state. */
export function checkoutViewOf(
  { payment, observations, sessions }: PaymentView,
  nowMs: number,
  adapters?: ProviderAdapters,
): CheckoutView {
  const state = stateOf(payment);
  const { seenUnits } = sumObservations(observations);
  let { receivedUnits } = payment;
  if (seenUnits > receivedUnits) receivedUnits = seenUnits;
  switch (state) {
    case 'unpaid/pending': {
      // A payment from a wallet becomes paid only when it is final.
      if (seenUnits >= payment.paidThresholdUnits) return { kind: 'seen' };
      // Transfers from a wallet may be partial, so every part except dust counts.
      const isAttempt = isDirect(payment)
        ? !isDust(payment, seenUnits)
        : !isNearlyAllMissing(payment, seenUnits);
      if (!isAttempt) return viewOfUnpaid(sessions, nowMs, seenUnits > 0n);
      const forTheRest = sessions.filter((session) => session.receivedUnits === seenUnits);
      if (forTheRest.length > 0) return viewOfUnpaid(forTheRest, nowMs, false);
      const missingUnits = payment.paidThresholdUnits - seenUnits;
      const canBeCharged = !isDirect(payment) && !sessions.some((session) => isDelivering(session, nowMs));
      return { kind: 'underpaid', canBeCharged, receivedUnits: seenUnits, missingUnits };
    }
    case 'unpaid/ready':
      return { kind: 'seen' };
    case 'unpaid/processing':
      return { kind: 'sending' };
    case 'unpaid/failed':
    case 'unpaid/manual_required':
      return { kind: 'held' };
    // The customer has paid. The release concerns only the service and the merchant.
    case 'paid/ready':
    case 'paid/processing':
    case 'paid/failed':
    case 'paid/manual_required':
    case 'paid/completed': {
      const holders = holdersOf(sessions, arrivalsOf(payment, observations).length, nowMs, adapters);
      return {
        kind: 'paid',
        paidAtMs: payment.paidAtMs ?? payment.createdAtMs,
        providers: chargingProviders(sessions, adapters),
        surplus: surplusOf(payment, observations.deposits) ?? (holders.length > 0 ? 'paidAgain' : null),
        holders,
        receivedUnits,
      };
    }
    case 'canceled/canceled':
      return { kind: payment.cancelReason === 'expired' ? 'expired' : 'canceled' };
    case 'canceled/manual_required':
      return { kind: 'closed_with_money', receivedUnits };
    case 'canceled/completed':
      return { kind: 'closed_and_released', receivedUnits };
  }
}

function surplusOf(payment: Payment, deposits: readonly Deposit[]): Surplus | null {
  if (payment.amountMismatch !== 'overpaid') return null;
  return fullDepositsOf(payment, deposits).length > 1 ? 'paidTwice' : 'overpaid';
}

/** Returns the sellers that charged the customer: the only one visited, or else those that report a delivery. */
export function chargingProviders(
  sessions: readonly Pick<ProviderSession, 'provider' | 'progress'>[],
  adapters?: ProviderAdapters,
): readonly ProviderId[] {
  const visited = sellersOf(sessions, adapters);
  if (visited.length <= 1) return visited;
  const delivered = sessions.filter(({ progress }) => progress === 'delivered');
  return sellersOf(delivered, adapters);
}

function sellersOf(
  sessions: readonly Pick<ProviderSession, 'provider'>[],
  adapters?: ProviderAdapters,
): readonly ProviderId[] {
  return [...new Set(sessions.map(({ provider }) => adapters?.get(provider)?.routedThrough ?? provider))];
}

/** Returns sellers whose reported payment has not arrived, assuming that payments arrive in reporting order. */
function holdersOf(
  sessions: readonly ProviderSession[],
  arrivedCount: number,
  nowMs: number,
  adapters?: ProviderAdapters,
): readonly ProviderId[] {
  const isOnItsWay = ({ progress }: ProviderSession) => Number(progress === 'delivering');
  const taken = sessions
    .filter((session) => hasTakenMoney(session, nowMs))
    .sort((a, b) => isOnItsWay(a) - isOnItsWay(b) || (a.progressAtMs ?? 0) - (b.progressAtMs ?? 0));
  return sellersOf(taken.slice(arrivedCount), adapters);
}

/** Returns the deposits that exceed dust. */
export function arrivalsOf(
  payment: Pick<Payment, 'paidThresholdUnits'>,
  { deposits }: Pick<ChainObservations, 'deposits'>,
): readonly Deposit[] {
  return deposits.filter(({ units }) => !isDust(payment, units));
}

export function takesPayment(view: CheckoutView): boolean {
  if (view.kind === 'underpaid') return view.canBeCharged;
  return view.kind === 'choose' || view.kind === 'at_provider';
}

/** Returns whether the provider reports having the money. The page then never suggests another payment. */
export function isTakenByProvider(view: CheckoutView): boolean {
  return view.kind === 'at_provider' && (view.progress === 'delivering' || view.progress === 'delivered');
}

export function isDeclined(view: CheckoutView): boolean {
  return view.kind === 'at_provider' && view.progress === 'failed';
}

/** Traits of each view. `refreshSeconds` is the time until the next refresh; null if nothing more will change. */
const traits = {
  choose: { refreshSeconds: 20, tone: 'plain' },
  at_provider: { refreshSeconds: 5, tone: 'plain' },
  underpaid: { refreshSeconds: 20, tone: 'warn' },
  seen: { refreshSeconds: 3, tone: 'plain' },
  sending: { refreshSeconds: 3, tone: 'plain' },
  held: { refreshSeconds: 20, tone: 'warn' },
  paid: { refreshSeconds: null, tone: 'plain' },
  canceled: { refreshSeconds: null, tone: 'plain' },
  expired: { refreshSeconds: null, tone: 'plain' },
  closed_with_money: { refreshSeconds: 20, tone: 'warn' },
  closed_and_released: { refreshSeconds: null, tone: 'warn' },
} as const satisfies Record<CheckoutView['kind'], { refreshSeconds: number | null; tone: string }>;

export function traitsOf(view: CheckoutView) {
  return view.kind === 'paid' && view.holders.length > 0 ? traits.held : traits[view.kind];
}

/** Returns the state for page and frame scripts. `open`: the customer has to pay. `pending`: money is on its way. */
export function pageStateOf(view: CheckoutView): 'open' | 'pending' | 'paid' | 'canceled' | 'expired' {
  const { kind } = view;
  if (takesPayment(view) && !isTakenByProvider(view)) return 'open';
  if (kind === 'paid' || kind === 'canceled' || kind === 'expired') return kind;
  return kind === 'closed_with_money' || kind === 'closed_and_released' ? 'canceled' : 'pending';
}

function viewOfUnpaid(
  sessions: readonly ProviderSession[],
  nowMs: number,
  hasLittleArrived: boolean,
): CheckoutView {
  // A session whose provider has taken the money takes precedence over later sessions.
  const session = sessions
    .toSorted(
      (a, b) =>
        Number(hasTakenMoney(a, nowMs)) - Number(hasTakenMoney(b, nowMs)) || a.createdAtMs - b.createdAtMs,
    )
    .at(-1);
  if (session === undefined) return { kind: 'choose', hasLittleArrived };
  const { provider, providerReference, expiresAtMs, progress } = session;
  const isOpen = expiresAtMs > nowMs && progress !== 'failed';
  return { kind: 'at_provider', hasLittleArrived, provider, providerReference, isOpen, progress };
}
