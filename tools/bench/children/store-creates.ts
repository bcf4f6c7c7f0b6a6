/** `node tools/bench/children/store-creates.ts FILE`: creates the requested number of payments in the store. */
import { randomBytes } from 'node:crypto';
import { openSqliteStore } from '../../../src/app/store/sqlite-store.ts';
import { checksumAddress } from '../../../src/payment/address.ts';
import { createPaymentIdGenerator } from '../../../src/payment/payment-id.ts';
import { answerParent } from '../answer-parent.ts';
import { benchPayment } from '../bench-payment.ts';
import { countedAddress } from '../counted-address.ts';
import { hasNote, noteOf } from '../load/requests.ts';
import type { StoredCreates } from '../measurements/store-create.ts';

const GROUP = 64;

const store = await openSqliteStore({ file: process.argv[2] ?? '' });
const newPaymentId = createPaymentIdGenerator(Date.now);

function prepare(number: number) {
  const payment = benchPayment({
    paymentId: newPaymentId(),
    payoutAddress: countedAddress(number % 512),
    depositAddress: checksumAddress(randomBytes(20).toString('hex')),
    callbackUrl: `https://shop-${number % 32}.example.com/callbacks/card?order=${number}`,
    email: hasNote(number) ? `customer.${number}@mail.example.com` : null,
    note: hasNote(number) ? noteOf(number) : null,
  });
  const record = {
    accountId: payment.accountId,
    key: `order-${randomBytes(20).toString('hex')}`,
    fingerprint: randomBytes(32).toString('hex'),
    createdAtMs: payment.createdAtMs,
  };
  return { payment, record: number % 3 === 0 ? record : null };
}

async function create(count: number): Promise<StoredCreates> {
  const prepared = Array.from({ length: count }, (_, number) => prepare(number));
  const before = process.cpuUsage();
  for (let first = 0; first < count; first += GROUP) {
    const group = prepared.slice(first, first + GROUP);
    const outcomes = await Promise.all(
      group.map(({ payment, record }) => store.payments.createPayment(payment, record)),
    );
    if (outcomes.some(({ kind }) => kind !== 'created')) throw new Error('a payment was not created');
  }
  const { user, system } = process.cpuUsage(before);
  return { creates: count, cpuMicroseconds: user + system };
}

answerParent(
  {},
  (count) => create(count as number),
  () => store.close(),
);
