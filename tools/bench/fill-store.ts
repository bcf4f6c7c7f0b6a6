import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openSqliteStore } from '../../src/app/store/sqlite-store.ts';
import type { Address } from '../../src/payment/address.ts';
import { createIpnTokens } from '../../src/payment/ipn-token.ts';
import type { PaymentChange } from '../../src/payment/payment.ts';
import { createPaymentIdGenerator } from '../../src/payment/payment-id.ts';
import { SLOT_MS } from '../../src/payment/payment-statistics.ts';
import { EXPIRY_WATERMARK } from '../../src/store/payments.ts';
import { storedValues } from '../../src/store/sqlite/scripts.ts';
import { paymentTable } from '../../src/store/tables.ts';
import { benchAccount, benchPayment } from './bench-payment.ts';
import { countedAddress, countedHash } from './counted-address.ts';
import { hasNote, noteOf } from './load/requests.ts';
import { benchSecret } from './servers/stub-world.ts';

const DAY_MS = 86_400_000;
/** Age of open payments: under six days, so that none is due to expire. The others are older. */
const OPEN_DAYS = 6;
const ALL_DAYS = 90;
/** Larger than the worker's batches, to avoid waits for the disk. */
const PORTION = 5_000;

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
    database.exec(queueRowsSql);
    database.exec('COMMIT; PRAGMA wal_checkpoint(TRUNCATE)');
  } finally {
    database.close();
  }
  const filled = await openSqliteStore({ file });
  while ((await filled.search.indexPayments(PORTION)) > 0);
  while ((await filled.search.foldStatistics(PORTION)) > 0);
  await filled.close();
}

const slotOf = (time: string) => `${time} - ${time} % ${SLOT_MS}`;

/** Queued rows of creates and payments for searches and statistics. */
const queueRowsSql = `
  INSERT INTO unindexed_payments (account_id, payment_id) SELECT account_id, id FROM payments;
  INSERT INTO uncounted_changes (account_id, currency, start_ms, created, converted)
  SELECT account_id, currency, ${slotOf('created_at_ms')} AS slot, count(*), count(paid_at_ms) FROM payments
  GROUP BY account_id, currency, slot;
  INSERT INTO uncounted_changes
    (account_id, currency, start_ms, paid, paid_cents, received_units, provider, settle_class)
  SELECT account_id, currency, ${slotOf('paid_at_ms')} AS slot, count(*), sum(amount_cents), 12340000 * count(*),
    provider, 0 FROM payments WHERE paid_at_ms IS NOT NULL
  GROUP BY account_id, currency, slot, provider;`;

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
