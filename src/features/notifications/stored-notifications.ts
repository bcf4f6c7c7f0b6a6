import { DAY_MS } from '../../platform/time-zone.ts';
import type { Table } from '../../store/columns.ts';
import { newestNumber } from '../../store/events.ts';
import { selectPayment } from '../../store/payments.ts';
import { lockMembers } from '../../store/people.ts';
import { quietUntilMs } from '../../store/restores.ts';
import { countOf, hasRow, run, runForOne, type Scripts, sql, tablesIn } from '../../store/scripts.ts';
import type { StoredFeature } from '../../store/stored-feature.ts';
import { eventTable } from '../../store/tables.ts';
import {
  MAXIMUM_CHANNELS,
  type NotificationChannel,
  notifiedTypes,
  type PaymentNotification,
} from './notification-channel.ts';
import type { PaymentNews } from './notification-message.ts';
import type { NotificationStore } from './send-notifications.ts';

const tables: Table[] = [];
const table = tablesIn(tables);

const channelTable = table<NotificationChannel>('notification_channels', ['id'])({
  text: ['id', 'accountId', 'userId', 'kind', 'sealedTarget', 'hint', 'pausedReason'],
  texts: ['events'],
  integer: [
    'createdAtMs',
    'readThrough',
    'dailyDueAtMs',
    'notBeforeMs',
    'hourStartMs',
    'sentInHour',
    'failuresInARow',
    'lastSentAtMs',
  ],
});

/** Maximum number of events per message. Reading so many takes a few milliseconds. */
const EVENTS_AT_A_TIME = 5_000;

/** Condition for an event after a cancellation or expiry. It excludes the expiry of a partially paid payment. */
const isLate = sql`EXISTS (
  SELECT 1 FROM state_changes
  WHERE state_changes.payment_id = events.payment_id
    AND (state_changes.at_ms <= events.at_ms AND state_changes.state IN ('canceled/canceled', 'canceled/completed')
      OR state_changes.at_ms < events.at_ms AND state_changes.state = 'canceled/manual_required'))`;

export function createNotificationStore({ read, write }: Scripts): NotificationStore {
  return {
    addChannel: write(function* (channel) {
      const { accountId, userId } = channel;
      // Locks the members, because a channel must not outlive its membership.
      yield* lockMembers(accountId);
      const isMember = yield* hasRow`
        SELECT user_id FROM memberships WHERE account_id = ${accountId} AND user_id = ${userId}`;
      const others = yield* countOf`
        notification_channels WHERE account_id = ${accountId} AND user_id = ${userId}`;
      if (!isMember || others >= MAXIMUM_CHANNELS) return false;
      yield* channelTable.insert(channel);
      return true;
    }),
    listChannels: read(
      (accountId, userId) => channelTable.select`
        WHERE account_id = ${accountId} AND user_id = ${userId} ORDER BY created_at_ms, id`,
    ),
    updateChannel: write(function* (before, after) {
      // Locks the row by updating it, so that no other process claims or removes the channel.
      const isUnchanged = yield* hasRow`
        UPDATE notification_channels SET not_before_ms = not_before_ms
        WHERE id = ${before.id} AND not_before_ms = ${before.notBeforeMs}
          AND coalesce(paused_reason, '') = ${before.pausedReason ?? ''} RETURNING id`;
      if (isUnchanged) yield* channelTable.update(after);
      return isUnchanged;
    }),
    removeChannel: write(({ id }) => hasRow`DELETE FROM notification_channels WHERE id = ${id} RETURNING id`),
    listDueChannels: read(
      (nowMs, except, limit) => channelTable.select`
        WHERE paused_reason IS NULL AND not_before_ms <= ${nowMs} AND id <> ALL(${except})
          AND (daily_due_at_ms <= ${nowMs} OR read_through < (
            SELECT newest FROM event_numbers WHERE event_numbers.account_id = notification_channels.account_id))
        ORDER BY not_before_ms LIMIT ${limit}`,
    ),
    readNews: read(function* ({ accountId, readThrough, events }, named) {
      const last = yield* runForOne<{ number: number }>`
        SELECT number FROM events WHERE account_id = ${accountId} AND number > ${readThrough}
        ORDER BY number LIMIT 1 OFFSET ${EVENTS_AT_A_TIME - 1}`;
      const through = Number(last?.number ?? (yield* newestNumber(accountId)));
      const kinds = new Map(
        events.flatMap((event) => (event === 'daily_sum' ? [] : [[notifiedTypes[event], event]])),
      );
      const found = yield* eventTable.select`
        WHERE account_id = ${accountId} AND number > ${readThrough} AND number <= ${through} AND at_ms > ${yield* quietUntilMs()}
          AND type = ANY(${[...kinds.keys()]}) AND (type <> ${notifiedTypes.late_money} OR ${isLate})
        ORDER BY number DESC`;
      const counts = new Map<PaymentNotification, number>();
      const newest: PaymentNews['newest'][number][] = [];
      for (const { type, paymentId } of found) {
        const event = kinds.get(type as (typeof notifiedTypes)[PaymentNotification]);
        if (event === undefined) continue;
        counts.set(event, (counts.get(event) ?? 0) + 1);
        const payment = newest.length < named ? yield* selectPayment(paymentId) : null;
        if (payment !== null) newest.push({ event, payment });
      }
      return { through, counts, newest };
    }),
    readNewestEvent: read(newestNumber),
  };
}

export const storedNotifications: StoredFeature = {
  schema: new URL('schema.sql', import.meta.url),
  tables,
  // Skips a due daily summary, which may have been sent before the restore.
  *restored(nowMs) {
    yield* run`
      UPDATE notification_channels SET daily_due_at_ms = daily_due_at_ms + ${DAY_MS} * (1 + (${nowMs} - daily_due_at_ms) / ${DAY_MS})
      WHERE daily_due_at_ms <= ${nowMs}`;
  },
  *memberRemoved(accountId, userId) {
    yield* run`DELETE FROM notification_channels WHERE account_id = ${accountId} AND user_id = ${userId}`;
  },
};
