import type { Account } from '../../accounts/account.ts';
import { createAccount, DEFAULT_FEE_BASIS_POINTS } from '../../accounts/manage-accounts.ts';
import { recordAction } from '../../accounts/people-context.ts';
import { parseUserEmail } from '../../accounts/person.ts';
import { parseName } from '../../accounts/shop-profile.ts';
import { invalidField } from '../../payment/errors.ts';
import { dataTable, numbers } from '../../web/design/data-table.ts';
import { type Html, html } from '../../web/design/html.ts';
import { formatPercent, utcTime } from '../../web/signed-in/format.ts';
import { type Fields, optional } from '../../web/signed-in/forms.ts';
import { pageLinks } from '../../web/signed-in/layout.ts';
import { type FormHandler, type PageView, seeOther } from '../../web/signed-in/pages.ts';
import { inviteFields, sendInvitation, takeInvitationPage } from '../dashboard/people-pages.ts';
import { confirmedForm, requirePasswordAndFactor } from '../dashboard/security-pages.ts';
import { meantField, meantWalletOf } from '../dashboard/settings-pages.ts';
import { activityBadge, parseFee, readAccount } from './account-page.ts';
import { OPERATOR_PATH, type OperatorRoutes, type OperatorVisit } from './operator-page.ts';

const ACCOUNTS_ON_A_PAGE = 50;
const MAXIMUM_SEARCH_CHARACTERS = 100;

export function registerAccountsPages(routes: OperatorRoutes): void {
  const pages = routes.pages('accounts');
  pages.page('/accounts', showAccounts);
  pages.page('/accounts/new', showAccountForm);
  pages.form('/accounts/new', answerCreate, showAccountForm);
  const path = '/accounts/:accountId/invite';
  pages.page(path, showInvitation);
  pages.form(path, answerInvite, showInvitation);
  pages.page('/accounts/:accountId/invited', async (visit) => {
    const back = `/accounts/${visit.params['accountId'] ?? ''}`;
    return (await takeInvitationPage(visit, `${OPERATOR_PATH}${back}`)) ?? seeOther(back);
  });
}

async function showAccounts(visit: OperatorVisit): Promise<PageView> {
  const typed = (visit.query.get('search') ?? '').trim().slice(0, MAXIMUM_SEARCH_CHARACTERS);
  const search = typed === '' ? null : typed;
  const after = visit.query.get('before');
  const before = after === null ? null : await visit.context.accounts.findAccount(after);
  const found = await visit.context.accounts.searchAccounts({ search, before }, ACCOUNTS_ON_A_PAGE + 1);
  const accounts = found.slice(0, ACCOUNTS_ON_A_PAGE);
  const last = found.length > ACCOUNTS_ON_A_PAGE ? accounts.at(-1) : undefined;
  return {
    title: 'Accounts',
    main: html`<form class="inline actions" method="get" action="${OPERATOR_PATH}/accounts" role="search">
<div class="field"><label for="search">Name, email address or account ID</label><input id="search" name="search" type="search" value="${typed}"></div>
<button class="button">Search</button>
<a class="button primary" href="${OPERATOR_PATH}/accounts/new">Create an account</a></form>
${accounts.length === 0 ? html`<p class="banner plain">${search === null ? 'No accounts yet.' : 'No account matches.'}</p>` : accountTable(accounts)}
${pageLinks(`${OPERATOR_PATH}/accounts`, { filters: { search: typed }, isNewest: before === null, older: last?.id ?? null })}`,
  };
}

function accountTable(accounts: readonly Account[]): Html {
  return dataTable('Accounts', accounts, {
    Name: ({ id, name }) =>
      html`<a href="${OPERATOR_PATH}/accounts/${id}"><bdi>${name}</bdi></a><br><code class="small">${id}</code>`,
    Email: ({ email }) => (email === null ? html`<span class="soft">none</span>` : html`<bdi>${email}</bdi>`),
    Fee: numbers(({ feeBasisPoints }) => formatPercent(feeBasisPoints)),
    Status: activityBadge,
    Created: ({ createdAtMs }) => utcTime(createdAtMs),
  });
}

const accountFields: Fields = {
  name: { label: 'Name', hint: 'The shop name that customers see.' },
  email: optional('Email address', '', 'The merchant’s email address.', 'email'),
  fee: {
    label: 'Card fee in percent',
    value: String(DEFAULT_FEE_BASIS_POINTS / 100),
    hint: 'A percentage of the received USDC. It applies to new payments.',
  },
  wallet: optional('Payout wallet', '', 'A Polygon address. The merchant can change it.'),
};

const answerCreate: FormHandler<OperatorVisit> = async (visit, form) => {
  const { name, email, fee, wallet } = await requirePasswordAndFactor(visit, form, {
    name: () => parseName(form.text('name')),
    email: () => emailOf(form.text('email').trim()),
    fee: () => parseFee(form.text('fee')),
    wallet: () => meantWalletOf(form, 'wallet'),
  });
  const account = await createAccount(visit.context, { name, email, wallet, feeBasisPoints: fee });
  await recordAction(visit.context, account.id, visit.actor, 'account.created', account.name);
  return seeOther(`/accounts/${account.id}?flash=created`);
};

function emailOf(text: string): string | null {
  if (text === '') return null;
  const email = parseUserEmail(text);
  if (email === null) throw invalidField('The email address', 'must be an email address');
  return email;
}

async function showAccountForm(visit: OperatorVisit): Promise<PageView> {
  const action = `${OPERATOR_PATH}/accounts/new`;
  const fields = { ...accountFields, ...meantField(visit, 'wallet') };
  const form = { action, style: 'card', fields, button: 'Create account' } as const;
  return { title: 'Create an account', main: await confirmedForm(visit, form) };
}

/** Requires the operator's password and second factor, because a member can act for the merchant. */
const answerInvite: FormHandler<OperatorVisit> = async (visit, form) => {
  const account = await readAccount(visit);
  return sendInvitation(visit, account, visit.context.publicUrl, form, {
    sent: `/accounts/${account.id}?flash=invited`,
    kept: `/accounts/${account.id}/invited`,
    show: showInvitation,
  });
};

async function showInvitation(visit: OperatorVisit): Promise<PageView> {
  const account = await readAccount(visit);
  const path = `${OPERATOR_PATH}/accounts/${account.id}`;
  const form = await confirmedForm(visit, {
    action: `${path}/invite`,
    fields: inviteFields,
    button: visit.context.mailer === null ? 'Create a link' : 'Send the invitation',
    more: html`<a class="button" href="${path}">Cancel</a>`,
  });
  return {
    title: 'Invite a person',
    main: html`<section class="card"><p>The person gets a role in <strong><bdi>${account.name}</bdi></strong>.
The invitation works once, within a week. The account’s audit log records it with your name.</p>
${form}</section>`,
  };
}
