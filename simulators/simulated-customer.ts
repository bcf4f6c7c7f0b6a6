import { ServiceError } from '../src/domain/errors.ts';
import { isDirect, type Payment } from '../src/domain/payment.ts';
import { type Outcome, simulatedProviderOf, type TestPayments } from '../src/domain/ports/test-payments.ts';
import {
  isProviderId,
  MULTI_PROVIDER,
  type ProviderId,
  providerIds,
} from '../src/domain/provider-catalog.ts';
import type { ProviderSession } from '../src/domain/provider-session.ts';
import type { StartSession } from '../src/payments/start-session.ts';
import type { EventFeed } from './event-feed.ts';
import type { Sandbox } from './start-sandbox.ts';

/** What a simulated customer needs: the external services, and the service's calls to a provider. */
interface CustomerParts {
  readonly sandbox: Sandbox;
  readonly customer: { readonly baseUrl: string; readonly country: string };
  readonly startSession: StartSession;
}

/** The sandbox's test payments, for checkout page and command line. */
export function createTestPayments(
  parts: CustomerParts & { readonly feed: EventFeed; readonly defaults: TestPayments['defaults'] },
): TestPayments {
  const { sandbox, feed, defaults } = parts;
  return {
    pay: async (payment, provider, deliveryUnits) => {
      if (!isDirect(payment)) return payAtProvider(parts, payment, provider, deliveryUnits);
      if (provider !== null) {
        throw new ServiceError(
          'provider_unknown',
          'A direct payment is paid from a wallet, not at a provider.',
        );
      }
      const units = deliveryUnits ?? payment.paidThresholdUnits;
      const { transactionHash } = await sandbox.customerWallet.send(payment.depositAddress, units);
      return { provider: payment.provider, transactionHash, deliveryUnits: units };
    },
    payRefund: (to, units) => sandbox.customerWallet.send(to, units),
    async setProviderFault(provider, fault) {
      sandbox.faults.setProvider(provider, fault);
    },
    async setFault(target, fault) {
      if (target === 'rates') sandbox.faults.setRates(fault);
      else sandbox.faults.setChain(fault);
    },
    simulateOutcome: createOutcomeSimulator(parts),
    readEvents: (cursor) => feed.read(cursor),
    defaults,
  };
}

async function payAtProvider(
  { sandbox, customer: { baseUrl, country }, startSession }: CustomerParts,
  ...[payment, provider, deliveryUnits]: Parameters<TestPayments['pay']>
): ReturnType<TestPayments['pay']> {
  const chosen = chooseProvider(payment.provider, provider);
  const session = await startSession(payment, chosen, { country, knowsEmail: true });
  if (deliveryUnits === null && session.quotedUnits === null)
    throw new ServiceError(
      'provider_unavailable',
      'The provider returned no quote: specify an amount with --usdc.',
    );
  const paid = await sandbox.pay({
    order: session.redirectUrl,
    // Without it, the fault of the provider decides.
    ...(deliveryUnits === null ? {} : { deliveryUnits }),
    cameFrom: baseUrl,
  });
  return { provider: chosen, ...paid };
}

/** The provider named on the command line, else the payment's own, else the first of the catalog. */
function chooseProvider(own: string, named: string | null): ProviderId {
  const chosen = named ?? (own === MULTI_PROVIDER ? (providerIds[0] as ProviderId) : own);
  if (!isProviderId(chosen))
    throw new ServiceError('provider_unknown', `The provider ${chosen} does not exist.`);
  return chosen;
}

/** Provider of a second payment by the same customer. */
const SECOND: ProviderId = 'transak';

const SLOW_CHAIN_MS = 20_000;

/** Plays outcomes at the simulated on-ramps by the same doors as a customer. */
function createOutcomeSimulator({
  sandbox,
  customer: { baseUrl, country },
  startSession,
}: CustomerParts): TestPayments['simulateOutcome'] {
  const orderOf = ({ redirectUrl }: ProviderSession) => ({ order: redirectUrl, cameFrom: baseUrl });
  const startProviderSession = (payment: Payment, provider: ProviderId) =>
    startSession(payment, provider, { country, knowsEmail: true });

  async function simulate(payment: Payment, outcome: Outcome): Promise<void> {
    const session = await startProviderSession(payment, simulatedProviderOf(payment));
    switch (outcome) {
      case 'declined':
        return sandbox.decline(orderOf(session));
      case 'late':
        return sandbox.payLate(orderOf(session));
      case 'too-little':
        await sandbox.pay({ ...orderOf(session), deliveryUnits: payment.paidThresholdUnits / 2n });
        return;
      case 'twice': {
        // Both sessions start before anything arrives.
        const again = await startProviderSession(payment, SECOND);
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
    simulate(payment, outcome).catch((error: unknown) => {
      if (error instanceof ServiceError) throw error;
      throw new ServiceError('payment_state_conflict', undefined, { cause: error });
    });
}
