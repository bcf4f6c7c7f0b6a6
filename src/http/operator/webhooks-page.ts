import { reasonSentence } from '../../domain/delivery-reasons.ts';
import type { FailingWebhook } from '../../domain/ports/payment-search-store.ts';
import { webhookBadge } from '../dashboard/payment-words.ts';
import { dataTable, numbers } from '../design/data-table.ts';
import { type Html, html } from '../design/html.ts';
import type { PageView } from '../signed-in/signed-in-page.ts';
import {
  accountLink,
  consoleTime,
  type OperatorRoutes,
  type OperatorVisit,
  operatorPages,
  paymentLink,
} from './operator-page.ts';

/** The number of newest events that are read; failures are counted by host among them. */
const READ_LIMIT = 500;
const SHOWN = 50;

/** The failures of one host. */
interface FailingHost {
  readonly host: string;
  readonly failed: number;
  readonly blocked: number;
  readonly unknown: number;
  readonly newest: FailingWebhook;
}

/** `/operator/webhooks`: hosts that do not accept their events, and events with an unknown outcome. */
export function registerWebhooksPage(routes: OperatorRoutes): void {
  operatorPages(routes, 'webhooks').page('/webhooks', showWebhooks);
}

async function showWebhooks({ context }: OperatorVisit): Promise<PageView> {
  const failing = await context.search.listFailingWebhooks(null, READ_LIMIT);
  return {
    title: 'Webhooks',
    main: html`<p>An event is sent at most once. If it does not arrive, the shop reads the payment’s status. “Unknown” means that delivery was interrupted and the event may have arrived.</p>
${
  failing.length === 0
    ? html`<p class="banner plain">All webhooks were delivered.</p>`
    : html`${hostTable(hostsOf(failing))}<h2>Latest</h2>${webhookTable(failing.slice(0, SHOWN))}`
}`,
  };
}

/** By host, the one with the newest failure first. */
function hostsOf(failing: readonly FailingWebhook[]): readonly FailingHost[] {
  const hosts = new Map<string, FailingHost>();
  for (const webhook of failing) {
    const known = hosts.get(webhook.host) ?? {
      host: webhook.host,
      failed: 0,
      blocked: 0,
      unknown: 0,
      newest: webhook,
    };
    hosts.set(webhook.host, { ...known, [webhook.status]: known[webhook.status] + 1 });
  }
  return [...hosts.values()];
}

function hostTable(hosts: readonly FailingHost[]): Html {
  return html`<h2>By host</h2><p class="soft small">Among the last ${READ_LIMIT} that did not arrive.</p>
${dataTable({
  label: 'Hosts',
  columns: [
    'Host',
    numbers('Failed'),
    numbers('Blocked'),
    numbers('Unknown'),
    { name: 'Last reason', holds: 'sentences' },
    'Last',
  ],
  hasRowHeadings: true,
  rows: hosts
    .slice(0, SHOWN)
    .map(({ host, failed, blocked, unknown, newest }) => [
      html`<bdi>${host === '' ? 'not kept' : host}</bdi>`,
      failed,
      blocked,
      unknown,
      reasonSentence(newest.reason),
      consoleTime(newest.finishedAtMs),
    ]),
})}`;
}

function webhookTable(webhooks: readonly FailingWebhook[]): Html {
  return dataTable({
    label: 'Webhooks',
    columns: ['When', { name: 'Outcome', holds: 'sentences' }, 'Host', 'Payment', 'Account'],
    rows: webhooks.map(({ finishedAtMs, status, host, paymentId, accountId, reason }) => [
      consoleTime(finishedAtMs),
      html`${webhookBadge(status)} <span class="small">${reasonSentence(reason)}</span>`,
      host === '' ? null : html`<bdi>${host}</bdi>`,
      paymentLink(paymentId),
      accountLink(accountId),
    ]),
  });
}
