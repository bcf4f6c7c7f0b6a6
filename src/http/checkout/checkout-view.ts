import { isNearlyAllMissing } from '../../domain/paid-threshold.ts';
import { type Deposit, isDirect } from '../../domain/payment.ts';
import { stateOf } from '../../domain/payment-states.ts';
import type { PaymentView } from '../../domain/ports/payment-store.ts';
import type { ProviderId } from '../../domain/provider-catalogue.ts';
import type { ProviderSession, SessionProgress } from '../../domain/provider-session.ts';
import { sumObservations } from '../../domain/settle.ts';

/** What the customer is shown: one sentence and at most one thing to do for each kind. */
export type CheckoutView =
  /** Nothing has begun: choose a provider. */
  | { readonly kind: 'choose'; readonly hasLittleArrived: boolean }
  /** At least one provider was visited and nothing, or nearly nothing, has arrived yet. */
  | {
      readonly kind: 'at_provider';
      readonly hasLittleArrived: boolean;
      readonly provider: ProviderId;
      readonly providerReference: string;
      /** Whether the visit can still be gone on with. */
      readonly isOpen: boolean;
      /** What the provider tells of the visit, a hint; null while it tells nothing. */
      readonly told: SessionProgress | null;
    }
  /** A part arrived, but less than enough. Amounts in 10⁻⁶ USDC units. */
  | {
      readonly kind: 'underpaid';
      readonly receivedUnits: bigint;
      readonly missingUnits: bigint;
      readonly depositHash: string | null;
    }
  /** Enough was seen on chain. */
  | { readonly kind: 'seen'; readonly depositHash: string | null }
  /** The release to the merchant is on its way. */
  | { readonly kind: 'sending'; readonly depositHash: string | null; readonly releaseHash: string | null }
  /** The money is there and the merchant cannot be given it at the moment. */
  | { readonly kind: 'held'; readonly depositHash: string | null }
  | {
      readonly kind: 'paid';
      readonly paidAtMs: number;
      /** Those that charged the customer, as far as it is known (`chargingProviders`). */
      readonly providers: readonly ProviderId[];
      /** Whether clearly more arrived than the payment costs. */
      readonly isOverpaid: boolean;
      readonly depositHash: string | null;
      readonly releaseHash: string | null;
    }
  | { readonly kind: 'canceled' }
  | { readonly kind: 'expired' }
  /** Closed, and something lies or lay at the address: too little, or too late. */
  | { readonly kind: 'closed_with_money'; readonly depositHash: string | null }
  /** Closed, and what had arrived went to the merchant without counting as paid. */
  | {
      readonly kind: 'closed_and_released';
      readonly depositHash: string | null;
      readonly releaseHash: string | null;
    };

/** The view of a payment's state, observations and sessions. Pure; throws `UnknownStateError` for an unknown state. */
export function checkoutViewOf(
  { payment, observations, sessions }: PaymentView,
  nowMs: number,
): CheckoutView {
  const depositHash = payment.txidIn ?? decisiveDeposit(observations.deposits, payment.paidThresholdUnits);
  const releaseHash = payment.txidOut ?? observations.releases.at(-1)?.transactionHash ?? null;
  const state = stateOf(payment);
  switch (state) {
    case 'unpaid/pending': {
      const { seenUnits } = sumObservations(observations);
      // From a wallet: it is paid once it is final.
      if (seenUnits >= payment.paidThresholdUnits) return { kind: 'seen', depositHash };
      // A transfer from a wallet need not be the whole amount, so that every part of it counts there.
      const isAttempt = isDirect(payment) ? seenUnits > 0n : !isNearlyAllMissing(payment, seenUnits);
      if (!isAttempt) return viewOfUnpaid(sessions, nowMs, seenUnits > 0n);
      const missingUnits = payment.paidThresholdUnits - seenUnits;
      return { kind: 'underpaid', receivedUnits: seenUnits, missingUnits, depositHash };
    }
    case 'unpaid/ready':
      return { kind: 'seen', depositHash };
    case 'unpaid/processing':
      return { kind: 'sending', depositHash, releaseHash };
    case 'unpaid/failed':
    case 'unpaid/manual_required':
      return { kind: 'held', depositHash };
    // The customer has paid; what is still to be forwarded is between the service and the merchant.
    case 'paid/ready':
    case 'paid/processing':
    case 'paid/failed':
    case 'paid/manual_required':
    case 'paid/completed':
      return {
        kind: 'paid',
        paidAtMs: payment.paidAtMs ?? payment.createdAtMs,
        providers: chargingProviders(sessions),
        isOverpaid: payment.amountMismatch === 'overpaid',
        depositHash,
        releaseHash,
      };
    case 'canceled/canceled':
      return { kind: payment.cancelReason === 'expired' ? 'expired' : 'canceled' };
    case 'canceled/manual_required':
      return { kind: 'closed_with_money', depositHash };
    case 'canceled/completed':
      return { kind: 'closed_and_released', depositHash, releaseHash };
  }
}

/** Who charged the customer: the only provider visited, or of several those that say they have delivered. */
export function chargingProviders(
  sessions: readonly Pick<ProviderSession, 'provider' | 'progress'>[],
): readonly ProviderId[] {
  const providersOf = (some: typeof sessions) => [...new Set(some.map(({ provider }) => provider))];
  const visited = providersOf(sessions);
  return visited.length <= 1
    ? visited
    : providersOf(sessions.filter(({ progress }) => progress === 'delivered'));
}

/** Whether the customer may be sent to a provider: not where a part has arrived, because a visit charges it all again. */
export function takesPayment(view: CheckoutView): boolean {
  return view.kind === 'choose' || view.kind === 'at_provider';
}

/** Whether the provider says that it has the customer's money: nobody should be led to pay a second time. */
export function isTakenByProvider(view: CheckoutView): boolean {
  return view.kind === 'at_provider' && (view.told === 'delivering' || view.told === 'delivered');
}

/** How soon the page should look again, in seconds; null when nothing changes any more on its own. */
export function refreshSecondsOf(view: CheckoutView): number | null {
  switch (view.kind) {
    case 'seen':
    case 'sending':
      return 3;
    case 'at_provider':
      return 5;
    case 'choose':
    case 'underpaid':
    case 'held':
    case 'closed_with_money':
      return 20;
    case 'paid':
    case 'canceled':
    case 'expired':
    case 'closed_and_released':
      return null;
  }
}

/** The deposit that made it enough, else the last one. */
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
  const { provider, providerReference, expiresAtMs, progress: told } = latest;
  const isOpen = expiresAtMs > nowMs && told !== 'failed';
  return { kind: 'at_provider', hasLittleArrived, provider, providerReference, isOpen, told };
}
