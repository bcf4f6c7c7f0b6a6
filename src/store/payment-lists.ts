import { hash } from 'node:crypto';
import type { Payment, PaymentId } from '../domain/payment.ts';
import { AFTER_ALL_IDS } from '../domain/payment-id.ts';
import type { PaymentFilter, PaymentStore } from '../domain/ports/payment-store.ts';
import type { AddressPage, AddressPageStore } from '../domain/ports/settlement-store.ts';
import { paymentOf, selectPayments } from './payments.ts';
import { checkedLimit, raw, run, runForOne, type Script, type Scripts, sql } from './scripts.ts';
import { paymentTable } from './tables.ts';

/** How many payments a filtered list looks at before other work gets its turn. */
const WINDOW = 1_000;

/** Payments above an id; `end` is null where nothing is left below it. */
interface Window {
  readonly payments: readonly Payment[];
  readonly end: string | null;
}

/** Lists of payments in the order of their ids, on any engine. */
export function createPaymentLists({
  read,
}: Scripts): Pick<
  PaymentStore,
  | 'findPaymentsByRow'
  | 'findNewest'
  | 'listPayments'
  | 'listByOrigin'
  | 'listPaymentIds'
  | 'listOpenFingerprints'
> {
  const nextWindow = read(readWindow);
  const nextFingerprints = read(readFingerprints);
  const readUnderWay = read(readFingerprintsUnderWay);
  return {
    async listPayments(filter, before, limit) {
      checkedLimit(limit);
      let window: Window = { payments: [], end: before ?? AFTER_ALL_IDS };
      const payments: Payment[] = [];
      while (window.end !== null && payments.length < limit) {
        window = await nextWindow(filter, window.end, limit - payments.length);
        payments.push(...window.payments);
      }
      return payments;
    },
    findPaymentsByRow: read(function* (rows) {
      if (rows.length > 0) checkedLimit(rows.length);
      const found = yield* run`
        SELECT ${raw(paymentTable.qualifiedNames)}, "row" AS place FROM payments WHERE "row" = ANY(${rows})`;
      const byRow = new Map(found.map((row) => [row['place'], paymentOf(row)]));
      return rows.flatMap((row) => byRow.get(row) ?? []);
    }),
    findNewest: read(
      () => runForOne<Pick<Payment, 'id' | 'tokenFingerprint'>>`
        SELECT id, token_fingerprint AS "tokenFingerprint" FROM payments ORDER BY id DESC LIMIT 1`,
    ),
    listByOrigin: read(
      (accountId, origin, limit) => selectPayments`
        FROM payments WHERE account_id = ${accountId} AND origin = ${origin}
        ORDER BY id DESC LIMIT ${checkedLimit(limit)}`,
    ),
    listPaymentIds: read(function* (after, below, limit) {
      const rows = yield* run`
        SELECT id FROM payments WHERE id > ${after} AND id < ${below} ORDER BY id LIMIT ${checkedLimit(limit)}`;
      return rows.map(({ id }) => id as PaymentId);
    }),
    async listOpenFingerprints(after) {
      const found = new Set<string>(await readUnderWay());
      for (let from: string | null = after; from !== null; ) {
        const { fingerprints, end }: FingerprintWindow = await nextFingerprints(from);
        for (const fingerprint of fingerprints) found.add(fingerprint);
        from = end;
      }
      return [...found];
    },
  };
}

interface FingerprintWindow {
  readonly fingerprints: readonly string[];
  /** Null where nothing is left above it. */
  readonly end: string | null;
}

/** Whatever the age of the payment: a release and a webhook may wait for long. Both are few, and have an index. */
function* readFingerprintsUnderWay(): Script<readonly string[]> {
  const rows = yield* run`
    SELECT token_fingerprint FROM payments
    WHERE forward_status = 'ready' OR forward_status = 'processing'
      OR forward_status = 'failed' OR forward_status = 'manual_required'
    UNION SELECT token_fingerprint FROM webhooks JOIN payments ON payments.id = webhooks.payment_id
    WHERE webhooks.status = 'pending'`;
  return rows.map((row) => row['token_fingerprint'] as string);
}

