import type { WorkerParts } from '../../../src/app/worker-parts.ts';
import type { Address } from '../../../src/payment/address.ts';
import { createPayment } from '../../../src/payment/create-payment.ts';
import { USD_RATE_ONE } from '../../../src/payment/money.ts';
import type { Payment, PaymentId } from '../../../src/payment/payment.ts';
import { createProviderChecks, createQuotes } from '../../../src/providers/ask-quotes.ts';
import type { ProviderAdapter } from '../../../src/providers/provider.ts';
import { newAccount } from '../../store/fixtures.ts';
import type { Draws } from './draws.ts';
import { CHAIN_ID, type SimulatedWorld } from './simulated-world.ts';

/** What a merchant asks for; asked again with the same key until it is acknowledged. */
export interface CreateInput {
  readonly payoutAddress: Address;
  readonly amountCents: number;
  readonly passFeeToCustomer: boolean;
  readonly idempotencyKey: string;
}

export const accountOf = (feeBasisPoints: number) =>
  newAccount({ id: 'the only account', feeBasisPoints, createdAtMs: 0 });

const adapter: ProviderAdapter = {
  id: 'wert',
  quote: async () => ({ chargedCents: 25_00, deliveryUnits: null, minimumUsdCents: null }),
  startSession: () => Promise.reject(new Error('no customer of the simulation starts a session')),
};

/** The real creation step. */
export function createInWorld(
  world: SimulatedWorld,
  parts: Pick<WorkerParts, 'store' | 'tokens' | 'nowMs'>,
  input: CreateInput,
): Promise<Payment> {
  const { token, factory, depositOf } = world.chain.contracts;
  const { nowMs } = parts;
  const directory = { adapters: new Map([['wert', adapter]] as const), settings: parts.store.providers };
  const quotes = createQuotes({ providers: directory, nowMs, monotonicMs: nowMs, keepMs: 0 });
  return createPayment(
    {
      payments: parts.store.payments,
      providers: createProviderChecks(directory, quotes),
      rates: { usdRate: async () => USD_RATE_ONE },
      settlement: {
        chainId: CHAIN_ID,
        factory,
        feeWallet: world.feeWallet,
        depositAddressOf: depositOf,
        reservedAddresses: new Set([token, factory]),
      },
      nowMs: parts.nowMs,
      newPaymentId: () => drawPaymentId(world.draws, parts.nowMs()),
      tokenFingerprint: parts.tokens.currentFingerprint,
      thresholdDefaults: { toleranceBasisPoints: 200, maxProviderFeeBasisPoints: 3_000 },
    },
    accountOf(world.feeBasisPoints),
    {
      ...input,
      callbackUrl: 'https://shop.example.com/hook',
      currency: 'USD',
      provider: 'wert',
      email: 'customer@shop.example',
      note: 'Order of a customer',
    },
  );
}

/** An id as the real generator makes them (UUIDv7), with randomness of the seed. */
function drawPaymentId(draws: Draws, nowMs: number): PaymentId {
  const time = nowMs.toString(16).padStart(12, '0');
  const random = draws.hex(18);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(0, 3)}-8${random.slice(3, 6)}-${random.slice(6)}` as PaymentId;
}
