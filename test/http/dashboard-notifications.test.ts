import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { User } from '../../src/accounts/person.ts';
import { startChatReceiver, targets } from '../support/chat-receiver.ts';
import { type TestShop, useShop } from '../support/dashboard-shop.ts';
import { expectSays, textOf } from '../support/page-text.ts';

const OWN_PATH = '/dashboard/notifications';

let chat: Awaited<ReturnType<typeof startChatReceiver>>;
let { dashboard, account, user: viewer, browser } = {} as TestShop;

beforeAll(async () => {
  chat = await startChatReceiver();
});
afterAll(() => chat.close());
beforeEach(() => {
  chat.messages.length = 0;
});
const reopen = useShop((shop) => ({ dashboard, account, user: viewer, browser } = shop), {
  role: 'viewer',
  sendNotification: (...message) => chat.senderWith(null)(...message),
});

const channelsOf = (user: User = viewer) => dashboard.store.notifications.listChannels(account.id, user.id);
const add = (kind: string, fields: Record<string, string>) => browser.post(`${OWN_PATH}/add/${kind}`, fields);
const addSlack = (change: Record<string, string> = {}) =>
  add('slack', { ...targets.slack, paid: '1', late_money: '1', ...change });
const open = async (url = OWN_PATH) => textOf((await browser.get(url)).payload);

