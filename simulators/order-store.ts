import { DatabaseSync, type SQLOutputValue } from 'node:sqlite';
import type { Currency } from '../src/domain/money.ts';
import type { Address } from '../src/domain/payout-address.ts';
import type { ProviderId } from '../src/domain/provider-catalog.ts';
import { makeOwnFile } from '../src/store/sqlite/own-file.ts';

const schema = `
  CREATE TABLE IF NOT EXISTS orders (
    id TEXT PRIMARY KEY,
    provider TEXT NOT NULL,
    amount_cents INTEGER NOT NULL,
    currency TEXT NOT NULL,
    wallet_address TEXT NOT NULL,
    external_id TEXT NOT NULL,
    email TEXT,
    return_url TEXT NOT NULL,
    quoted_units TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL,
    state TEXT NOT NULL,
    delivery_units TEXT,
    due_at_ms INTEGER,
    transaction_hash TEXT,
    refusals INTEGER NOT NULL DEFAULT 0,
    is_wrong_token INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE INDEX IF NOT EXISTS orders_due ON orders (due_at_ms) WHERE state = 'accepted';
  CREATE INDEX IF NOT EXISTS orders_unpaid ON orders (expires_at_ms) WHERE state = 'open';
  CREATE TABLE IF NOT EXISTS transfers (
    nonce INTEGER PRIMARY KEY,
    order_id TEXT REFERENCES orders (id),
    hash TEXT NOT NULL,
    raw_transaction TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'final', 'void'))
  ) STRICT;
  CREATE INDEX IF NOT EXISTS transfers_pending ON transfers (nonce) WHERE state = 'pending';
`;

/** Unpaid orders are deleted this long after they expired. Paid ones stay, as the chain does. */
const FORGET_UNPAID_AFTER_MS = 7 * 24 * 60 * 60_000;

type Row = Record<string, SQLOutputValue>;

/** The delivery of a paid order. */
interface PlannedDelivery {
  /** 10⁻⁶ units. */
  readonly units: bigint;
  readonly dueAtMs: number;
  /** Whether it is another token than USDC. */
  readonly isWrongToken?: boolean;
}

/** Adds the columns that a database of an earlier version lacks. */
function addMissingColumn(database: DatabaseSync): void {
  const columns = database.prepare("SELECT name FROM pragma_table_info('orders')").all();
  if (columns.some(({ name }) => name === 'is_wrong_token')) return;
  database.exec('ALTER TABLE orders ADD COLUMN is_wrong_token INTEGER NOT NULL DEFAULT 0');
}

function readOrder(row: Row): Order {
  const state = row['state'] as OrderState;
  if (!orderStates.includes(state)) throw new Error(`an order is in the unknown state ${String(state)}`);
  return {
    id: row['id'] as string,
    provider: row['provider'] as ProviderId,
    amountCents: row['amount_cents'] as number,
    currency: row['currency'] as Currency,
    walletAddress: row['wallet_address'] as Address,
    externalId: row['external_id'] as string,
    email: row['email'] as string | null,
    returnUrl: row['return_url'] as string,
    quotedUnits: BigInt(row['quoted_units'] as string),
    createdAtMs: row['created_at_ms'] as number,
    expiresAtMs: row['expires_at_ms'] as number,
    state,
    deliveryUnits: row['delivery_units'] === null ? null : BigInt(row['delivery_units'] as string),
    dueAtMs: row['due_at_ms'] as number | null,
    transactionHash: row['transaction_hash'] as string | null,
    refusals: row['refusals'] as number,
    isWrongToken: row['is_wrong_token'] === 1,
  };
}

function readTransfer(row: Row): Transfer {
  return {
    nonce: row['nonce'] as number,
    orderId: row['order_id'] as string | null,
    hash: row['hash'] as string,
    rawTransaction: row['raw_transaction'] as string,
    state: row['state'] as Transfer['state'],
  };
}

/** Runs in one transaction. */
function inTransaction(database: DatabaseSync, work: () => void): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    work();
    database.exec('COMMIT');
  } catch (error) {
    database.exec('ROLLBACK');
    throw error;
  }
}

