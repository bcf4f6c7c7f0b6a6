import type { Address } from './address.ts';
import type { Payment } from './payment.ts';
import { isProviderId, MULTI_PROVIDER, type ProviderId } from './provider-catalog.ts';

const outcomes = ['paid', 'declined', 'too-little', 'late', 'twice', 'slow-chain'] as const;
export type Outcome = (typeof outcomes)[number];

/** Returns the outcomes that a payment allows. A double payment needs two providers. */
export function outcomesOf({ provider }: Pick<Payment, 'provider'>): readonly Outcome[] {
  return outcomes.filter((outcome) => outcome !== 'twice' || provider === MULTI_PROVIDER);
}

/** Returns the payment's own provider, or one that can simulate every outcome. */
export function simulatedProviderOf({ provider }: Pick<Payment, 'provider'>): ProviderId {
  return isProviderId(provider) ? provider : 'moonpay';
}

export const faults = ['up', 'slow', 'down'] as const;
export type Fault = (typeof faults)[number];

export const providerFaults = {
  up: 'end the fault',
  down: 'no answer',
  slow: 'responses time out',
  refuse: 'every quote and every card is declined',
  less: 'half of the quoted USDC arrives',
  late: 'the USDC arrives after 20 seconds',
  twice: 'the USDC arrives twice',
  'wrong-token': 'a token other than USDC arrives',
  'notices-repeated': 'each webhook is sent at least six times',
  'notices-reversed': 'webhooks are delayed and sent in reverse order',
  'notices-lost': 'no webhook is sent',
  'notices-forged': 'webhooks have a forged signature',
} as const;
export type ProviderFault = keyof typeof providerFaults;

/** Simulation of the customer and of faults in test mode. Absent in live mode. */
export interface TestPayments {
  /** Throws `ServiceError` if the payment does not allow the outcome. */
  simulateOutcome(payment: Payment, outcome: Outcome): Promise<void>;
  /** Simulates the customer up to the transfer, at the on-ramp or, for a direct payment, from a wallet. */
  pay(
    payment: Payment,
    provider: string | null,
    deliveryUnits: bigint | null,
  ): Promise<{ readonly provider: string; readonly transactionHash: string; readonly deliveryUnits: bigint }>;
  /** Transfers USDC from a wallet of the sandbox. Resolves when the transfer is sent. */
  transfer(to: Address, units: bigint): Promise<{ readonly transactionHash: string }>;
  setProviderFault(provider: ProviderId, fault: ProviderFault): Promise<void>;
  setFault(target: 'rates' | 'chain', fault: Fault): Promise<void>;
  /** Returns copies of the events after the cursor. Waits if there are none yet. */
  readEvents(cursor: string | null): Promise<{
    readonly cursor: string;
    readonly missed: number;
    readonly events: readonly {
      readonly url: string;
      readonly body: string;
      readonly signature: string;
      readonly headers?: Readonly<Record<string, string>>;
      readonly atMs: number;
    }[];
  }>;
  /** Default account of payments, and default URL for their events. */
  readonly defaults: { readonly accountId: string; readonly callbackUrl: string };
}
