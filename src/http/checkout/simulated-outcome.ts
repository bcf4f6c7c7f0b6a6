import type { Payment } from '../../domain/payment.ts';
import { isProviderId, MULTI_PROVIDER, type ProviderId } from '../../domain/provider-catalogue.ts';

/** Outcomes of a payment that a developer can simulate in the sandbox. */
const outcomes = ['paid', 'declined', 'too-little', 'late', 'twice', 'slow-chain'] as const;
export type Outcome = (typeof outcomes)[number];

/**
 * Simulates the customer at the simulated on-ramps. Throws `ServiceError` if this payment does not allow the outcome.
 */
export type SimulateOutcome = (payment: Payment, outcome: Outcome) => Promise<void>;

export function isOutcome(text: string): text is Outcome {
  return (outcomes as readonly string[]).includes(text);
}

/** A double payment takes two providers. */
export function outcomesOf({ provider }: Pick<Payment, 'provider'>): readonly Outcome[] {
  return outcomes.filter((outcome) => outcome !== 'twice' || provider === MULTI_PROVIDER);
}

/** The provider of a simulation: the payment's own provider, or one that serves all. */
export function simulatedProviderOf({ provider }: Pick<Payment, 'provider'>): ProviderId {
  return isProviderId(provider) ? provider : 'moonpay';
}
