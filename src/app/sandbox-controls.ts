import type { SandboxControls } from '../cli/operations-context.ts';
import { ServiceError } from '../domain/errors.ts';
import { isDirect } from '../domain/payment.ts';
import { isProviderId, MULTI_PROVIDER, type ProviderId, providerIds } from '../domain/provider-catalogue.ts';
import type { EventFeed } from '../sandbox/event-feed.ts';
import type { Sandbox } from '../sandbox/start-sandbox.ts';
import type { SandboxTools } from './service-parts.ts';

/** What is there before the service runs. */
export interface SandboxControlParts {
  readonly sandbox: Sandbox;
  readonly feed: EventFeed;
  readonly defaults: SandboxControls['defaults'];
  readonly baseUrl: string;
  /** Where the customer lives. */
  readonly country: string;
}

/** What the command line can do in the sandbox. */
export function createSandboxControls(parts: SandboxControlParts, tools: SandboxTools): SandboxControls {
  const { sandbox, feed, defaults } = parts;
  return {
    pay: async (payment, provider, deliveryUnits) => {
      if (!isDirect(payment)) return payAtProvider(parts, tools, payment, provider, deliveryUnits);
      if (provider !== null) {
        throw new ServiceError('provider_unknown', 'A direct payment is paid from a wallet, at no provider.');
      }
      const units = deliveryUnits ?? payment.enoughUnits;
      const { transactionHash } = await sandbox.customerWallet.send(payment.depositAddress, units);
      return { provider: payment.provider, transactionHash, deliveryUnits: units };
    },
    async setProviderFault(provider, fault) {
      sandbox.faults.setProvider(provider, fault);
    },
    async setFault(target, fault) {
      if (target === 'rates') sandbox.faults.setRates(fault);
      else sandbox.faults.setChain(fault);
    },
    createCheckout: (account, request) =>
      tools.createPayment(account, {
        ...request,
        passFeeToCustomer: false,
        provider: MULTI_PROVIDER,
        idempotencyKey: null,
      }),
    readEvents: (cursor) => feed.read(cursor),
    defaults,
  };
}

async function payAtProvider(
  { sandbox, baseUrl, country }: SandboxControlParts,
  { startSession }: SandboxTools,
  ...[payment, provider, deliveryUnits]: Parameters<SandboxControls['pay']>
): ReturnType<SandboxControls['pay']> {
  const chosen = chooseProvider(payment.provider, provider);
  const session = await startSession(payment, chosen, { country, knowsEmail: true });
  const units = deliveryUnits ?? session.quotedUnits;
  if (units === null)
    throw new ServiceError('provider_unavailable', 'The provider gave no quote; name an amount.');
  const { transactionHash } = await sandbox.pay({
    order: session.redirectUrl,
    deliveryUnits: units,
    cameFrom: baseUrl,
  });
  return { provider: chosen, transactionHash, deliveryUnits: units };
}

/** The provider named on the command line, else the payment's own, else the first of the catalogue. */
function chooseProvider(own: string, named: string | null): ProviderId {
  const chosen = named ?? (own === MULTI_PROVIDER ? (providerIds[0] as ProviderId) : own);
  if (!isProviderId(chosen)) throw new ServiceError('provider_unknown', `There is no provider ${chosen}.`);
  return chosen;
}
