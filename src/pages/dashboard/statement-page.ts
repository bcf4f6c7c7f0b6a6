import { invalidField } from '../../payment/errors.ts';
import { UNITS_PER_CENT } from '../../payment/money.ts';
import { dateAt, type LocalMonth, monthOf } from '../../platform/time-zone.ts';
import {
  type BaseSums,
  exportJournal,
  readStatement,
  roundedCents,
  type Statement,
  sumOf,
} from '../../reports/journal-and-statement.ts';
import { dataTable, headings, numbers } from '../../web/design/data-table.ts';
import { type Html, html, nothing } from '../../web/design/html.ts';
import { DASHBOARD_PATH, record, type Visit } from '../../web/signed-in/context.ts';
import { formatUsdcSum, moment } from '../../web/signed-in/format.ts';
import { banner, formField } from '../../web/signed-in/forms.ts';
import { sendCsv } from '../../web/signed-in/layout.ts';
import type { DashboardRoutes } from '../../web/signed-in/pages.ts';
import { providerName } from '../../web/signed-in/payment-words.ts';

export function registerStatementPages(routes: DashboardRoutes): void {
  const seen = routes.pages('statement', 'viewer');
  seen.page('/statement', showStatement);
  seen.page('/journal.csv', sendJournal);
}

function monthOfVisit({ query, timeZone, context }: Visit): LocalMonth | null {
  return monthOf(query.get('month') || dateAt(context.nowMs(), timeZone).slice(0, 7), timeZone);
}

const MONTH_PROBLEM = 'must be a month like 2026-11';

async function sendJournal(visit: Visit) {
  const month = monthOfVisit(visit);
  if (month === null) throw invalidField('month', MONTH_PROBLEM);
  await record(visit, 'payments.exported');
  const lines = exportJournal(visit.context.search, visit.account, month);
  return sendCsv(visit.reply, `journal-${month.month}.csv`, lines);
}

async function showStatement(visit: Visit) {
  const month = monthOfVisit(visit);
  if (month === null) {
    const error = `The month ${MONTH_PROBLEM}.`;
    return { title: 'Statement', status: 400, main: monthForm(visit.query.get('month') ?? '', error) };
  }
  const statement = await readStatement(visit.context.search, visit.account, month);
  return {
    title: `Statement of ${new Date(month.startMs).toLocaleDateString('en', { timeZone: visit.timeZone, month: 'long', year: 'numeric' })}`,
    main: html`${monthForm(month.month)}
${statement === null ? banner('bad', 'This month has too many payments for a page. Download the journal as CSV.') : statementCards(statement, visit)}
<p class="small soft"><bdi>${visit.account.name}</bdi>, ${visit.timeZone}, printed ${moment(visit.context.nowMs(), visit.timeZone)}.
A payment belongs to the month in which it was paid; until then, to the month in which it was created.
Amounts of USDC are those that are final on the chain; 1 USDC counts as 1 USD.
Charges in other currencies count at the rate of their creation. The provider is that of the last session before the payment was paid.</p>`,
  };
}

/** @param error error of the field, shown instead of the download */
function monthForm(value: string, error?: string): Html {
  const journal = html`<a class="button" href="${DASHBOARD_PATH}/journal.csv?month=${value}" download>Journal as CSV</a>`;
  return html`<form class="card screen-only" method="get" action="${DASHBOARD_PATH}/statement">
${formField('month', { label: 'Month', type: 'month', value }, { error })}
<p class="actions"><button class="button primary">Show statement</button>${error === undefined ? journal : nothing}</p>
<p class="hint">Print this page with your browser.</p></form>`;
}

function statementCards(
  { paid, paidCents, providers, inBase, balances }: Statement,
  { account }: Visit,
): Html {
  const credit = (name: Parameters<typeof balances.get>[0]) => -(balances.get(name) ?? 0n);
  const parts: readonly Part[] = [
    ['Charged, in USD', credit('sales')],
    ['Kept by providers', credit('provider_costs')],
    ['Surplus, received above the charge', credit('surplus')],
    ['Received for payments that are not paid', credit('unassigned_deposits')],
    ['Service fees', credit('service_fees')],
    ['Still at deposit addresses', credit('deposit_address')],
  ];
  const rows = [...providers].map(([provider, sums]) => {
    const [charged = 0n, kept = 0n, surplus = 0n] = roundedCents([
      sums.chargedUnits,
      -sums.keptUnits,
      sums.surplusUnits,
    ]);
    return { ...sums, provider, charged, kept, surplus };
  });
  const byProvider = dataTable('By provider', rows, {
    Provider: headings(({ provider }) => (provider === 'multi' ? 'Unknown' : providerName(provider))),
    Paid: numbers(({ paid }) => paid),
    'Charged, in USD': numbers(({ charged }) => signed(charged)),
    Kept: numbers(({ kept }) => signed(kept)),
    Surplus: numbers(({ surplus }) => signed(surplus, true)),
    Delivered: numbers(({ charged, kept, surplus }) => signed(charged + kept + surplus)),
    'Share kept': numbers(({ keptUnits, chargedUnits }) => share(keptUnits, chargedUnits)),
  });
  const isInUsd = [...paidCents.keys()].every((currency) => currency === 'USD');
  return html`<section class="card"><h2>${account.name}</h2>
${waterfall(`Paid payments: ${paid}`, 'USDC', parts)}
${isInUsd ? nothing : [...paidCents].map(([currency, cents]) => html`<p>Of it in ${currency}: ${signed(BigInt(cents))} ${currency}</p>`)}</section>
${inBase.currency === 'USD' ? nothing : baseCard(inBase)}
${providers.size === 0 ? nothing : html`<section class="card"><h2>By provider</h2>${byProvider}</section>`}`;
}

type Part = readonly [name: string, units: bigint];

function waterfall(title: string, currency: string, parts: readonly Part[]): Html {
  const cents = roundedCents(parts.map(([, units]) => units));
  const lines = parts.flatMap(([name, units], index) =>
    index > 0 && units === 0n ? [] : [[name, signed(cents[index] ?? 0n, index > 0)] as const],
  );
  return dataTable(
    { label: title, endsInSum: true },
    [...lines, ['Sent to your wallet', signed(sumOf(cents))] as const],
    {
      [title]: headings(([name]) => name),
      [currency]: numbers(([, value]) => value),
    },
  );
}

function baseCard({ currency, chargedUnits, forwardedUnits, feeUnits, paymentsWithoutRate }: BaseSums): Html {
  return html`<section class="card"><h2>In ${currency}</h2><p>Paid payments, each at the exchange rate of the hour in which it was paid.</p>
${waterfall('Paid payments', currency, [
  ['Charged', chargedUnits],
  ['Kept by providers, less surplus', forwardedUnits + feeUnits - chargedUnits],
  ['Service fees', -feeUnits],
])}
${paymentsWithoutRate === 0 ? nothing : html`<p>Not included, because no rate is known: ${paymentsWithoutRate}</p>`}</section>`;
}

/** Formats cents as "−1,234.50". Parts of a sum also get a plus sign. */
function signed(cents: bigint, isPart = false): string {
  const sign = cents < 0n ? '−' : isPart && cents > 0n ? '+' : '';
  return `${sign}${formatUsdcSum((cents < 0n ? -cents : cents) * UNITS_PER_CENT)}`;
}

function share(part: bigint, whole: bigint): string {
  return whole === 0n ? '–' : `${(Number((part * 10_000n) / whole) / 100).toFixed(2)}%`;
}