/** In windows as well, upwards: all payments of some days are looked at. */
function* readFingerprints(after: string): Script<FingerprintWindow> {
  const last = yield* runForOne<{ id: string }>`
    SELECT id FROM payments WHERE id > ${after} ORDER BY id LIMIT 1 OFFSET ${WINDOW - 1}`;
  const rows = yield* run`
    SELECT DISTINCT token_fingerprint FROM payments
    WHERE id > ${after} AND id <= ${last?.id ?? AFTER_ALL_IDS}
      AND forward_status <> 'completed' AND forward_status <> 'canceled'`;
  return { fingerprints: rows.map((row) => row['token_fingerprint'] as string), end: last?.id ?? null };
}

/** In windows, each in a turn of its own: a filter by status that finds nothing holds up no other request. */
function* readWindow({ accountId, status }: PaymentFilter, below: string, limit: number): Script<Window> {
  const ofAccount = accountId === undefined ? sql`` : sql`AND account_id = ${accountId}`;
  const last = yield* runForOne<{ id: string }>`
    SELECT id FROM payments WHERE id < ${below} ${ofAccount} ORDER BY id DESC LIMIT 1 OFFSET ${WINDOW - 1}`;
  const end = last?.id ?? null;
  const inStatus = status === undefined ? sql`` : sql`AND status = ${status}`;
  const payments = yield* selectPayments`
    FROM payments WHERE id < ${below} AND id >= ${end ?? ''} ${ofAccount} ${inStatus}
    ORDER BY id DESC LIMIT ${limit}`;
  return { payments, end };
}

/** A row of the table: for each payment four bytes of its row number and four of its prefix, little-endian. */
export interface StoredAddressPage {
  readonly afterRow: number;
  readonly entries: Uint8Array;
  /** SHA-256 of the entries, hexadecimal. */
  readonly entriesHash: string;
}

const ENTRY_BYTES = 8;

export function createAddressPageStore({ read, writeStatement }: Scripts): AddressPageStore {
  return {
    listAddressPages: read(function* (afterRow, limit) {
      const rows = yield* run`
        SELECT after_row AS "afterRow", entries, entries_hash AS "entriesHash" FROM address_pages
        WHERE after_row >= ${afterRow} ORDER BY after_row LIMIT ${checkedLimit(limit)}`;
      return (rows as unknown as StoredAddressPage[]).map(pageOfStored);
    }),
    keepAddressPage: writeStatement(function* (page) {
      const { afterRow, entries, entriesHash } = storedPageOf(page);
      yield* run`
        INSERT INTO address_pages (after_row, entries, entries_hash)
        VALUES (${afterRow}, ${entries}, ${entriesHash}) ON CONFLICT (after_row) DO NOTHING`;
    }),
  };
}

export function storedPageOf({ afterRow, rows, prefixes }: AddressPage): StoredAddressPage {
  const entries = new Uint8Array(rows.length * ENTRY_BYTES);
  const view = new DataView(entries.buffer);
  for (let index = 0; index < rows.length; index++) {
    view.setUint32(index * ENTRY_BYTES, rows[index] as number, true);
    view.setUint32(index * ENTRY_BYTES + 4, prefixes[index] as number, true);
  }
  return { afterRow, entries, entriesHash: hash('sha256', entries) };
}

/** @throws when the entries are not those that were stored */
export function pageOfStored({ afterRow, entries, entriesHash }: StoredAddressPage): AddressPage {
  if (entries.length % ENTRY_BYTES !== 0 || hash('sha256', entries) !== entriesHash) {
    throw new Error(
      `the page of address_pages after row ${afterRow} is damaged; without its rows the table is made anew`,
    );
  }
  const count = entries.length / ENTRY_BYTES;
  const view = new DataView(entries.buffer, entries.byteOffset, entries.byteLength);
  const page = { afterRow, rows: new Uint32Array(count), prefixes: new Uint32Array(count) };
  for (let index = 0; index < count; index++) {
    page.rows[index] = view.getUint32(index * ENTRY_BYTES, true);
    page.prefixes[index] = view.getUint32(index * ENTRY_BYTES + 4, true);
  }
  return page;
}
