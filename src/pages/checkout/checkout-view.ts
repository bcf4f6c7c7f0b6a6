import { fullDepositsOf, isDust, isNearlyAllMissing } from '../../payment/paid-threshold.ts';
import { type Deposit, isDirect, type Payment } from '../../payment/payment.ts';
import { stateOf } from '../../payment/payment-states.ts';
import type { PaymentView } from '../../payment/payment-store.ts';
import type { ProviderId } from '../../payment/provider-catalog.ts';
import { isDelivering, type ProviderSession, type SessionProgress } from '../../payment/provider-session.ts';
import { sumObservations } from '../../payment/settle.ts';
import type { ProviderAdapters } from '../../providers/provider.ts';

export type CheckoutView =
  | { readonly kind: 'choose'; readonly hasLittleArrived: boolean }
  /** At least one provider session was started for the missing amount. */
  | {
      readonly kind: 'at_provider';
      readonly hasLittleArrived: boolean;
      readonly provider: ProviderId;
      readonly providerReference: string;
      readonly isOpen: boolean;
      /** Progress that the provider reports, which is only a hint; null without a report. */
      readonly progress: SessionProgress | null;
    }
  /** A part below the paid threshold arrived. Amounts in 10⁻⁶ USDC. */
  | {
      readonly kind: 'underpaid';
      /** Whether a provider may charge the rest: not while one has the customer's money and has not delivered it. */
      readonly canBeCharged: boolean;
      readonly receivedUnits: bigint;
      readonly missingUnits: bigint;
      readonly depositHash: string | null;
    }
  /** The paid threshold was observed on chain. */
  | { readonly kind: 'seen'; readonly depositHash: string | null }
  | { readonly kind: 'sending'; readonly depositHash: string | null; readonly releaseHash: string | null }
  /** The money arrived, but the release to the merchant is blocked. */
  | { readonly kind: 'held'; readonly depositHash: string | null }
  | {
      readonly kind: 'paid';
      readonly paidAtMs: number;
      /** Sellers known to have charged the customer (`chargingProviders`). */
      readonly providers: readonly ProviderId[];
      /** Whether clearly more arrived than was due, or the whole amount again; otherwise null. */
      readonly surplus: 'overpaid' | 'paidTwice' | null;
      readonly receivedUnits: bigint;
      readonly depositHash: string | null;
      readonly releaseHash: string | null;
    }
  | { readonly kind: 'canceled' }
  | { readonly kind: 'expired' }
  /** Closed, with a current or past balance at the address: too small or too late. */
  | {
      readonly kind: 'closed_with_money';
      readonly receivedUnits: bigint;
      readonly depositHash: string | null;
    }
  /** Closed; the received money was released to the merchant without counting as paid. */
  | {
      readonly kind: 'closed_and_released';
      readonly receivedUnits: bigint;
      readonly depositHash: string | null;
      readonly releaseHash: string | null;
    };

