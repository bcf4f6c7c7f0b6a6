import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../../src/app/store/store.ts';
import { accountPromises } from './accounts.ts';
import { troublePromises } from './alerts.ts';
import type { OpenedStore } from './engines.ts';
import { emailPromises } from './erase-customer-data.ts';
import { eventPromises } from './events.ts';
import type { StoreContext } from './fixtures.ts';
import { journalPromises } from './journal.ts';
import { notificationPromises } from './notifications.ts';
import { observationPromises } from './observations.ts';
import { paymentListPromises } from './payment-lists.ts';
import { paymentPagePromises } from './payment-pages.ts';
import { paymentSearchPromises } from './payment-search.ts';
import { paymentPromises } from './payments.ts';
import { auditPromises, peoplePromises, sessionPromises } from './people.ts';
import { providerPromises } from './providers.ts';
import { receiptPromises } from './receipts.ts';
import { recordPromises } from './records.ts';
import { refundPromises } from './refunds.ts';
import { relayPromises } from './relay.ts';
import { restorePromises } from './restores.ts';
import { settlementPromises } from './settlements.ts';
import { statisticsPromises } from './statistics.ts';
import { webhookPromises } from './webhooks.ts';

/** A store whose ports lead to whatever store is open when they are asked. */
function standInFor(present: () => Store): Store {
  const portOf = (port: string | symbol) => Reflect.get(present(), port);
  const get = (_: object, port: string | symbol) =>
    new Proxy({}, { get: (__, method) => Reflect.get(portOf(port), method) });
  return new Proxy({}, { get }) as Store;
}

/** What every engine promises behind the store's ports. */
export function describeStore(name: string, open: () => Promise<OpenedStore>): void {
  describe(name, () => {
    let opened: OpenedStore;
    let store: Store;
    const context: StoreContext = {
      store: standInFor(() => store),
      async reopen() {
        store = await opened.reopen();
      },
      change: (sql) => opened.change(sql),
    };
    beforeEach(async () => {
      opened = await open();
      store = opened.store;
    });
    afterEach(() => opened.dispose());

    it('reports its size on disk, and the calls that share its connections', async () => {
      const reads = Array.from({ length: 14 }, () => store.observations.readCursor());
      expect(store.shared?.countCalls() ?? null).toEqual(
        name === 'SQLite' ? null : { running: 10, waiting: 4 },
      );
      await Promise.all(reads);
      const sizes = await store.readSize();
      expect(Object.keys(sizes)).toEqual(name === 'SQLite' ? ['data', 'wal'] : ['data']);
      expect(Object.values(sizes).reduce((sum, bytes) => sum + bytes)).toBeGreaterThan(50_000);
    });
    describe('accounts and keys', () => accountPromises(context));
    describe('payments', () => paymentPromises(context));
    describe('lists of payments', () => paymentListPromises(context));
    describe('searches of payments', () => paymentSearchPromises(context));
    describe('statistics of payments', () => statisticsPromises(context));
    describe('records of an account', () => recordPromises(context));
    describe('the observations', () => observationPromises(context));
    describe('the journal', () => journalPromises(context));
    describe('the relay', () => relayPromises(context));
    describe('restores', () => restorePromises(context));
    describe('events', () => eventPromises(context));
    describe('refunds', () => refundPromises(context));
    describe('payment pages', () => paymentPagePromises(context));
    describe('webhooks', () => webhookPromises(context));
    describe('provider settings', () => providerPromises(context));
    describe('people', () => peoplePromises(context));
    describe('sessions and links', () => sessionPromises(context));
    describe('the audit log', () => auditPromises(context));
    describe('the end of email addresses', () => emailPromises(context));
    describe('receipts by email', () => receiptPromises(context));
    describe('trouble to tell of', () => troublePromises(context));
    describe('notification channels', () => notificationPromises(context));
    describe('settlements', () => settlementPromises(context));
  });
}
