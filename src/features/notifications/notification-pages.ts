import { checkFields, invalidField, ServiceError } from '../../payment/errors.ts';
import { actions, dataTable, headings } from '../../web/design/data-table.ts';
import { type Html, html, nothing } from '../../web/design/html.ts';
import { enforceRateLimit } from '../../web/rate-windows.ts';
import { DASHBOARD_PATH, record, type Visit } from '../../web/signed-in/context.ts';
import { moment } from '../../web/signed-in/format.ts';
import * as forms from '../../web/signed-in/forms.ts';
import { type DashboardRoutes, type PageView, type SeeOther, seeOther } from '../../web/signed-in/pages.ts';
import { reasonSentence } from '../../webhooks/delivery-reasons.ts';
import {
  channelKinds,
  isChannelKind,
  isNotificationEvent,
  MAXIMUM_CHANNELS,
  type NotificationChannel,
  notificationEvents,
  parseChannelField,
} from './notification-channel.ts';
import { testMessage } from './notification-message.ts';
import { addChannel, type ChannelsContext, sendToChannel, setPaused } from './send-notifications.ts';

const OWN_PATH = `${DASHBOARD_PATH}/notifications`;
const events = Object.keys(notificationEvents).filter(isNotificationEvent);
const kinds = Object.keys(channelKinds).filter(isChannelKind);
const eventLabels = {
  paid: 'Paid payments',
  partially_paid: 'Partially paid payments',
  late_money: 'Money after a cancellation or expiry',
  daily_sum: 'The daily summary, after midnight',
} as const;
const flashMessages = {
  added: 'The channel is added. Send a test message to see it arrive.',
  removed: 'The channel is deleted.',
  paused: 'The channel is paused.',
  resumed: 'The channel is active. Events during the pause are not sent.',
  tested: 'The test message is sent.',
};

export function registerNotificationPages(routes: DashboardRoutes, channels: ChannelsContext): void {
  const pages = routes.pages(
    { after: 'settings', group: 'Account', label: 'Notifications', path: '/notifications', role: 'viewer' },
    'viewer',
  );
  const show = (visit: Visit) => showChannels(channels, visit);
  pages.page('/notifications', show);
  pages.page('/notifications/add/:kind', showAdd);
  pages.form('/notifications/add/:kind', (visit, form) => answerAdd(channels, visit, form), showAdd);
  pages.form('/notifications/:channelId/test', (visit) => answerTest(channels, visit), show);
  pages.form('/notifications/:channelId/pause', async (visit, form) => {
    const isPaused = form.text('pause') !== '0';
    await setPaused(channels, visit.account, await findChannel(channels, visit), isPaused);
    return seeOther(`/notifications?flash=${isPaused ? 'paused' : 'resumed'}`);
  });
  pages.form('/notifications/:channelId/delete', async (visit) => {
    const channel = await findChannel(channels, visit);
    if (await channels.notifications.removeChannel(channel))
      await record(visit, 'notification.removed', nameOf(channel));
    return seeOther('/notifications?flash=removed');
  });
}

async function findChannel({ notifications }: ChannelsContext, { account, user, params }: Visit) {
  const channels = await notifications.listChannels(account.id, user.id);
  const channel = channels.find(({ id }) => id === params['channelId']);
  if (channel === undefined) throw new ServiceError('not_found');
  return channel;
}

const nameOf = ({ kind, hint }: NotificationChannel) => `${channelKinds[kind].name} ${hint}`.trim();

async function showChannels({ notifications }: ChannelsContext, visit: Visit): Promise<PageView> {
  const channels = await notifications.listChannels(visit.account.id, visit.user.id);
  const offered = kinds.filter((kind) => kind !== 'mail' || visit.context.mailer !== null);
  return {
    title: 'Notifications',
    main: html`${forms.flashOf(visit, flashMessages)}
<p>Only you see these channels. They receive events of <bdi>${visit.account.name}</bdi>, and end when you are no longer a member.</p>
${channels.length === 0 ? html`<p class="banner plain">No channels yet.</p>` : channelTable(channels, visit)}
<section class="card"><h2>Add a channel</h2>${
      channels.length >= MAXIMUM_CHANNELS
        ? html`<p>You have ${MAXIMUM_CHANNELS} channels, which is the maximum. To add another, delete one first.</p>`
        : html`<p class="actions">${offered.map((kind) => html`<a class="button" href="${OWN_PATH}/add/${kind}">${channelKinds[kind].name}</a>`)}</p>`
    }
<p class="hint">A channel receives at most 20 messages an hour. Further events are summed in one message.
For your shop’s software, use <a href="/docs/webhooks">webhooks</a>.</p></section>`,
  };
}

function channelTable(channels: readonly NotificationChannel[], visit: Visit): Html {
  return dataTable('Your channels', channels, {
    Channel: headings(
      (channel) =>
        html`<bdi>${nameOf(channel)}</bdi>${channel.kind === 'mail' ? html`<br><span class="soft small"><bdi>${visit.user.email}</bdi></span>` : nothing}`,
    ),
    Events: ({ events }) => events.map((event) => notificationEvents[event]).join(', '),
    Status: stateCell,
    'Last message': ({ lastSentAtMs }) =>
      lastSentAtMs === null ? 'never' : moment(lastSentAtMs, visit.timeZone),
    Action: actions(actionCell),
  });
}