/** Throws `UnknownStateError` for an unknown state. */
export function checkoutViewOf(
  { payment, observations, sessions }: PaymentView,
  nowMs: number,
  adapters?: ProviderAdapters,
): CheckoutView {
  const depositHash = payment.txidIn ?? decisiveDeposit(observations.deposits, payment.paidThresholdUnits);
  const releaseHash = payment.txidOut ?? observations.releases.at(-1)?.transactionHash ?? null;
  const state = stateOf(payment);
  const { seenUnits } = sumObservations(observations);
  let { receivedUnits } = payment;
  if (seenUnits > receivedUnits) receivedUnits = seenUnits;
  switch (state) {
    case 'unpaid/pending': {
      // A payment from a wallet is paid once it is final.
      if (seenUnits >= payment.paidThresholdUnits) return { kind: 'seen', depositHash };
      // A transfer from a wallet may be partial, so every part counts.
      const isAttempt = isDirect(payment)
        ? !isDust(payment, seenUnits)
        : !isNearlyAllMissing(payment, seenUnits);
      if (!isAttempt) return viewOfUnpaid(sessions, nowMs, seenUnits > 0n);
      const forTheRest = sessions.filter((session) => session.receivedUnits === seenUnits);
      if (forTheRest.length > 0) return viewOfUnpaid(forTheRest, nowMs, false);
      const missingUnits = payment.paidThresholdUnits - seenUnits;
      const canBeCharged = !isDirect(payment) && !sessions.some((session) => isDelivering(session, nowMs));
      return { kind: 'underpaid', canBeCharged, receivedUnits: seenUnits, missingUnits, depositHash };
    }
    case 'unpaid/ready':
      return { kind: 'seen', depositHash };
    case 'unpaid/processing':
      return { kind: 'sending', depositHash, releaseHash };
    case 'unpaid/failed':
    case 'unpaid/manual_required':
      return { kind: 'held', depositHash };
    // The customer has paid; the release concerns only service and merchant.
    case 'paid/ready':
    case 'paid/processing':
    case 'paid/failed':
    case 'paid/manual_required':
    case 'paid/completed':
      return {
        kind: 'paid',
        paidAtMs: payment.paidAtMs ?? payment.createdAtMs,
        providers: chargingProviders(sessions, adapters),
        surplus: surplusOf(payment, observations.deposits),
        receivedUnits,
        depositHash,
        releaseHash,
      };
    case 'canceled/canceled':
      return { kind: payment.cancelReason === 'expired' ? 'expired' : 'canceled' };
    case 'canceled/manual_required':
      return { kind: 'closed_with_money', receivedUnits, depositHash };
    case 'canceled/completed':
      return { kind: 'closed_and_released', receivedUnits, depositHash, releaseHash };
  }
}

function surplusOf(payment: Payment, deposits: readonly Deposit[]): 'overpaid' | 'paidTwice' | null {
  if (payment.amountMismatch !== 'overpaid') return null;
  return fullDepositsOf(payment, deposits).length > 1 ? 'paidTwice' : 'overpaid';
}

/** Sellers that charged the customer: the only one with a session, or of several those that report a delivery. */
export function chargingProviders(
  sessions: readonly Pick<ProviderSession, 'provider' | 'progress'>[],
  adapters?: ProviderAdapters,
): readonly ProviderId[] {
  const sellerOf = (provider: ProviderId) => adapters?.get(provider)?.routedThrough ?? provider;
  const providersOf = (some: typeof sessions) => [...new Set(some.map(({ provider }) => sellerOf(provider)))];
  const visited = providersOf(sessions);
  return visited.length <= 1
    ? visited
    : providersOf(sessions.filter(({ progress }) => progress === 'delivered'));
}

export function takesPayment(view: CheckoutView): boolean {
  if (view.kind === 'underpaid') return view.canBeCharged;
  return view.kind === 'choose' || view.kind === 'at_provider';
}

/** Whether the provider reports that it has the customer's money. The page then never suggests a second payment. */
export function isTakenByProvider(view: CheckoutView): boolean {
  return view.kind === 'at_provider' && (view.progress === 'delivering' || view.progress === 'delivered');
}

export function isDeclined(view: CheckoutView): boolean {
  return view.kind === 'at_provider' && view.progress === 'failed';
}

interface ViewTraits {
  /** Seconds until the page should refresh; null if nothing more changes by itself. */
  readonly refreshSeconds: number | null;
  readonly tone: 'warn' | 'plain';
}

const traits: Readonly<Record<CheckoutView['kind'], ViewTraits>> = {
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
};

export function traitsOf(view: CheckoutView): ViewTraits {
  return traits[view.kind];
}

function decisiveDeposit(deposits: readonly Deposit[], paidThresholdUnits: bigint): string | null {
  let units = 0n;
  for (const deposit of deposits) {
    units += deposit.units;
    if (units >= paidThresholdUnits) return deposit.transactionHash;
  }
  return deposits.at(-1)?.transactionHash ?? null;
}

function viewOfUnpaid(
  sessions: readonly ProviderSession[],
  nowMs: number,
  hasLittleArrived: boolean,
): CheckoutView {
  const [first, ...others] = sessions;
  if (first === undefined) return { kind: 'choose', hasLittleArrived };
  const latest = others.reduce(
    (newest, session) => (session.createdAtMs >= newest.createdAtMs ? session : newest),
    first,
  );
  const { provider, providerReference, expiresAtMs, progress } = latest;
  const isOpen = expiresAtMs > nowMs && progress !== 'failed';
  return { kind: 'at_provider', hasLittleArrived, provider, providerReference, isOpen, progress };
}
