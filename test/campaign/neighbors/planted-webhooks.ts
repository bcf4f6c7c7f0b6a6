import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Payment } from '../../../src/domain/payment.ts';
import { hostOfCallback } from '../../../src/domain/webhook.ts';
import { storedValues } from '../../../src/store/sqlite/scripts.ts';
import { paymentTable } from '../../../src/store/tables.ts';
import { newPayment } from '../../store/fixtures.ts';
import type { EndToEndService } from '../../support/e2e-service.ts';

/** How the one attempt of a webhook went, as the database has it. */
export interface StoredAttempt {
  readonly id: string;
  readonly status: string;
  readonly reason: string | null;
  readonly createdAtMs: number;
  readonly durationMs: number | null;
}

const BUSY_TIMEOUT_MS = 10_000;

/**
 * Queues webhooks as the watcher would when payments became paid, beside the server that runs: so many payments at once
 * take minutes on a real chain.
 *
 * @param tokenFingerprint of the server's secret
 */
export function plantWebhooks(
  service: EndToEndService,
  accountId: string,
  tokenFingerprint: string,
  callbackUrls: readonly string[],
): void {
  const database = open(service);
  const insertPayment = database.prepare(paymentTable.insertSql);
  const insertWebhook = database.prepare(
    `INSERT INTO webhooks (id, account_id, payment_id, host, event, fields, status, created_at_ms)
     VALUES (?, ?, ?, ?, 'payment.paid', ?, 'pending', ?)`,
  );
  database.exec('BEGIN IMMEDIATE');
  for (const callbackUrl of callbackUrls) {
    const createdAtMs = Date.now();
    const change: Partial<Payment> = { status: 'paid', forwardStatus: 'completed', paidAtMs: createdAtMs };
    const payment = newPayment(accountId, { ...change, callbackUrl, tokenFingerprint, createdAtMs });
    insertPayment.run(...storedValues(paymentTable.valuesOf(payment)));
    insertWebhook.run(
      `${payment.id}:payment.paid`,
      accountId,
      payment.id,
      hostOfCallback(callbackUrl),
      JSON.stringify({ event: 'payment.paid', paymentId: payment.id }),
      createdAtMs,
    );
  }
  database.exec('COMMIT');
  database.close();
}

/** The webhooks of an account. */
export function readAttempts(service: EndToEndService, accountId: string): StoredAttempt[] {
  const database = open(service);
  const rows = database
    .prepare(
      `SELECT id, status, reason, created_at_ms AS "createdAtMs", duration_ms AS "durationMs"
       FROM webhooks WHERE account_id = ?`,
    )
    .all(accountId) as unknown as StoredAttempt[];
  database.close();
  return rows;
}

function open(service: EndToEndService): DatabaseSync {
  const file = join(service.environment['DATA_DIR'] as string, 'card-checkout.sqlite');
  const database = new DatabaseSync(file);
  database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
  return database;
}
