import { recordAction } from '../../accounts/people-context.ts';
import { invalidField, ServiceError } from '../../domain/errors.ts';
import {
  type ChannelKind,
  channelKinds,
  isChannelKind,
  isNotificationEvent,
  MAXIMUM_CHANNELS,
  type NotificationChannel,
  type NotificationOutcome,
  notificationEvents,
  parseChannelField,
} from '../../domain/notification.ts';
import { testMessage } from '../../domain/notification-message.ts';
import { addChannel, findChannel, setPaused } from '../../payments/notification-channels.ts';
import { sendToChannel } from '../../payments/send-notifications.ts';
import { dataTable } from '../design/data-table.ts';
import { type Html, html, nothing } from '../design/html.ts';
import { requirePassing } from '../rate-limit.ts';
import {
  DASHBOARD_PATH,
  type DashboardContext,
  type DashboardRoutes,
  type Visit,
} from '../signed-in/context.ts';
import { moment } from '../signed-in/format.ts';
import * as forms from '../signed-in/forms.ts';
import { dashboardPages, type FormHandler, type PageView, seeOther } from '../signed-in/signed-in-page.ts';
import { collectFieldErrors, errorSummary, type FieldErrors, noErrors } from './field-errors.ts';
import { reasonSentence } from './payment-words.ts';

const OWN_PATH = `${DASHBOARD_PATH}/notifications`;
const events = Object.keys(notificationEvents).filter(isNotificationEvent);
const eventLabels = {
  paid: 'A payment is paid',
  partially_paid: 'A payment is partially paid',
  late_money: 'Money arrives for a canceled or expired payment',
  daily_sum: 'The daily sum, after midnight',
} as const satisfies Record<keyof typeof notificationEvents, string>;

const flashMessages = {
  added: 'The channel is added. Send a test message to see it arrive.',
  removed: 'The channel is deleted.',
  paused: 'The channel is paused.',
  resumed: 'The channel is active. Events during the pause are not sent.',
  tested: 'The test message is sent.',
};

/** A member's own notification channels in the account. */
export function registerNotificationPages(routes: DashboardRoutes): void {
  const pages = dashboardPages(routes, 'notifications', 'viewer');
  pages.page('/notifications', (context, visit) => showChannels(context, visit));
  pages.page('/notifications/add/:kind', async (context, visit) => addView(context, visit));
  pages.form('/notifications/add/:kind', answerAdd, async (context, visit, { message }, form) =>
    addView(context, visit, { message: forms.banner('bad', message), form }),
  );
  pages.form('/notifications/:channelId/test', answerTest);
  pages.form('/notifications/:channelId/pause', answerPause);
  pages.page('/notifications/:channelId/delete', async (context, visit) => {
    const channel = await ownChannel(context, visit);
    return forms.confirmationPage(visit, {
      title: 'Delete this channel?',
      effect: html`<p><strong>${nameOf(channel)}</strong></p><p>It receives no further notifications, and its address is erased.</p>`,
      action: `${OWN_PATH}/${channel.id}/delete`,
      button: 'Delete the channel',
      back: OWN_PATH,
    });
  });
  pages.form('/notifications/:channelId/delete', async (context, visit) => {
    const channel = await ownChannel(context, visit);
    await context.notifications.removeChannel(channel);
    await recordAction(context, visit.account.id, visit.actor, 'notification.removed', nameOf(channel));
    return seeOther('/notifications?flash=removed');
  });
}

const ownChannel = (context: DashboardContext, { account, user, params }: Visit) =>
  findChannel(context, account.id, user.id, params['channelId'] ?? '');

const nameOf = ({ kind, hint }: Pick<NotificationChannel, 'kind' | 'hint'>) =>
  `${channelKinds[kind].name}${hint === '' ? '' : ` ${hint}`}`;

