import type { Account } from '../../domain/account.ts';
import { dataTable } from '../design/data-table.ts';
import { type Html, html } from '../design/html.ts';
import { formatPercent, moment } from '../signed-in/format.ts';
import {
  CONSOLE_TIME_ZONE,
  OPERATOR_PATH,
  type OperatorContext,
  type OperatorRoutes,
  type OperatorView,
  type OperatorVisit,
  operatorPage,
  pageLinks,
} from './operator-page.ts';

const ACCOUNTS_ON_A_PAGE = 50;
const MAXIMUM_SEARCH_CHARACTERS = 100;

/** `/operator/accounts`: all accounts, the newest first, with a search. */
export function registerAccountsPage(routes: OperatorRoutes): void {
  operatorPage(routes, {
    path: '/accounts',
    section: 'accounts',
    show: (visit) => showAccounts(routes.context, visit),
  });
}

async function showAccounts(context: OperatorContext, visit: OperatorVisit): Promise<OperatorView> {
  const typed = (visit.query.get('search') ?? '').trim().slice(0, MAXIMUM_SEARCH_CHARACTERS);
  const search = typed === '' ? null : typed;
  const after = visit.query.get('before');
  const before = after === null ? null : await context.accounts.findAccount(after);
  const found = await context.accounts.searchAccounts({ search, before }, ACCOUNTS_ON_A_PAGE + 1);
  const accounts = found.slice(0, ACCOUNTS_ON_A_PAGE);
  const last = found.length > ACCOUNTS_ON_A_PAGE ? accounts.at(-1) : undefined;
  return {
    title: 'Accounts',
    main: html`<form class="inline" method="get" action="${OPERATOR_PATH}/accounts" role="search">
<div class="field"><label for="search">Name, e-mail address or account id</label><input id="search" name="search" type="search" value="${typed}"></div>
<button class="button">Search</button>
<a class="button primary" href="${OPERATOR_PATH}/accounts/new">Create an account</a></form>
${accounts.length === 0 ? html`<p class="banner plain">${search === null ? 'No accounts yet.' : 'No account matches.'}</p>` : accountTable(accounts)}
${pageLinks(`${OPERATOR_PATH}/accounts`, { filters: { search: typed }, isNewest: before === null, older: last?.id ?? null })}`,
  };
}

function accountTable(accounts: readonly Account[]): Html {
  return dataTable({
    label: 'Accounts',
    columns: ['Name', 'E-mail', { name: 'Fee', holds: 'numbers' }, 'State', 'Created'],
    rows: accounts.map(({ id, name, email, feeBasisPoints, suspended, createdAtMs }) => [
      html`<a href="${OPERATOR_PATH}/accounts/${id}"><bdi>${name}</bdi></a><br><code class="small">${id}</code>`,
      email === null ? html`<span class="soft">none</span>` : html`<bdi>${email}</bdi>`,
      formatPercent(feeBasisPoints),
      suspended
        ? html`<span class="badge warn">Suspended</span>`
        : html`<span class="badge good">Active</span>`,
      moment(createdAtMs, CONSOLE_TIME_ZONE),
    ]),
  });
}