describe('notification channels', () => {
  it('are added, tested, paused, resumed and deleted by a member, who sees the address masked', async () => {
    const added = await addSlack();
    expect([added.statusCode, added.headers['location']]).toEqual([303, `${OWN_PATH}?flash=added`]);
    const [channel] = await channelsOf();
    expect(channel).toMatchObject({ kind: 'slack', events: ['paid', 'late_money'], hint: '…SLCK' });
    const page = (await browser.get(OWN_PATH)).payload;
    expect(textOf(page)).toContain('Slack …SLCK');
    expect(textOf(page)).toContain('Paid, Late deposit');
    expect(page).not.toContain('hooks.slack.com/services');
    expect(dashboard.logLines.join('')).not.toContain('aaaaaaaaaaaaaaaaaaaaSLCK');

    const own = `${OWN_PATH}/${channel?.id}`;
    const tested = await browser.post(`${own}/test`, {});
    expect(tested.headers['location']).toBe(`${OWN_PATH}?flash=tested`);
    expect(JSON.stringify(chat.messages)).toContain('notified of: paid, late deposit.');
    await browser.post(`${own}/pause`, { pause: '1' });
    expect(await open()).toContain('Paused');
    await browser.post(`${own}/pause`, { pause: '0' });
    expect(await open()).toContain('Active');
    await browser.post(`${own}/delete`, {});
    expect(await channelsOf()).toEqual([]);
    const entries = await dashboard.store.audit.listEntries(account.id, null, 2);
    expect(entries.map(({ action, target }) => [action, target])).toEqual([
      ['notification.removed', 'Slack …SLCK'],
      ['notification.added', 'Slack …SLCK'],
    ]);
  });

  it('by mail go to the member’s own address, which no form can change', async () => {
    await add('mail', { paid: '1', email: 'other@example.com' });
    expect(await channelsOf()).toMatchObject([{ kind: 'mail', hint: '' }]);
    expect(await open()).toContain(viewer.email);
  });

  it('by mail are not offered where no mail is configured', async () => {
    await reopen({ hasMail: false });
    expect((await browser.get(OWN_PATH)).payload).not.toContain('/add/mail');
    expect((await browser.get(`${OWN_PATH}/add/mail`)).statusCode).toBe(404);
  });

  it.each([
    ['slack', 'slack_url', 'http://hooks.slack.com/services/T00000001/B00000002/aaaaaaaaaaaaaaaaaaaaaaaa'],
    [
      'slack',
      'slack_url',
      'https://hooks.slack.com.evil.example/services/T0000001/B0000002/aaaaaaaaaaaaaaaaaaaa',
    ],
    ['slack', 'slack_url', 'https://hooks.slack.com/services/T00000001/B00000002/aaaaaaaaaaaaaaaaaaaa?x=1'],
    ['slack', 'slack_url', ''],
    ['discord', 'discord_url', `https://evil.example/api/webhooks/123456789012345678/${'d'.repeat(68)}`],
    [
      'discord',
      'discord_url',
      `https://discord.com@evil.example/api/webhooks/123456789012345678/${'d'.repeat(68)}`,
    ],
    ['discord', 'discord_url', 'https://discord.com/api/webhooks/123456789012345678/../../x'],
    ['telegram', 'telegram_token', '123456789:short'],
    ['telegram', 'telegram_token', `123456789:${'t'.repeat(35)}/../x`],
    ['telegram', 'telegram_chat', 'me'],
    ['telegram', 'telegram_chat', '0'],
    ['telegram', 'telegram_chat', '12 34'],
  ])('of %s refuse %s %j at the field, and keep what was typed', async (kind, field, typed) => {
    const valid: Record<string, string> = targets[kind as keyof typeof targets];
    const answer = await add(kind, { ...valid, [field]: typed, partially_paid: '1' });
    expect(answer.statusCode).toBe(400);
    expect(answer.payload).toContain(`id="${field}-error"`);
    expect(answer.payload).toContain('Nothing was saved. Check:');
    const page = answer.payload.replaceAll(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)));
    for (const [name, value] of Object.entries({ ...valid, [field]: typed }))
      expect(page).toContain(`name="${name}" type="text" value="${value}"`);
    expect(answer.payload).toMatch(/id="partially_paid"[^>]* checked/);
    expect(answer.payload).not.toMatch(/id="daily_sum"[^>]* checked/);
    expect(await channelsOf()).toEqual([]);
  });

  it('without an event, of an unknown kind or beyond five are refused', async () => {
    const empty = await add('slack', { ...targets.slack });
    expect([empty.statusCode, empty.payload.includes('id="paid-error"')]).toEqual([400, true]);
    expect((await browser.get(`${OWN_PATH}/add/fax`)).statusCode).toBe(404);
    expect((await browser.post(`${OWN_PATH}/add/toString`)).statusCode).toBe(404);
    for (let count = 0; count < 5; count++) await addSlack();
    const sixth = await addSlack();
    expectSays(sixth, 400, 'You have 5 channels, which is the maximum');
    expect(sixth.payload).toContain('aaaaaaaaaaaaaaaaaaaaSLCK');
    expect(await channelsOf()).toHaveLength(5);
    expect((await browser.get(OWN_PATH)).payload).not.toContain('/add/slack');
  });

  it('of a chat are announced to the member by mail, which names no secret', async () => {
    const mails = dashboard.mails.length;
    await add('mail', { paid: '1' });
    expect(dashboard.mails).toHaveLength(mails);
    await addSlack();
    const mail = dashboard.mails.at(-1);
    expect(mail).toMatchObject({ to: viewer.email, subject: 'New notification channel: Slack …SLCK' });
    expect(mail?.text).toContain('/dashboard/notifications');
    expect(JSON.stringify(mail)).not.toContain('hooks.slack.com');
  });

  it('are added twenty times an hour at most, however often they are deleted', async () => {
    for (let count = 0; count < 20; count++) {
      await addSlack();
      const [channel] = await channelsOf();
      await browser.post(`${OWN_PATH}/${channel?.id}/delete`, {});
    }
    expect((await addSlack()).statusCode).toBe(429);
    expect(await channelsOf()).toEqual([]);
  });

  it('of another member, or of the same one in another account, do not exist', async () => {
    await addSlack();
    const [channel] = await channelsOf();
    const other = await dashboard.giveUser({ accountId: account.id, role: 'owner' });
    browser = await dashboard.signIn(other);
    await addSlack();
    for (const action of ['test', 'pause', 'delete']) {
      const answer = await browser.post(`${OWN_PATH}/${channel?.id}/${action}`, {});
      expect(answer.statusCode).toBe(404);
    }
    expect(await channelsOf()).toHaveLength(1);
    expect(chat.messages).toEqual([]);
    await dashboard.store.people.changeMembership(account.id, viewer.id, null);
    expect(await channelsOf()).toEqual([]);
    expect(await channelsOf(other)).toHaveLength(1);
  });

  it('say why a test message failed, and send ten an hour at most', async () => {
    await addSlack();
    const [channel] = await channelsOf();
    const test = () => browser.post(`${OWN_PATH}/${channel?.id}/test`, {});
    chat.plan('slack', { status: 404, body: 'no_service' }, { status: 429, body: 'rate_limited' });
    const failed = await test();
    expectSays(failed, 400, 'The endpoint responded with 404');
    expect(textOf(failed.payload)).toContain('It said “no_service”.');
    expect(textOf((await test()).payload)).toContain('too many messages at this moment');
    for (let count = 2; count < 10; count++) expect((await test()).statusCode).toBe(303);
    expect((await test()).statusCode).toBe(429);
  });

  it('that were paused after failures say why', async () => {
    await addSlack();
    const [channel] = await channelsOf();
    if (channel === undefined) throw new Error('there is no channel');
    const pausedReason = 'http_404: no_service';
    await dashboard.store.notifications.updateChannel(channel, { ...channel, pausedReason });
    const page = await open();
    expect(page).toContain('Paused after failures');
    expect(page).toContain('It said “no_service”. Correct it, then resume.');
  });
});