async function showChannels(context: DashboardContext, visit: Visit, message = nothing): Promise<PageView> {
  const channels = await context.notifications.listChannels(visit.account.id, visit.user.id);
  const kinds = (Object.keys(channelKinds) as ChannelKind[]).filter((kind) => isOffered(context, kind));
  return {
    title: 'Notifications',
    main: html`${message}${forms.flashOf(visit, flashMessages)}
<p>Only you see these channels. They receive events of <bdi>${visit.account.name}</bdi>, and end when you are no longer a member.</p>
${channels.length === 0 ? html`<p class="banner plain">No channels yet.</p>` : channelTable(channels, visit)}
<section class="card"><h2>Add a channel</h2>${
      channels.length >= MAXIMUM_CHANNELS
        ? html`<p>You have ${MAXIMUM_CHANNELS} channels, which is the maximum. To add another, delete one first.</p>`
        : html`<p class="actions">${kinds.map((kind) => html`<a class="button" href="${OWN_PATH}/add/${kind}">${channelKinds[kind].name}</a>`)}</p>`
    }
<p class="hint">A channel receives at most 20 messages an hour. Further events are summed in one message. Webhooks for your shop are separate: <a href="/docs/webhooks">see Webhooks</a>.</p></section>`,
  };
}

function isOffered({ mailer }: DashboardContext, kind: ChannelKind): boolean {
  return kind !== 'mail' || mailer !== null;
}

function channelTable(channels: readonly NotificationChannel[], visit: Visit): Html {
  return dataTable({
    label: 'Your channels',
    columns: ['Channel', 'Events', 'State', 'Last message', { name: 'Action', holds: 'actions' }],
    hasRowHeadings: true,
    rows: channels.map((channel) => [
      html`<bdi>${nameOf(channel)}</bdi>${channel.kind === 'mail' ? html`<br><span class="soft small"><bdi>${visit.user.email}</bdi></span>` : nothing}`,
      channel.events.map((event) => notificationEvents[event]).join(', '),
      stateCell(channel),
      channel.lastSentAtMs === null
        ? html`<span class="soft">never</span>`
        : moment(channel.lastSentAtMs, visit.timeZone),
      actionCell(channel, visit),
    ]),
  });
}

function stateCell({ pausedReason, failuresInARow }: NotificationChannel): Html {
  if (pausedReason === 'member') return html`<span class="badge">Paused</span>`;
  if (pausedReason !== null)
    return html`<span class="badge bad">Paused after failures</span><br><span class="small">${failureSentence(pausedReason)} Correct it, then resume.</span>`;
  if (failuresInARow > 0)
    return html`<span class="badge warn">Failing</span><br><span class="small">It is retried.</span>`;
  return html`<span class="badge good">Active</span>`;
}

/** A stored failure: a reason of a delivery, and what the channel answered. */
function failureSentence(failure: string): string {
  const [reason = '', ...answer] = failure.split(': ');
  if (reason === 'mail_failed') return 'The mail server refused the message.';
  if (reason === 'mail_not_configured') return 'This service sends no e-mail.';
  if (reason === 'signing_key_missing') return 'The secret that sealed the address is no longer configured.';
  const said = answer.length === 0 ? '' : ` It said: ${answer.join(': ')}`;
  return `${reasonSentence(reason)}${said}${said === '' || said.endsWith('.') ? '' : '.'}`;
}

function actionCell(channel: NotificationChannel, visit: Visit): Html {
  const quiet = html`<span class="quiet"> ${nameOf(channel)}</span>`;
  const button = (action: string, name: string, value: string) =>
    html`<form method="post" action="${OWN_PATH}/${channel.id}/${action}">${forms.formTokenField(visit.formToken)}<button class="button compact" name="${action}" value="${value}">${name}${quiet}</button></form>`;
  return html`<div class="actions">${button('test', 'Send test', '1')}
${channel.pausedReason === null ? button('pause', 'Pause', '1') : button('pause', 'Resume', '0')}
<a class="button compact danger" href="${OWN_PATH}/${channel.id}/delete">Delete${quiet}</a></div>`;
}

interface Shown {
  readonly message?: Html;
  readonly form?: forms.FormFields;
  readonly errors?: FieldErrors;
}