/** Orders from the session to the payment. */
function openOrders(database: DatabaseSync) {
  const insertOrder = database.prepare(
    `INSERT INTO orders (id, provider, amount_cents, currency, wallet_address, external_id, email, return_url,
       quoted_units, created_at_ms, expires_at_ms, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'open')`,
  );
  const forgetUnpaid = database.prepare("DELETE FROM orders WHERE state = 'open' AND expires_at_ms < ?");
  const selectOrder = database.prepare('SELECT * FROM orders WHERE id = ?');
  const acceptOpen = database.prepare(
    `UPDATE orders SET state = 'accepted', delivery_units = ?, due_at_ms = ?, is_wrong_token = ?
      WHERE id = ? AND state = 'open' AND expires_at_ms > ?`,
  );
  const selectDue = database.prepare(
    "SELECT * FROM orders WHERE state = 'accepted' AND due_at_ms <= ? ORDER BY due_at_ms, id LIMIT ?",
  );

  return {
    createOrder(order: Order): void {
      forgetUnpaid.run(order.createdAtMs - FORGET_UNPAID_AFTER_MS);
      insertOrder.run(
        order.id,
        order.provider,
        order.amountCents,
        order.currency,
        order.walletAddress,
        order.externalId,
        order.email,
        order.returnUrl,
        String(order.quotedUnits),
        order.createdAtMs,
        order.expiresAtMs,
      );
    },

    findOrder(id: string): Order | null {
      const row = selectOrder.get(id);
      return row === undefined ? null : readOrder(row);
    },

    /** False if it is not open or has expired: a second click pays nothing. */
    acceptOrder(id: string, { units, dueAtMs, isWrongToken }: PlannedDelivery, nowMs: number): boolean {
      return acceptOpen.run(String(units), dueAtMs, isWrongToken ? 1 : 0, id, nowMs).changes === 1;
    },

    listDueOrders(nowMs: number, limit: number): readonly Order[] {
      return selectDue.all(nowMs, limit).map(readOrder);
    },
  };
}

/** The treasury's nonces and their transactions. */
function openNonces(database: DatabaseSync) {
  const selectTransfer = database.prepare('SELECT * FROM transfers WHERE nonce = ?');
  const selectPending = database.prepare(
    "SELECT * FROM transfers WHERE state = 'pending' AND nonce < ? ORDER BY nonce LIMIT ?",
  );
  const selectHighest = database.prepare('SELECT max(nonce) AS nonce FROM transfers');

  return {
    /** One more than the highest assigned nonce, 0 at first. */
    nextNonce(): number {
      const highest = selectHighest.get()?.['nonce'];
      return typeof highest === 'number' ? highest + 1 : 0;
    },

    findTransfer(nonce: number): Transfer | null {
      const row = selectTransfer.get(nonce);
      return row === undefined ? null : readTransfer(row);
    },

    /** Pending transfers with nonces below this, lowest first. */
    listPendingTransfers(belowNonce: number, limit: number): readonly Transfer[] {
      return selectPending.all(belowNonce, limit).map(readTransfer);
    },
  };
}

