import { expect, it } from 'vitest';
import type { NotificationChannel } from '../../src/features/notifications/notification-channel.ts';
import { atOnce, givePayment, newPayment, type StoreContext } from './fixtures.ts';
import { giveMember } from './people.ts';

let lastNumber = 0;

export function newChannel(accountId: string, userId: string, change: Partial<NotificationChannel> = {}) {
  const channel: NotificationChannel = {
    id: `ntf_${++lastNumber}`,
    accountId,
    userId,
    kind: 'telegram',
    sealedTarget: 'sealed',
    hint: '…7890',
    events: ['paid', 'daily_sum'],
    createdAtMs: lastNumber,
    readThrough: 0,
    dailyDueAtMs: null,
    notBeforeMs: 1_000,
    hourStartMs: 0,
    sentInHour: 0,
    failuresInARow: 0,
    pausedReason: null,
    lastSentAtMs: null,
    ...change,
  };
  return channel;
}

export function notificationPromises(context: StoreContext): void {
  const { store } = context;
  const { payments, events, people, notifications } = store;
  async function giveViewer() {
    const payment = await givePayment(store);
    const { id: userId } = await giveMember(store, payment.accountId, 'viewer');
    return { payment, accountId: payment.accountId, userId };
  }
  const numberAll = async () => {
    while ((await events.numberEvents(200)) > 0);
  };
  const dueIds = async (nowMs: number, except: readonly string[] = []) =>
    (await notifications.listDueChannels(nowMs, except, 10)).map(({ id }) => id);

  it('are kept as they were added, of members only, and five at most', async () => {
    const { accountId, userId } = await giveViewer();
    const channels = Array.from({ length: 7 }, (_, index) =>
      newChannel(
        accountId,
        userId,
        index === 0 ? { dailyDueAtMs: 7, pausedReason: 'member', lastSentAtMs: 9 } : {},
      ),
    );
    const added = await atOnce(7, (index) =>
      notifications.addChannel(channels[index] as NotificationChannel),
    );
    expect(added.filter(Boolean)).toHaveLength(5);
    expect(await notifications.addChannel(newChannel(accountId, 'usr_other'))).toBe(false);
    await context.reopen();
    const kept = channels.filter((_, index) => added[index]);
    expect(await notifications.listChannels(accountId, userId)).toEqual(kept);
  });

  it('end with the membership, and only those of this member in this account', async () => {
    const { accountId, userId } = await giveViewer();
    const other = await giveViewer();
    const owner = { accountId, userId: other.userId, role: 'owner', createdAtMs: 1 } as const;
    await people.putMembership(owner);
    await people.putMembership({ ...owner, accountId: other.accountId, userId });
    for (const account of [accountId, other.accountId])
      for (const user of [userId, other.userId]) await notifications.addChannel(newChannel(account, user));
    await people.changeMembership(accountId, userId, null);
    const lengths = await Promise.all(
      [accountId, other.accountId].flatMap((account) =>
        [userId, other.userId].map(async (user) => (await notifications.listChannels(account, user)).length),
      ),
    );
    expect(lengths).toEqual([0, 1, 1, 1]);
  });

  it('are due with a newer event or a daily sum, unless paused, too early or named', async () => {
    const { payment, accountId, userId } = await giveViewer();
    const [reading, daily, paused, early, done] = [
      newChannel(accountId, userId),
      newChannel(accountId, userId, { readThrough: Number.MAX_SAFE_INTEGER, dailyDueAtMs: 1_500 }),
      newChannel(accountId, userId, { pausedReason: 'http_404' }),
      newChannel(accountId, userId, { notBeforeMs: 3_000 }),
      newChannel(accountId, userId, { readThrough: Date.now() + 60_000, notBeforeMs: 500 }),
    ] as const;
    for (const channel of [reading, daily, paused, early, done]) await notifications.addChannel(channel);
    expect(await dueIds(1_499)).toEqual([]);
    await payments.decidePayment(payment.id, () => ({
      change: { status: 'paid', forwardStatus: 'completed' },
    }));
    await numberAll();
    expect(await dueIds(1_000)).toEqual([reading.id]);
    expect((await dueIds(1_500)).sort()).toEqual([reading.id, daily.id].sort());
    expect(await dueIds(1_500, [reading.id])).toEqual([daily.id]);
    expect(await dueIds(999)).toEqual([]);
    const { newest } = await events.listEvents(accountId, 0, 1);
    expect(await notifications.readNewestEvent(accountId)).toBe(newest);
  });

  it('are changed by one of several, and by none after a removal', async () => {
    const { accountId, userId } = await giveViewer();
    const channel = newChannel(accountId, userId);
    await notifications.addChannel(channel);
    const claimed = { ...channel, notBeforeMs: 2_000, readThrough: 4, sentInHour: 1 };
    const claims = await atOnce(5, () => notifications.updateChannel(channel, claimed));
    expect(claims.filter(Boolean)).toHaveLength(1);
    expect(await notifications.listChannels(accountId, userId)).toEqual([claimed]);
    expect(await notifications.removeChannel(channel)).toBe(true);
    expect(await notifications.removeChannel(channel)).toBe(false);
    expect(await notifications.updateChannel(claimed, channel)).toBe(false);
  });

  it('read the wanted events after the last one, and tell late money from a partial payment that expired', async () => {
    const { payment, accountId, userId } = await giveViewer();
    const channel = newChannel(accountId, userId, { events: ['paid', 'late_money'] });
    const attention = { status: 'canceled', forwardStatus: 'manual_required' } as const;
    const [late, expired, partial] = [payment, newPayment(accountId), newPayment(accountId)] as const;
    for (const each of [expired, partial]) await payments.createPayment(each, null);
    await payments.decidePayment(partial.id, () => ({ change: { amountMismatch: 'partially_paid' } }));
    await payments.decidePayment(expired.id, () => ({ change: attention }));
    await payments.decidePayment(late.id, () => ({
      change: { status: 'canceled', forwardStatus: 'canceled' },
    }));
    await payments.decidePayment(late.id, () => ({ change: attention }));
    await numberAll();
    const news = await notifications.readNews(channel, 5);
    expect([...news.counts]).toEqual([['late_money', 1]]);
    expect(news.newest.map(({ payment: { id } }) => id)).toEqual([late.id]);
    expect(news.through).toBe(await notifications.readNewestEvent(accountId));
    // The rest arrives in another millisecond than the payment expired in.
    for (const expiredAtMs = Date.now(); Date.now() === expiredAtMs; );
    await payments.decidePayment(expired.id, () => ({ change: { receivedUnits: 20_000n } }));
    await numberAll();
    const restArrived = await notifications.readNews({ ...channel, readThrough: news.through }, 5);
    expect(restArrived.newest.map(({ payment: { id } }) => id)).toEqual([expired.id]);
    const after = await notifications.readNews({ ...channel, readThrough: restArrived.through }, 5);
    expect([after.counts.size, after.newest, after.through]).toEqual([0, [], restArrived.through]);
  });

  it('read 5,000 events at a time, whatever their numbers are', async () => {
    const { payment, accountId, userId } = await giveViewer();
    await context.change(`INSERT INTO event_numbers (account_id, newest) VALUES ('${accountId}', 50010)`);
    await context.change(`
      WITH RECURSIVE one AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM one WHERE i < 5001)
      INSERT INTO events (account_id, number, at_ms, type, payment_id)
      SELECT '${accountId}', i * 10, ${Date.now()}, 'payment.paid', '${payment.id}' FROM one`);
    const channel = newChannel(accountId, userId, { events: ['paid'] });
    const first = await notifications.readNews(channel, 0);
    expect([first.counts.get('paid'), first.through]).toEqual([5_000, 50_000]);
    const rest = await notifications.readNews({ ...channel, readThrough: first.through }, 0);
    expect([rest.counts.get('paid'), rest.through]).toEqual([1, 50_010]);
  });
}
