import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { createDepositAddressCalculator, paymentReference } from '../../src/domain/deposit-address.ts';
import { createIpnTokens } from '../../src/domain/ipn-token.ts';
import { createPaymentIdGenerator } from '../../src/domain/payment-id.ts';
import { type Address, parsePayoutAddress } from '../../src/domain/payout-address.ts';
import { openPostgresStore } from '../../src/store/postgres/open-store.ts';
import { openSqliteStore } from '../../src/store/sqlite/open-store.ts';
import { benchAccount, benchPayment } from '../bench-payment.ts';
import type { BenchServer } from './bench-server.ts';
import { answer, answerLikeTheApi, type CreateBody, listen, readJson } from './raw-servers.ts';
import { addresses, benchSecret } from './stub-world.ts';

/**
 * What a durable create can cost at best on plain `node:http`: read JSON, insert through the service's own store
 * (the same columns in the same group commits), answer JSON. No key, limit, rule, log or metric.
 *
 * `ceiling-postgres` does that with PostgreSQL. `ceiling-b` also does the cryptography that no implementation can leave out: the payout address's checksum, the
 * deposit address, and the token.
 */
export async function startCeiling(
  name: 'ceiling-a' | 'ceiling-b' | 'ceiling-postgres',
  folder: string,
  databaseUrl: string | null,
): Promise<BenchServer> {
  const databaseFile = databaseUrl === null ? join(folder, 'payments.sqlite') : null;
  const store =
    databaseUrl === null
      ? await openSqliteStore({ file: join(folder, 'payments.sqlite') })
      : await openPostgresStore({ url: databaseUrl });
  // Foreign keys are checked as in the service.
  await store.accounts.createAccount(benchAccount());
  const compute = name === 'ceiling-b' ? computeCryptography() : computeNothing();
  const newPaymentId = createPaymentIdGenerator(Date.now);

  return listen(
    (request, response) => {
      readJson(request, (body) => {
        const paymentId = newPaymentId();
        const computed = { paymentId, ...compute(paymentId, body) };
        const { payoutAddress, depositAddress } = computed;
        const { callback: callbackUrl, email } = body;
        const payment = benchPayment({ paymentId, payoutAddress, depositAddress, callbackUrl, email });
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
  const tokens = createIpnTokens(benchSecret);
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

function refuse(response: ServerResponse): void {
  response.writeHead(500).end();
}