/** The writes that concern orders and nonces together. */
function openTransfers(database: DatabaseSync) {
  const setOrderState = database.prepare('UPDATE orders SET state = ? WHERE id = ?');
  const setOrderSigned = database.prepare(
    "UPDATE orders SET state = 'signed', transaction_hash = ? WHERE id = ? AND state = 'accepted'",
  );
  const setOrderDueAgain = database.prepare(
    'UPDATE orders SET state = ?, due_at_ms = ?, refusals = refusals + ?, transaction_hash = NULL WHERE id = ?',
  );
  const insertTransfer = database.prepare(
    'INSERT INTO transfers (nonce, order_id, hash, raw_transaction, state) VALUES (?, ?, ?, ?, ?)',
  );
  const replaceTransfer = database.prepare(
    'UPDATE transfers SET hash = ?, raw_transaction = ? WHERE nonce = ?',
  );
  const setTransferState = database.prepare('UPDATE transfers SET state = ? WHERE nonce = ?');

  return {
    /** Binds an accepted order to its nonce. Only then may the transaction be sent. */
    addTransfer(transfer: Transfer & { readonly orderId: string }): void {
      inTransaction(database, () => {
        const { nonce, orderId, hash, rawTransaction } = transfer;
        insertTransfer.run(nonce, orderId, hash, rawTransaction, transfer.state);
        if (setOrderSigned.run(hash, orderId).changes !== 1)
          throw new Error(`order ${orderId} is not to be paid`);
      });
    },

    /** Stores the empty transaction that takes a nonce whose transfer must not happen (any more). */
    putFiller(filler: Transfer): void {
      inTransaction(database, () => {
        if (replaceTransfer.run(filler.hash, filler.rawTransaction, filler.nonce).changes === 0) {
          insertTransfer.run(filler.nonce, null, filler.hash, filler.rawTransaction, 'void');
        }
      });
    },

    /** The node has the transfer (again). */
    markSent(transfer: Transfer): void {
      inTransaction(database, () => {
        setTransferState.run('pending', transfer.nonce);
        setOrderState.run('sent', transfer.orderId);
      });
    },

    markDelivered(transfer: Transfer): void {
      inTransaction(database, () => {
        setTransferState.run('final', transfer.nonce);
        setOrderState.run('delivered', transfer.orderId);
      });
    },

    /** The transfer moved nothing and never will; its order is tried again with another nonce, or given up. */
    voidTransfer(
      transfer: Transfer,
      next: { readonly state: 'accepted' | 'failed'; readonly dueAtMs: number; readonly isRefused: boolean },
    ): void {
      inTransaction(database, () => {
        setTransferState.run('void', transfer.nonce);
        setOrderDueAgain.run(next.state, next.dueAtMs, next.isRefused ? 1 : 0, transfer.orderId);
      });
    },
  };
}

export type OrderStore = ReturnType<typeof openOrderStore>;

/** The simulated on-ramps' own store. Every write is on disk when the call returns. */
export function openOrderStore(path: string) {
  makeOwnFile(path);
  const database = new DatabaseSync(path);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;');
  database.exec(schema);
  addMissingColumn(database);
  return {
    ...openOrders(database),
    ...openNonces(database),
    ...openTransfers(database),
    close: () => database.close(),
  };
}

/**
 * The life of an order at a simulated on-ramp: open → accepted (the card was charged) → signed (its transfer is stored)
 * → sent (the node has it) → delivered (final on the chain), or → failed (the token refused it again and again). A
 * declined card leaves it open.
 */
const orderStates = ['open', 'accepted', 'signed', 'sent', 'delivered', 'failed'] as const;
export type OrderState = (typeof orderStates)[number];

/** A customer's purchase at a simulated on-ramp. */
export interface Order {
  readonly id: string;
  readonly provider: ProviderId;
  readonly amountCents: number;
  readonly currency: Currency;
  readonly walletAddress: Address;
  /** The shop's own name for it. */
  readonly externalId: string;
  readonly email: string | null;
  /** Empty at a provider without a return link. */
  readonly returnUrl: string;
  /** The quoted amount at the beginning of the session, 10⁻⁶ units. */
  readonly quotedUnits: bigint;
  readonly createdAtMs: number;
  /** The time until which it can be paid. */
  readonly expiresAtMs: number;
  readonly state: OrderState;
  /** The delivered amount once paid, 10⁻⁶ units; null while open. */
  readonly deliveryUnits: bigint | null;
  /** Whether the delivery is of another token than USDC. */
  readonly isWrongToken: boolean;
  /** The time of the delivery once paid; null while open. */
  readonly dueAtMs: number | null;
  /** The hash of the transfer that counts; null until one is signed. */
  readonly transactionHash: string | null;
  /** Number of failed transfers. */
  readonly refusals: number;
}

/** The duration of a session, like the real ones. */
export const SESSION_LIFETIME_MS = 30 * 60_000;

/**
 * One nonce of the treasury and the one transaction that may use it. `void` ones move nothing: their order got another
 * nonce, and if theirs becomes free again, an empty transaction takes it.
 */
export interface Transfer {
  readonly nonce: number;
  /** Null for an empty transaction that only fills a gap. */
  readonly orderId: string | null;
  readonly hash: string;
  readonly rawTransaction: string;
  readonly state: 'pending' | 'final' | 'void';
}
