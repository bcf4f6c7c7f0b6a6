import type { Account } from '../../src/accounts/account.ts';
import { plainProfile } from '../../src/accounts/shop-profile.ts';
import type { Address } from '../../src/payment/address.ts';
import { noOrder, type Payment, type PaymentId, untouchedProgress } from '../../src/payment/payment.ts';
import { addresses } from './servers/stub-world.ts';

/** Account of the payments that the bench writes directly to the store. */
export function benchAccount(): Account {
  return {
    id: 'acc_00000000000000000000',
    name: 'Bench',
    email: null,
    feeBasisPoints: 250,
    wallet: null,
    ...plainProfile,
    features: [],
    providers: null,
    suspended: false,
    createdAtMs: Date.now(),
  };
}

/** Fields that vary between payments that the bench writes directly to the store. */
export interface BenchPaymentFields {
  readonly paymentId: PaymentId;
  readonly payoutAddress: Address;
  readonly depositAddress: Address;
  readonly callbackUrl: string;
  readonly email: string | null;
  readonly note?: string | null;
}

/** A payment of 12.34 USD of `benchAccount`, as a create would store it. */
export function benchPayment(fields: BenchPaymentFields): Payment {
  return {
    ...untouchedProgress,
    ...noOrder,
    id: fields.paymentId,
    accountId: 'acc_00000000000000000000',
    createdAtMs: Date.now(),
    amountCents: 12_34,
    currency: 'USD',
    originalAmountCents: null,
    customerFeeCents: null,
    passFeeToCustomer: false,
    feeBasisPoints: 250,
    provider: 'multi',
    callbackUrl: fields.callbackUrl,
    email: fields.email,
    note: fields.note ?? null,
    tokenFingerprint: 'bench0',
    chainId: 137,
    factory: addresses.factory,
    payoutAddress: fields.payoutAddress,
    feeWallet: addresses.feeWallet,
    depositAddress: fields.depositAddress,
    usdUnits: 12_340_000n,
    toleranceBasisPoints: 200,
    maxProviderFeeBasisPoints: 3_000,
    paidThresholdUnits: 11_000_000n,
  };
}
