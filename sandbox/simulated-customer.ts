import { ServiceError } from '../src/payment/errors.ts';
import { isDirect, type Payment } from '../src/payment/payment.ts';
import { isProviderId, MULTI_PROVIDER, type ProviderId } from '../src/payment/provider-catalog.ts';
import type { ProviderSession } from '../src/payment/provider-session.ts';
import { type Outcome, simulatedProviderOf, type TestPayments } from '../src/payment/test-payments.ts';
import type { StartSession } from '../src/providers/start-session.ts';
import type { EventFeed } from './event-feed.ts';
import type { Sandbox } from './start-sandbox.ts';

interface CustomerParts {
  readonly sandbox: Sandbox;
  readonly customer: { readonly baseUrl: string; readonly country: string };
  readonly startSession: StartSession;
  readonly rankProviders: (payment: Payment, country: string) => Promise<readonly ProviderId[]>;
}

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
    transfer: (to, units) => sandbox.customerWallet.send(to, units),
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
  parts: CustomerParts,
  ...[payment, provider, deliveryUnits]: Parameters<TestPayments['pay']>
): ReturnType<TestPayments['pay']> {
  const { sandbox, customer, startSession } = parts;
  const { baseUrl, country } = customer;
  if (provider !== null && !isProviderId(provider))
    throw new ServiceError('provider_unknown', `The provider ${provider} does not exist.`);
  const chosen = provider ?? (await chooseProvider(parts, payment));
  const session = await startSession(payment, chosen, { country, knowsEmail: true }).catch((error) => {
    const isChosen = provider === null && payment.provider === MULTI_PROVIDER;
    if (!isChosen || !(error instanceof ServiceError) || error.errorName === 'payment_state_conflict')
      throw error;
    const text = `${error.message} Another provider can be named with --provider.`;
    throw new ServiceError(error.errorName, text);
  });
  if (deliveryUnits === null && session.quotedUnits === null)
    throw new ServiceError(
      'provider_unavailable',
      'The provider returned no quote: specify an amount with --usdc.',
    );
  const paid = await sandbox.pay({
    order: session.redirectUrl,
    // Without an amount, the provider's fault decides what is delivered.
    ...(deliveryUnits === null ? {} : { deliveryUnits }),
    cameFrom: baseUrl,
  });
  return { provider: chosen, ...paid };
}

/** Returns the payment's provider, or else the one that the checkout page recommends, except `other`. */
async function chooseProvider(
  { customer: { country }, rankProviders }: CustomerParts,
  payment: Payment,
  other: ProviderId | null = null,
): Promise<ProviderId> {
  if (isProviderId(payment.provider)) return payment.provider;
  const ranked = await rankProviders(payment, country);
  // If no provider is offered, starting the session fails with the reason.
  return ranked.find((provider) => provider !== other) ?? simulatedProviderOf(payment);
}

const SLOW_CHAIN_MS = 20_000;

/** Simulates outcomes at the on-ramps through the same interfaces as customers. */
function createOutcomeSimulator(parts: CustomerParts): TestPayments['simulateOutcome'] {
  const { sandbox, customer, startSession } = parts;
  const { baseUrl, country } = customer;
  const orderOf = ({ redirectUrl }: ProviderSession) => ({ order: redirectUrl, cameFrom: baseUrl });
  const startProviderSession = (payment: Payment, provider: ProviderId) =>
    startSession(payment, provider, { country, knowsEmail: true });

  async function simulate(payment: Payment, outcome: Outcome): Promise<void> {
    const provider = await chooseProvider(parts, payment);
    const session = await startProviderSession(payment, provider);
    switch (outcome) {
      case 'declined':
        return sandbox.decline(orderOf(session));
      case 'late':
        return sandbox.payLate(orderOf(session));
      case 'too-little':
        await sandbox.pay({ ...orderOf(session), deliveryUnits: payment.paidThresholdUnits / 2n });
        return;
      case 'twice': {
        // Starts both sessions first, because a paid payment cannot start another one.
        const again = await startProviderSession(payment, await chooseProvider(parts, payment, provider));
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
