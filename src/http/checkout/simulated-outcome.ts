import type { Payment } from '../../domain/payment.ts';
import { isProviderId, MULTI_PROVIDER, type ProviderId } from '../../domain/provider-catalogue.ts';

/** What can become of a payment, as somebody who tries an integration can have it played in the sandbox. */
const outcomes = ['paid', 'declined', 'too-little', 'late', 'twice', 'slow-chain'] as const;
export type Outcome = (typeof outcomes)[number];

/** Plays the customer at the simulated on-ramps. Throws `ServiceError` where this payment cannot be played so. */
export type PlayOutcome = (payment: Payment, outcome: Outcome) => Promise<void>;

export function isOutcome(text: string): text is Outcome {
  return (outcomes as readonly string[]).includes(text);
}

/** Whoever pays twice does so at two providers. */
export function outcomesOf({ provider }: Pick<Payment, 'provider'>): readonly Outcome[] {
  return outcomes.filter((outcome) => outcome !== 'twice' || provider === MULTI_PROVIDER);
}

/** Where outcomes are played: the payment's own provider, or one that serves all. */
export function playedProviderOf({ provider }: Pick<Payment, 'provider'>): ProviderId {
  return isProviderId(provider) ? provider : 'moonpay';
}
