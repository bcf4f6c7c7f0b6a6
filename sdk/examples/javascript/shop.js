/**
 * The shop of the examples: orders in SQLite and code that all frameworks share. The other files show how each
 * framework provides the raw body.
 */
import { DatabaseSync } from 'node:sqlite';
import { createClient, followEvents, fulfilOnce, WebhookError, webhooks } from '@card-checkout/sdk';

/** Opens the shop with the variables that the README lists. */
export function openShop() {
  const { CARD_CHECKOUT_URL, CARD_CHECKOUT_KEY, CALLBACK_URL, PAYOUT_ADDRESS, ORDERS_FILE } = process.env;
  const client = createClient({
    baseUrl: required(CARD_CHECKOUT_URL, 'CARD_CHECKOUT_URL'),
    apiKey: required(CARD_CHECKOUT_KEY, 'CARD_CHECKOUT_KEY'),
    // Webhooks must be answered within ten seconds. The event log covers payments not confirmed in time.
    timeoutMs: 4_000,
    maximumRetries: 1,
    maximumPauseMs: 1_000,
  });
  const database = new DatabaseSync(ORDERS_FILE ?? 'orders.sqlite');
  database.exec(`
    PRAGMA journal_mode = WAL;
    CREATE TABLE IF NOT EXISTS orders (
      number INTEGER PRIMARY KEY, amount TEXT NOT NULL, created_at INTEGER NOT NULL,
      payment_id TEXT UNIQUE, ipn_token TEXT, fulfilled_at INTEGER
    );
    CREATE TABLE IF NOT EXISTS parcels (order_number INTEGER NOT NULL);
    CREATE TABLE IF NOT EXISTS event_cursor (number INTEGER NOT NULL);
    INSERT INTO event_cursor SELECT 0 WHERE NOT EXISTS (SELECT * FROM event_cursor);
    CREATE TABLE IF NOT EXISTS shop (id TEXT NOT NULL);
    INSERT INTO shop SELECT lower(hex(randomblob(8))) WHERE NOT EXISTS (SELECT * FROM shop);
  `);
  // Distinguishes orders of a new database from earlier orders with the same number.
  const shopId = database.prepare('SELECT id FROM shop').get()?.['id'];

  /**
   * Runs `mark` and, if it changed a row, `work` in one transaction. Both must be synchronous, so that no other code
   * runs in between.
   * @param {() => number | bigint} mark
   * @param {(transaction: DatabaseSync) => unknown} work
   */
  function runOnce(mark, work) {
    database.exec('BEGIN IMMEDIATE');
    try {
      const isFirst = mark() === 1;
      if (isFirst) work(database);
      database.exec('COMMIT');
      return isFirst;
    } catch (error) {
      database.exec('ROLLBACK');
      throw error;
    }
  }

  /**
   * Marks a payment's order as fulfilled and returns the number of changed rows: 1, or 0 if it was marked before.
   * @param {string} paymentId
   */
  const markFulfilled = (paymentId) =>
    database
      .prepare('UPDATE orders SET fulfilled_at = ? WHERE payment_id = ? AND fulfilled_at IS NULL')
      .run(Date.now(), paymentId).changes;

  /**
   * Queues a parcel for another program to send.
   * @param {unknown} number
   */
  const addParcel = (number) =>
    void database.prepare('INSERT INTO parcels (order_number) VALUES (?)').run(Number(number));

  /** @type {import('@card-checkout/sdk').FulfilmentStore<DatabaseSync>} */
  const store = {
    runOnce: async (paymentId, work) => runOnce(() => markFulfilled(paymentId), work),
  };

  /** Position in the event log, stored in the transaction with the effects of the event. */
  /** @type {import('@card-checkout/sdk').EventCursor<DatabaseSync>} */
  const cursor = {
    read: () => Number(database.prepare('SELECT number FROM event_cursor').get()?.['number']),
    advance: async (previous, number, work) =>
      runOnce(
        () =>
          database.prepare('UPDATE event_cursor SET number = ? WHERE number = ?').run(number, previous)
            .changes,
        work,
      ),
    skipTo: (number) => void database.prepare('UPDATE event_cursor SET number = ?').run(number),
  };

  /** @param {string} paymentId */
  const readOrder = (paymentId) =>
    database
      .prepare('SELECT number, amount, ipn_token AS ipnToken FROM orders WHERE payment_id = ?')
      .get(paymentId);

  /**
   * Fulfils a payment's order once it is paid.
   * @param {string} paymentId
   */
  async function fulfil(paymentId) {
    const order = readOrder(paymentId);
    if (order === undefined) return;
    await fulfilOnce(store, {
      client,
      payment: paymentId,
      expected: { amount: String(order['amount']), currency: 'USD' },
      fulfil: () => addParcel(order['number']),
    });
  }

  return {
    /**
     * Creates an order and its checkout.
     * @param {string} amount
     */
    async createOrder(amount) {
      const { lastInsertRowid: number } = database
        .prepare('INSERT INTO orders (amount, created_at) VALUES (?, ?)')
        .run(amount, Date.now());
      const payment = await client.checkouts.create(
        {
          address: required(PAYOUT_ADDRESS, 'PAYOUT_ADDRESS'),
          callback: required(CALLBACK_URL, 'CALLBACK_URL'),
          amount,
          note: `Order ${number}`,
        },
        { idempotencyKey: `${shopId}-${number}` },
      );
      database
        .prepare('UPDATE orders SET payment_id = ?, ipn_token = ? WHERE number = ?')
        .run(payment.payment_id, payment.ipn_token, number);
      // The ipn_token must stay on the server.
      return { order: Number(number), payment_id: payment.payment_id, checkout_url: payment.checkout_url };
    },

    /**
     * Receives a webhook as raw body and signature and returns the HTTP status.
     * @param {string | Uint8Array | ArrayBuffer} rawBody
     * @param {string | string[] | null | undefined} signature
     */
    async receive(rawBody, signature) {
      try {
        const event = await webhooks.constructEventAsync(rawBody, signature, (paymentId) => {
          const token = readOrder(paymentId)?.['ipnToken'];
          return typeof token === 'string' ? token : null;
        });
        await fulfil(event.paymentId);
        return 204;
      } catch (error) {
        if (error instanceof WebhookError) return error.httpStatus;
        console.error(error);
        return 500; // The webhook is not repeated, but the event log has it.
      }
    },

    /**
     * Returns the number of an order's fulfilments, 0 or 1, for tests.
     * @param {string} paymentId
     */
    countFulfilments(paymentId) {
      const row = database
        .prepare(
          'SELECT count(*) AS parcels FROM parcels JOIN orders ON number = order_number WHERE payment_id = ?',
        )
        .get(paymentId);
      return Number(row?.['parcels']);
    },

    /**
     * Follows the account's events until the signal aborts. The events come from the service, so they need no
     * confirmation. They include events whose webhook was missed.
     * @param {AbortSignal} signal
     */
    followEvents: (signal) =>
      followEvents({
        client,
        cursor,
        signal,
        onEvent(_transaction, { type, payment }) {
          const order = type === 'payment.paid' ? readOrder(payment.payment_id) : undefined;
          if (order === undefined) return;
          if (payment.currency !== 'USD' || Number(payment.amount) !== Number(order['amount']))
            return console.error(`${payment.payment_id}: ${payment.amount} ${payment.currency} were charged`);
          if (markFulfilled(payment.payment_id) === 1) addParcel(order['number']);
        },
        // After more than 30 days offline, reads the status of each open order, as the SDK's `reconcile` does.
        onGap: async () => {
          const open = database
            .prepare('SELECT payment_id AS id FROM orders WHERE fulfilled_at IS NULL')
            .all();
          for (const { id } of open) if (typeof id === 'string') await fulfil(id);
        },
        onError: (error) => console.error(error),
      }),
  };
}

/**
 * @param {string | undefined} value
 * @param {string} name
 */
function required(value, name) {
  if (!value) throw new Error(`${name} is not set`);
  return value;
}
