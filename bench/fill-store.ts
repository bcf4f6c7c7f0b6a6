import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createIpnTokens } from '../src/domain/ipn-token.ts';
import type { PaymentChange } from '../src/domain/payment.ts';
import { createPaymentIdGenerator } from '../src/domain/payment-id.ts';
import type { Address } from '../src/domain/payout-address.ts';
import { EXPIRY_WATERMARK } from '../src/store/payments.ts';
import { openSqliteStore } from '../src/store/sqlite/open-store.ts';
import { storedValues } from '../src/store/sqlite/scripts.ts';
import { paymentTable } from '../src/store/tables.ts';
import { benchAccount, benchPayment } from './bench-payment.ts';
import { countedAddress, countedHash } from './counted-address.ts';
import { indexStore } from './index-store.ts';
import { hasNote, noteOf } from './load/requests.ts';
import { benchSecret } from './servers/stub-world.ts';

const DAY_MS = 86_400_000;
/** Open payments were created in the last six days, so that none of them is due to expire; the others before. */
const OPEN_DAYS = 6;
const ALL_DAYS = 90;

/**
 * Writes a database as a service leaves it that has taken payments for three months: most of them paid, the newest
 * `open` of them unpaid. The store makes the file, its own statement inserts the rows, in one transaction without the
 * waits for the disk: a million rows in less than half a minute. Then they are indexed, as the worker would have done
 * long ago. Paid payments have no deposits or releases.
 */
export async function fillStore(dataDir: string, payments: number, open: number): Promise<void> {
  const file = join(dataDir, 'card-checkout.sqlite');
  const store = await openSqliteStore({ file });
  await store.accounts.createAccount(benchAccount());
  await store.close();

  const database = new DatabaseSync(file);
  try {
    database.exec('PRAGMA synchronous = OFF; PRAGMA cache_size = -200000; BEGIN');
    insertAll(database, payments, open);
    database.exec('COMMIT; PRAGMA wal_checkpoint(TRUNCATE)');
  } finally {
    database.close();
  }
  const filled = await openSqliteStore({ file });
  await indexStore(filled, payments);
  await filled.close();
}

function insertAll(database: DatabaseSync, payments: number, open: number): void {
  const insert = database.prepare(paymentTable.insertSql);
  const tokenFingerprint = createIpnTokens(benchSecret).currentFingerprint;
  const payoutAddresses = Array.from({ length: 1_000 }, (_, index) => countedAddress(index));
  const closed = payments - open;
  const startMs = Date.now();
  let nowMs = 0;
  const newPaymentId = createPaymentIdGenerator(() => nowMs);
  let lastClosed = '';
  for (let index = 0; index < payments; index++) {
    const isOpen = index >= closed;
    nowMs = Math.floor(
      isOpen
        ? startMs - OPEN_DAYS * DAY_MS * ((payments - index) / open)
        : startMs - (ALL_DAYS - (ALL_DAYS - OPEN_DAYS) * (index / closed)) * DAY_MS,
    );
    const paymentId = newPaymentId();
    const payment = {
      ...benchPayment({
        paymentId,
        payoutAddress: payoutAddresses[index % 1_000] as Address,
        depositAddress: countedAddress(payoutAddresses.length + index),
        callbackUrl: `https://shop.example.com/callbacks/card?order=${index}`,
        email: hasNote(index) ? `customer.${index}@mail.example.com` : null,
        note: hasNote(index) ? noteOf(index) : null,
      }),
      tokenFingerprint,
      createdAtMs: nowMs,
    };
    insert.run(
      ...storedValues(paymentTable.valuesOf(isOpen ? payment : { ...payment, ...paid(index, nowMs) })),
    );
    if (!isOpen) lastClosed = paymentId;
  }
  database
    .prepare('INSERT INTO watermarks (name, payment_id) VALUES (?, ?)')
    .run(EXPIRY_WATERMARK, lastClosed);
}

function paid(index: number, createdAtMs: number): PaymentChange {
  return {
    status: 'paid',
    forwardStatus: 'completed',
    paidAtMs: createdAtMs + 60_000,
    receivedUnits: 12_340_000n,
    forwardedUnits: 12_031_500n,
    txidIn: countedHash(2 * index),
    txidOut: countedHash(2 * index + 1),
  };
}