function stateCell({ pausedReason, failuresInARow }: NotificationChannel): Html {
  if (pausedReason === 'member') return html`<span class="badge">Paused</span>`;
  if (pausedReason !== null)
    return html`<span class="badge bad">Paused after failures</span><br><span class="small">${failureSentence(pausedReason)} Correct it, then resume.</span>`;
  return failuresInARow > 0
    ? html`<span class="badge warn">Failing</span><br><span class="small">It is retried.</span>`
    : html`<span class="badge good">Active</span>`;
}

function failureSentence(failure: string): string {
  const [reason = '', ...answer] = failure.split(': ');
  return `${reasonSentence(reason)}${answer.length === 0 ? '' : ` It said “${answer.join(': ')}”.`}`;
}

function actionCell(channel: NotificationChannel): Html {
  const quiet = html`<span class="quiet"> ${nameOf(channel)}</span>`;
  const button = (action: string, name: string, value = '1', tone = '') =>
    html`<form method="post" action="${OWN_PATH}/${channel.id}/${action}"><button class="button compact ${tone}"
name="${action}" value="${value}">${name}${quiet}</button></form>`;
  return html`<div class="actions">${button('test', 'Send test')}
${channel.pausedReason === null ? button('pause', 'Pause') : button('pause', 'Resume', '0')}
${button('delete', 'Delete', '1', 'danger')}</div>`;
}

function kindOf({ params, context: { mailer } }: Visit) {
  const kind = params['kind'] ?? '';
  if (!isChannelKind(kind) || (kind === 'mail' && mailer === null)) throw new ServiceError('not_found');
  return kind;
}

async function showAdd(visit: Visit): Promise<PageView> {
  const kind = kindOf(visit);
  const { name, fields } = channelKinds[kind];
  const boxes = events.map((event) => [event, { label: eventLabels[event], type: 'checkbox', value: true }]);
  return {
    title: `Add a channel: ${name}`,
    main: html`${kind === 'mail' ? html`<p>Messages go to the address with which you sign in: <strong><bdi>${visit.user.email}</bdi></strong></p>` : nothing}
${forms.cardForm(visit, {
  action: `${OWN_PATH}/add/${kind}`,
  fields: { ...fields, ...Object.fromEntries(boxes) },
  button: 'Add channel',
})}`,
  };
}

async function answerAdd(channels: ChannelsContext, visit: Visit, form: forms.FormFields): Promise<SeeOther> {
  const { context } = visit;
  await enforceRateLimit(context.limits.channelsOfUser, visit.user.id);
  const kind = kindOf(visit);
  const chosen = events.filter((event) => form.has(event));
  const target = new Map<string, string>();
  const checks = Object.entries(channelKinds[kind].fields).map(([name, field]) => [
    name,
    () => target.set(name, parseChannelField(name, field, form.text(name))),
  ]);
  await checkFields({
    ...Object.fromEntries(checks),
    paid: () => {
      if (chosen.length === 0) throw invalidField('paid', 'needs at least one event');
    },
  });
  const added = { kind, target: Object.fromEntries(target), events: chosen };
  const channel = await addChannel(channels, visit.account, visit.user.id, added);
  await record(visit, 'notification.added', nameOf(channel));
  await mailAboutChannel(visit, channel).catch((error: unknown) =>
    visit.request.log.warn({ err: error }, 'the email about a new notification channel was not sent'),
  );
  return seeOther('/notifications?flash=added');
}

/** Notifies the member by email, because an attacker with a stolen session may have added the channel. */
async function mailAboutChannel(
  { account, user, context: { mailer, baseUrl } }: Visit,
  channel: NotificationChannel,
): Promise<void> {
  if (channel.kind === 'mail') return;
  await mailer?.send({
    to: user.email,
    subject: `New notification channel: ${nameOf(channel)}`,
    text: `A notification channel was added with your user to the account ${account.name}: ${nameOf(channel)}.

If you did not add it, delete it, change your password, and end your other sessions:
${baseUrl}${OWN_PATH}
`,
  });
}

async function answerTest(channels: ChannelsContext, visit: Visit): Promise<SeeOther> {
  const { context } = visit;
  const channel = await findChannel(channels, visit);
  await enforceRateLimit(context.limits.testMessagesOfUser, visit.user.id);
  const place = { shop: visit.account.name, dashboardUrl: `${context.baseUrl}${DASHBOARD_PATH}` };
  const outcome = await sendToChannel(
    { ...context, ...channels },
    channel,
    testMessage(channel.events, place),
  );
  if (outcome.result === 'sent') return seeOther('/notifications?flash=tested');
  const why =
    outcome.result === 'busy'
      ? 'There are too many messages at this moment: try again in a minute.'
      : failureSentence(outcome.reason);
  throw new ServiceError('invalid_request', `The test message was not sent. ${why}`);
}
