import { ServiceError } from '../domain/errors.ts';
import type { Payment } from '../domain/payment.ts';
import type { ProviderId } from '../domain/provider-catalogue.ts';
import type { ProviderSession } from '../domain/provider-session.ts';
import { type PlayOutcome, playedProviderOf } from '../http/checkout/outcomes.ts';
import type { StartSession } from '../payments/start-session.ts';
import type { Sandbox } from '../sandbox/start-sandbox.ts';

/** Where somebody pays a second time who has paid at the first. */
const SECOND: ProviderId = 'transak';

const SLOW_CHAIN_MS = 20_000;

/** Plays outcomes at the simulated on-ramps by the same doors as a customer. */
export function createPlayOutcome(
  sandbox: Sandbox,
  { baseUrl, country }: { readonly baseUrl: string; readonly country: string },
  startSession: StartSession,
): PlayOutcome {
  const orderOf = ({ redirectUrl }: ProviderSession) => ({ order: redirectUrl, cameFrom: baseUrl });
  const visit = (payment: Payment, provider: ProviderId) =>
    startSession(payment, provider, { country, knowsEmail: true });

  async function play(payment: Payment, outcome: Parameters<PlayOutcome>[1]): Promise<void> {
    const session = await visit(payment, playedProviderOf(payment));
    switch (outcome) {
      case 'declined':
        return sandbox.decline(orderOf(session));
      case 'late':
        return sandbox.payLate(orderOf(session));
      case 'too-little':
        await sandbox.pay({ ...orderOf(session), deliveryUnits: payment.enoughUnits / 2n });
        return;
      case 'twice': {
        // Both visits begin before anything arrives.
        const again = await visit(payment, SECOND);
        await Promise.all([sandbox.pay(orderOf(session)), sandbox.pay(orderOf(again))]);
        return;
      }
      case 'slow-chain':
        await sandbox.pay(orderOf(session));
        sandbox.faults.setChain('slow');
        setTimeout(() => sandbox.faults.setChain('up'), SLOW_CHAIN_MS).unref();
        return;
      case 'paid':
        await sandbox.pay(orderOf(session));
    }
  }

  return (payment, outcome) =>
    play(payment, outcome).catch((error: unknown) => {
      if (error instanceof ServiceError) throw error;
      throw new ServiceError('payment_state_conflict', undefined, { cause: error });
    });
}