/** The form of a kind, with what was typed. */
function addView(
  context: DashboardContext,
  visit: Visit,
  { message = nothing, form, errors = noErrors }: Shown = {},
): PageView {
  const kind = kindOf(context, visit);
  const { name, fields } = channelKinds[kind];
  const error = errors.get('events');
  return {
    title: `Add a channel: ${name}`,
    main: html`${message}
<form class="card" method="post" action="${OWN_PATH}/add/${kind}">${forms.formTokenField(visit.formToken)}
${kind === 'mail' ? html`<p>Messages go to your own address: <strong><bdi>${visit.user.email}</bdi></strong></p>` : nothing}
${fields.map(({ name, label, hint }) => forms.textField({ name, label, hint, value: form?.text(name) ?? '', error: errors.get(name) }))}
<fieldset class="field" id="events"${forms.describedBy('events', { error })}><legend>Notify me when</legend>${events.map((event) => html`<div class="actions">${forms.tickField({ type: 'checkbox', name: event, isChecked: form === undefined || form.has(event), label: eventLabels[event] })}</div>`)}${forms.notesOf('events', { error })}</fieldset>
<p class="actions"><button class="button primary">Add channel</button><a class="button" href="${OWN_PATH}">Cancel</a></p></form>`,
  };
}

function labelsOf(kind: ChannelKind) {
  const fields = channelKinds[kind].fields.map(({ name, label }) => [name, label]);
  return { ...Object.fromEntries(fields), events: 'Notify me when' };
}

function kindOf(context: DashboardContext, { params }: Visit): ChannelKind {
  const kind = params['kind'] ?? '';
  if (!isChannelKind(kind) || !isOffered(context, kind)) throw new ServiceError('not_found');
  return kind;
}

const answerAdd: FormHandler = async (context, visit, form) => {
  const kind = kindOf(context, visit);
  const { fields } = channelKinds[kind];
  const chosen = events.filter((event) => form.has(event));
  const errors = await collectFieldErrors({
    ...Object.fromEntries(
      fields.map((field) => [field.name, () => parseChannelField(field, form.text(field.name))]),
    ),
    events: () => {
      if (chosen.length === 0) throw invalidField('events', 'needs at least one event');
    },
  });
  if (errors.size > 0) {
    const message = errorSummary('No channel was added.', labelsOf(kind), errors);
    return { ...addView(context, visit, { message, form, errors }), status: 400 };
  }
  const target = Object.fromEntries(fields.map(({ name }) => [name, form.text(name).trim()]));
  const channel = await addChannel(context, visit.account, visit.user.id, { kind, target, events: chosen });
  await recordAction(context, visit.account.id, visit.actor, 'notification.added', nameOf(channel));
  return seeOther('/notifications?flash=added');
};

const answerTest: FormHandler = async (context, visit) => {
  const channel = await ownChannel(context, visit);
  await requirePassing(context.limits.testMessagesOfUser, visit.user.id);
  const place = { shop: visit.account.name, dashboardUrl: `${context.baseUrl}${DASHBOARD_PATH}` };
  const outcome = await sendToChannel(context, channel, testMessage(channel.events, place));
  if (outcome.result === 'sent') return seeOther('/notifications?flash=tested');
  const message = forms.banner('bad', testSentence(outcome));
  return { ...(await showChannels(context, visit, message)), status: 502 };
};

function testSentence(outcome: Exclude<NotificationOutcome, { readonly result: 'sent' }>): string {
  if (outcome.result === 'busy')
    return 'The test message was not sent: too many messages at this moment. Try again in a minute.';
  const what = outcome.result === 'unknown' ? 'may not have arrived' : 'was not sent';
  return `The test message ${what}. ${failureSentence(outcome.reason)}`;
}

const answerPause: FormHandler = async (context, visit, form) => {
  const channel = await ownChannel(context, visit);
  const isPaused = form.text('pause') !== '0';
  await setPaused(context, visit.account, channel, isPaused);
  return seeOther(`/notifications?flash=${isPaused ? 'paused' : 'resumed'}`);
};
