import { DatabaseSync, type SQLOutputValue } from 'node:sqlite';
import type { Address } from '../src/payment/address.ts';
import type { Currency } from '../src/payment/money.ts';
import type { ProviderId } from '../src/payment/provider-catalog.ts';
import { makeOwnFile } from '../src/store/sqlite/open-database.ts';

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
    state TEXT NOT NULL CHECK (state IN ('open', 'accepted', 'sent', 'delivered', 'failed')),
    delivery_units TEXT,
    is_wrong_token INTEGER NOT NULL DEFAULT 0,
    due_at_ms INTEGER,
    nonce INTEGER UNIQUE,
    transaction_hash TEXT
  ) STRICT;
  CREATE INDEX IF NOT EXISTS orders_due ON orders (due_at_ms) WHERE state = 'accepted';
  CREATE INDEX IF NOT EXISTS orders_unpaid ON orders (expires_at_ms) WHERE state = 'open';
  CREATE INDEX IF NOT EXISTS orders_sent ON orders (nonce) WHERE state = 'sent';
`;

/** Time that an unpaid order is kept after it expires. Paid orders stay, because the chain keeps their transfers. */
const FORGET_UNPAID_AFTER_MS = 7 * 24 * 60 * 60_000;

export const SESSION_LIFETIME_MS = 30 * 60_000;

/**
 * State of an order at a simulated on-ramp: open → accepted (the card was charged) → sent (the node has the transfer) →
 * delivered (final on chain) or failed (the transfer's nonce is spent, but no money was moved). A declined card leaves
 * the order open.
 */
export type OrderState = 'open' | 'accepted' | 'sent' | 'delivered' | 'failed';

export interface Order {
  readonly id: string;
  readonly provider: ProviderId;
  readonly amountCents: number;
  readonly currency: Currency;
  readonly walletAddress: Address;
  /** The shop's id for the purchase. */
  readonly externalId: string;
  readonly email: string | null;
  /** Empty for a provider without a return link. */
  readonly returnUrl: string;
  /** Delivery quoted when the session started, in 10⁻⁶ USDC. */
  readonly quotedUnits: bigint;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly state: OrderState;
  /** Amount to deliver once paid, in 10⁻⁶ USDC; null while open. */
  readonly deliveryUnits: bigint | null;
  /** Whether a token other than USDC is delivered. */
  readonly isWrongToken: boolean;
  /** Nonce of the treasury's transfer; null until one is assigned. */
  readonly nonce: number | null;
  readonly transactionHash: string | null;
}

interface PlannedDelivery {
  /** In 10⁻⁶ USDC. */
  readonly units: bigint;
  readonly dueAtMs: number;
  readonly isWrongToken: boolean;
}

/** Converts a row. Its columns are the fields in snake case, and USDC amounts are text. */
function readOrder(row: Record<string, SQLOutputValue>): Order {
  const fields = Object.entries(row).map(([column, value]) => {
    const name = column.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
    return [name, name.endsWith('Units') && value !== null ? BigInt(value as string) : value] as const;
  });
  return { ...Object.fromEntries(fields), isWrongToken: row['is_wrong_token'] === 1 } as Order;
}

export type OrderStore = ReturnType<typeof openOrderStore>;

/** Opens the store of the simulated on-ramps. Every write is on disk when the call returns. */
export function openOrderStore(path: string) {
  makeOwnFile(path);
  const database = new DatabaseSync(path);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
  database.exec(schema);
  const insertOrder = database.prepare(
    `INSERT INTO orders (id, provider, amount_cents, currency, wallet_address, external_id, email, return_url,
       quoted_units, created_at_ms, expires_at_ms, state) VALUES (:id, :provider, :amountCents, :currency,
       :walletAddress, :externalId, :email, :returnUrl, :quotedUnits, :createdAtMs, :expiresAtMs, 'open')`,
  );
  insertOrder.setAllowUnknownNamedParameters(true);
  const forgetUnpaid = database.prepare("DELETE FROM orders WHERE state = 'open' AND expires_at_ms < ?");
  const selectOrder = database.prepare('SELECT * FROM orders WHERE id = ?');
  const acceptOpen = database.prepare(
    `UPDATE orders SET state = 'accepted', delivery_units = ?, due_at_ms = ?, is_wrong_token = ?
      WHERE id = ? AND state = 'open' AND expires_at_ms > ?`,
  );
  const selectDue = database.prepare(
    `SELECT * FROM orders WHERE state = 'accepted' AND nonce IS NULL AND due_at_ms <= ?
      ORDER BY due_at_ms, id LIMIT ?`,
  );
  const selectHighestNonce = database.prepare('SELECT max(nonce) AS nonce FROM orders');
  const selectByNonce = database.prepare('SELECT * FROM orders WHERE nonce = ?');
  const selectSent = database.prepare(
    "SELECT * FROM orders WHERE state = 'sent' AND nonce < ? ORDER BY nonce LIMIT ?",
  );
  const assignNonce = database.prepare(
    'UPDATE orders SET nonce = ?, transaction_hash = ? WHERE id = ? AND nonce IS NULL',
  );
  const setState = database.prepare('UPDATE orders SET state = ? WHERE id = ?');

  return {
    createOrder(
      order: Omit<Order, 'state' | 'deliveryUnits' | 'isWrongToken' | 'nonce' | 'transactionHash'>,
    ) {
      forgetUnpaid.run(order.createdAtMs - FORGET_UNPAID_AFTER_MS);
      insertOrder.run({ ...order, quotedUnits: String(order.quotedUnits) });
    },

    findOrder(id: string): Order | null {
      const row = selectOrder.get(id);
      return row === undefined ? null : readOrder(row);
    },

    /** Accepts an order. Returns false if it is not open or has expired, so that a second click pays nothing. */
    acceptOrder(id: string, { units, dueAtMs, isWrongToken }: PlannedDelivery, nowMs: number): boolean {
      return acceptOpen.run(String(units), dueAtMs, isWrongToken ? 1 : 0, id, nowMs).changes === 1;
    },

    /** Lists accepted orders without a nonce whose delivery is due. */
    listDueOrders: (nowMs: number, limit: number): readonly Order[] =>
      selectDue.all(nowMs, limit).map(readOrder),

    /** Returns one more than the highest assigned nonce, or 0 if there is none. */
    nextNonce: (): number => Number(selectHighestNonce.get()?.['nonce'] ?? -1) + 1,

    /** Permanently assigns a nonce to an order. The transaction may be sent only afterwards. */
    assignNonce(id: string, nonce: number, transactionHash: string): void {
      if (assignNonce.run(nonce, transactionHash, id).changes !== 1)
        throw new Error(`order ${id} has a nonce already`);
    },

    findByNonce(nonce: number): Order | null {
      const row = selectByNonce.get(nonce);
      return row === undefined ? null : readOrder(row);
    },

    /** Lists orders in the state `sent` with nonces below this one, lowest first. */
    listSentOrders: (belowNonce: number, limit: number): readonly Order[] =>
      selectSent.all(belowNonce, limit).map(readOrder),

    setState: (id: string, state: OrderState) => void setState.run(state, id),
    close: () => database.close(),
  };
}
