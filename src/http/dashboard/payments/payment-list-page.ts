import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { recordAction } from '../../../accounts/people-context.ts';
import { ServiceError } from '../../../domain/errors.ts';
import type { Payment } from '../../../domain/payment.ts';
import { paymentIdTimeMs } from '../../../domain/payment-id.ts';
import type { PaymentPage } from '../../../domain/ports/payment-search-store.ts';
import type { ProviderId } from '../../../domain/provider-catalogue.ts';
import { dateAt } from '../../../domain/time-zone.ts';
import { exportPayments } from '../../../payments/export-payments.ts';
import { dataTable } from '../../design/data-table.ts';
import { type Html, html, nothing } from '../../design/html.ts';
import type { DashboardContext } from '../context.ts';
import type { DashboardView } from '../dashboard-page.ts';
import { notice } from '../fields.ts';
import { formatMoney } from '../format-amount.ts';
import { moment } from '../format-time.ts';
import { dashboardHeaders } from '../page-headers.ts';
import { DASHBOARD_PATH } from '../sections.ts';
import type { Visit } from '../visit.ts';
import { filterChips, filterForm, listPath, type PaymentFilters, readFilters } from './payment-filters.ts';
import { forwardBadge, mismatchBadge, partPaid, statusBadge, usedProvider } from './payment-words.ts';

const PAGE_SIZE = 50;

type SessionProviders = ReadonlyMap<string, ProviderId>;

/** The account's payments: searched, filtered, newest first. */
export async function showPayments(context: DashboardContext, visit: Visit): Promise<DashboardView> {
  const filters = filtersOrError(visit);
  if (filters instanceof ServiceError) {
    return {
      title: 'Payments',
      status: filters.status,
      main: html`${notice('bad', filters.message)}${filterForm({})}`,
    };
  }
  const page = await context.search.searchPayments(filters.query, filters.before, PAGE_SIZE);
  const ids = page.payments.map(({ id }) => id);
  const providers = await context.search.listSessionProviders(visit.account.id, ids);
  return {
    title: 'Payments',
    main: html`${filterForm(filters.given)}
${filterChips(filters.given)}
${page.payments.length === 0 ? emptyNotice(filters, page, visit) : paymentTable(page.payments, providers, visit)}
${pageLinks(filters, page)}
<p><a href="${listPath(filters.given, '/payments.csv')}" download>Download these payments as CSV</a></p>`,
  };
}

function filtersOrError(visit: Visit): PaymentFilters | ServiceError {
  try {
    return readFilters(visit);
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
}

/** The same payments as a CSV, sent as fast as it is taken. */
export async function sendPaymentsCsv(
  context: DashboardContext,
  visit: Visit,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { query } = readFilters(visit);
  await recordAction(context, visit.account.id, visit.actor, 'payments.exported');
  return reply
    .headers(dashboardHeaders)
    .header(
      'content-disposition',
      `attachment; filename="payments-${dateAt(context.nowMs(), visit.timeZone)}.csv"`,
    )
    .type('text/csv; charset=utf-8')
    .send(Readable.from(exportPayments(context.search, query)));
}

function emptyNotice({ given, before }: PaymentFilters, page: PaymentPage, visit: Visit): Html {
  if (page.next !== null) {
    const until = moment(paymentIdTimeMs(page.next), visit.timeZone);
    return html`<p class="notice plain" role="status">Nothing found back to ${until}. There are older payments.</p>`;
  }
  if (Object.keys(given).length > 0 || before !== null) {
    return html`<p class="notice plain" role="status">No payment matches. A payment that was created a moment ago is found by its words in a second or two.</p>`;
  }
  return html`<section class="card"><h2>No payments yet</h2>
<p>A payment appears here as soon as your shop creates a checkout, or when you make a payment link by hand.</p></section>`;
}

function pageLinks({ given, before }: PaymentFilters, { next, payments }: PaymentPage): Html {
  const newest = before === null ? nothing : html`<a class="button" href="${listPath(given)}">Newest</a>`;
  const words = payments.length === 0 ? 'Look further back' : 'Older';
  const older =
    next === null
      ? nothing
      : html`<a class="button" rel="next" href="${listPath(given, '/payments', next)}">${words}</a>`;
  return before === null && next === null
    ? nothing
    : html`<nav class="actions" aria-label="Pages">${newest}${older}</nav>`;
}

/** A table of payments; those who look for one begin with its time. */
function paymentTable(payments: readonly Payment[], providers: SessionProviders, visit: Visit): Html {
  return dataTable({
    label: 'Payments',
    columns: ['Created', { name: 'Amount', holds: 'numbers' }, 'Status', 'Provider', 'Customer', 'Note'],
    hasRowHeadings: true,
    rows: payments.map((payment) => paymentRow(payment, providers, visit)),
  });
}

const NOTE_CHARACTERS = 60;

function paymentRow(
  payment: Payment,
  providers: SessionProviders,
  { timeZone }: Visit,
): (Html | string | null)[] {
  return [
    html`<a href="${DASHBOARD_PATH}/payments/${payment.id}">${moment(payment.createdAtMs, timeZone)}</a>`,
    html`${formatMoney(payment.amountCents, payment.currency)} <span class="soft">${payment.currency}</span>`,
    html`${statusBadge(payment)}${isUsual(payment) ? nothing : html` ${forwardBadge(payment)}`}${mismatchOf(payment)}`,
    usedProvider(payment, providers.get(payment.id)),
    payment.email === null ? null : html`<bdi>${payment.email}</bdi>`,
    payment.note === null ? null : html`<bdi>${shortened(payment.note)}</bdi>`,
  ];
}

/** Whether it is partially paid, and how much of it, or overpaid. */
function mismatchOf(payment: Payment): Html {
  if (payment.amountMismatch === null) return nothing;
  const part = payment.amountMismatch === 'partially_paid' ? partPaid(payment) : null;
  return html` ${mismatchBadge(payment)}${part === null ? nothing : html` <span class="small soft">${part}</span>`}`;
}

/** What the status alone does not say. */
function isUsual({ status, forwardStatus }: Payment): boolean {
  return (
    forwardStatus === 'pending' ||
    forwardStatus === 'canceled' ||
    (status === 'paid' && forwardStatus === 'completed')
  );
}

function shortened(text: string): string {
  const characters = [...text.replaceAll(/\s+/g, ' ')];
  return characters.length <= NOTE_CHARACTERS
    ? characters.join('')
    : `${characters.slice(0, NOTE_CHARACTERS - 1).join('')}…`;
}
