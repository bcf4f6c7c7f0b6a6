import { invalidField } from '../../payment/errors.ts';
import { formatCents, formatUnits } from '../../payment/money.ts';
import { dateAt, type LocalMonth, monthOf } from '../../platform/time-zone.ts';
import { type BaseSums, exportJournal, readStatement, type Statement } from '../../reports/export-journal.ts';
import { dataTable, headings, numbers } from '../../web/design/data-table.ts';
import { type Html, html, nothing } from '../../web/design/html.ts';
import { DASHBOARD_PATH, record, type Visit } from '../../web/signed-in/context.ts';
import { formField } from '../../web/signed-in/form-fields.ts';
import { moment } from '../../web/signed-in/format.ts';
import { banner } from '../../web/signed-in/forms.ts';
import { sendCsv } from '../../web/signed-in/layout.ts';
import type { DashboardRoutes } from '../../web/signed-in/pages.ts';
import { fact, providerName } from '../../web/signed-in/payment-words.ts';

export function registerStatementPages(routes: DashboardRoutes): void {
  const seen = routes.pages('statement', 'viewer');
  seen.page('/statement', showStatement);
  seen.page('/journal.csv', sendJournal);
}

/** Month of the URL, or the current one; null for an invalid one. */
function monthOfVisit({ query, timeZone, context }: Visit): LocalMonth | null {
  return monthOf(query.get('month') || dateAt(context.nowMs(), timeZone).slice(0, 7), timeZone);
}

const MONTH_PROBLEM = 'must be a month like 2026-11';

async function sendJournal(visit: Visit) {
  const month = monthOfVisit(visit);
  if (month === null) throw invalidField('month', MONTH_PROBLEM);
  await record(visit, 'payments.exported');
  const lines = exportJournal(visit.context, visit.account, month);
  return sendCsv(visit.reply, `journal-${month.month}.csv`, lines);
}

async function showStatement(visit: Visit) {
  const month = monthOfVisit(visit);
  if (month === null) {
    const error = `The month ${MONTH_PROBLEM}.`;
    return { title: 'Statement', status: 400, main: monthForm(visit.query.get('month') ?? '', error) };
  }
  const statement = await readStatement(visit.context, visit.account, month);
  return {
    title: `Statement of ${month.month}`,
    main: html`${monthForm(month.month)}
${statement === null ? banner('bad', 'This month has too many payments for a page. Download the journal as CSV.') : statementCards(statement, visit)}
<p class="small soft"><bdi>${visit.account.name}</bdi>, ${visit.timeZone}, printed ${moment(visit.context.nowMs(), visit.timeZone)}.
A payment belongs to the month in which it was paid; until then, to the month in which it was created.
Amounts of USDC are those that are final on the chain; 1 USDC counts as 1 USD.
Charges in other currencies count at the rate of their creation. The provider is that of the last session before the payment was paid.</p>`,
  };
}

/** @param error shown at the field, in place of the download */
function monthForm(value: string, error?: string): Html {
  const journal = html`<a class="button" href="${DASHBOARD_PATH}/journal.csv?month=${value}" download>Journal as CSV</a>`;
  return html`<form class="card screen-only" method="get" action="${DASHBOARD_PATH}/statement">
${formField('month', { label: 'Month', type: 'month', value }, { error })}
<p class="actions"><button class="button primary">Show statement</button>${error === undefined ? journal : nothing}</p>
<p class="hint">Print this page with your browser (Ctrl+P).</p></form>`;
}

function statementCards({ paid, paidCents, providers, inBase, balances }: Statement, visit: Visit): Html {
  const debit = (account: Parameters<typeof balances.get>[0]) => balances.get(account) ?? 0n;
  const unassigned = -debit('unassigned_deposits');
  const byProvider = dataTable('By provider', [...providers], {
    Provider: headings(([provider]) => (provider === 'multi' ? 'Unknown' : providerName(provider))),
    Paid: numbers(([, sums]) => sums.paid),
    'Charged, in USD': numbers(([, sums]) => formatUnits(sums.chargedUnits)),
    Delivered: numbers(([, sums]) => formatUnits(sums.deliveredUnits)),
    Cost: numbers(([, sums]) => signed(sums.chargedUnits - sums.deliveredUnits)),
    Share: numbers(([, sums]) => share(sums.chargedUnits - sums.deliveredUnits, sums.chargedUnits)),
  });
  return html`<section class="card"><h2>${visit.account.name}</h2><dl class="facts">
${fact('Paid payments', String(paid))}
${[...paidCents].map(([currency, cents]) => fact(`Charged in ${currency}`, `${formatCents(cents)} ${currency}`))}
${fact('Charged, in USD', signed(-debit('sales')))}
${fact('Kept by providers', signed(debit('provider_costs')))}
${fact('Received above the charge', signed(-debit('surplus')))}
${unassigned === 0n ? nothing : fact('Received for payments that are not paid', signed(unassigned))}
${fact('Service fees', signed(debit('service_fees')))}
${fact('Sent to your wallet', signed(debit('payout_wallet')))}
${fact('Still at deposit addresses', signed(debit('deposit_address')))}</dl></section>
${inBase.currency === 'USD' ? nothing : baseCard(inBase)}
${providers.size === 0 ? nothing : html`<section class="card"><h2>By provider</h2>${byProvider}</section>`}`;
}

/** Sum in the base currency. Not rounded to cents, because it is a sum of conversions. */
function baseCard({ currency, chargedUnits, forwardedUnits, feeUnits, paymentsWithoutRate }: BaseSums): Html {
  return html`<section class="card"><h2>In ${currency}</h2><p>Paid payments, each at the exchange rate of the hour in which it was paid.</p><dl class="facts">
${fact('Charged', signed(chargedUnits))}
${fact('Service fees', signed(feeUnits))}
${fact('Sent to your wallet', signed(forwardedUnits))}
${paymentsWithoutRate === 0 ? nothing : fact('Not included, because no rate is known', String(paymentsWithoutRate))}</dl></section>`;
}

function signed(units: bigint): string {
  return units < 0n ? `−${formatUnits(-units)}` : formatUnits(units);
}

function share(part: bigint, whole: bigint): string {
  return whole === 0n ? '–' : `${(Number((part * 10_000n) / whole) / 100).toFixed(2)}%`;
}
