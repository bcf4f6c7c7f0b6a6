import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { createDepositAddressCalculator, paymentReference } from '../../src/domain/deposit-address.ts';
import { createIpnTokens } from '../../src/domain/ipn-token.ts';
import { type Payment, untouchedProgress } from '../../src/domain/payment.ts';
import { createPaymentIdGenerator } from '../../src/domain/payment-id.ts';
import { type Address, parsePayoutAddress } from '../../src/domain/payout-address.ts';
import { openSqliteStore } from '../../src/store/sqlite/open-store.ts';
import type { BenchServer } from './bench-server.ts';
import { answer, answerLikeTheApi, type CreateBody, listen, readJson } from './raw-servers.ts';
import { addresses } from './stub-world.ts';

const accountId = 'acc_00000000000000000000';
const secret = 'a secret that only the bench knows, 32 characters and more';

/**
 * What a durable create can cost at best on plain `node:http`: read JSON, insert through the service's own store
 * (the same columns in the same group commits), answer JSON. No key, limit, rule, log or metric.
 *
 * `ceiling-b` also does the cryptography that no implementation can leave out: the payout address's checksum, the
 * deposit address, and the token.
 */
export async function startCeiling(name: 'ceiling-a' | 'ceiling-b', folder: string): Promise<BenchServer> {
  const databaseFile = join(folder, 'payments.sqlite');
  const store = await openSqliteStore({ file: databaseFile });
  // Foreign keys are checked as in the service.
  await store.accounts.createAccount({
    ...{ id: accountId, name: 'Bench', email: null, feeBasisPoints: 250, wallet: null, features: [] },
    ...{ providers: null, suspended: false, createdAtMs: Date.now() },
  });
  const compute = name === 'ceiling-a' ? computeNothing() : computeCryptography();
  const newPaymentId = createPaymentIdGenerator(Date.now);

  return listen(
    (request, response) => {
      readJson(request, (body) => {
        const paymentId = newPaymentId();
        const computed = { paymentId, ...compute(paymentId, body) };
        const payment = paymentOf(body, computed);
        store.payments.createPayment(payment, null).then(
          () => answer(response, JSON.stringify(answerLikeTheApi(body, computed))),
          () => refuse(response),
        );
      });
    },
    databaseFile,
    () => store.close(),
  );
}

interface Computed {
  readonly payoutAddress: Address;
  readonly depositAddress: Address;
  readonly token: string;
}

type Compute = (paymentId: string, body: CreateBody) => Computed;

function computeNothing(): Compute {
  const token = `ipn_${'0'.repeat(6 + 32 + 43)}`;
  return (_paymentId, { address }) => ({
    payoutAddress: address as Address,
    depositAddress: addresses.factory,
    token,
  });
}

function computeCryptography(): Compute {
  const tokens = createIpnTokens(secret);
  const depositAddressOf = createDepositAddressCalculator({ chainId: 137, ...addresses });
  return (paymentId, { address }) => {
    const payoutAddress = parsePayoutAddress(address);
    if (payoutAddress === null) throw new Error(`the bench sent ${address}`);
    const depositAddress = depositAddressOf({
      merchant: payoutAddress,
      feeBasisPoints: 250,
      feeWallet: addresses.feeWallet,
      reference: paymentReference(paymentId),
    });
    return { payoutAddress, depositAddress, token: tokens.create(paymentId) };
  };
}

function paymentOf(body: CreateBody, computed: Computed & { readonly paymentId: string }): Payment {
  return {
    ...untouchedProgress,
    id: computed.paymentId,
    accountId,
    createdAtMs: Date.now(),
    amountCents: 12_34,
    currency: 'USD',
    originalAmountCents: null,
    customerFeeCents: null,
    passFeeToCustomer: false,
    feeBasisPoints: 250,
    provider: 'multi',
    callbackUrl: body.callback,
    email: body.email,
    note: null,
    tokenFingerprint: 'bench0',
    chainId: 137,
    factory: addresses.factory,
    payoutAddress: computed.payoutAddress,
    feeWallet: addresses.feeWallet,
    depositAddress: computed.depositAddress,
    usdUnits: 12_340_000n,
    enoughUnits: 11_000_000n,
  };
}

function refuse(response: ServerResponse): void {
  response.writeHead(500).end();
}
