import { changeAccount } from '../../accounts/change-account.ts';
import { requireFee } from '../../accounts/create-account.ts';
import type { AccountUpdate } from '../../accounts/update-account.ts';
import { type Account, type Feature, features, isFeature } from '../../domain/account.ts';
import { invalidField, ServiceError } from '../../domain/errors.ts';
import { providerCatalogue, providerIds } from '../../domain/provider-catalogue.ts';
import { notice, tickField } from '../dashboard/fields.ts';
import type { FormFields } from '../dashboard/form-fields.ts';
import { formTokenField } from '../dashboard/form-token.ts';
import { moment } from '../dashboard/format-time.ts';
import { type Html, html, nothing } from '../design/html.ts';
import { keysCard, membersCard } from './account-people.ts';
import type { OperatorContext, OperatorRoutes } from './context.ts';
import { feeCard } from './fee-card.ts';
import { OPERATOR_PATH } from './operator-area.ts';
import {
  type OperatorAnswer,
  type OperatorView,
  operatorForm,
  operatorPage,
  seeOther,
} from './operator-page.ts';
import { parseFee } from './parse-fee.ts';
import { CONSOLE_TIME_ZONE, type OperatorVisit } from './visit.ts';

const featureWords: Record<Feature, string> = {
  card_checkout: 'Card checkout',
  fee_pass_through: 'The customer can be asked to pay the fee',
};
const said: ReadonlyMap<string | null, Html> = new Map([
  ['saved', notice('good', 'Saved. It counts for new checkouts at once.')],
  ['revoked', notice('good', 'The key is revoked. Requests with it are refused from now on.')],
  [
    'created',
    notice('good', 'The account is made. Give its owner a way in: user create, on the command line.'),
  ],
]);

/** `/operator/accounts/:accountId`: one account, and what an operator decides for it. */
export function registerAccountPage(routes: OperatorRoutes): void {
  const { context } = routes;
  const path = '/accounts/:accountId';
  const change = (name: string, updateOf: (form: FormFields) => AccountUpdate) =>
    operatorForm(routes, {
      path: `${path}/${name}`,
      section: 'accounts',
      act: (visit, form) => answerChange(context, visit, () => updateOf(form)),
    });
  operatorPage(routes, {
    path,
    section: 'accounts',
    show: (visit) => showAccount(context, visit, { message: said.get(visit.query.get('said')) ?? nothing }),
  });
  change('state', (form) => ({ suspended: form.has('suspend') }));
  change('feature', (form) => featureUpdateOf(form));
  change('providers', (form) => ({ providers: providersOf(form) }));
  operatorForm(routes, {
    path: `${path}/fee`,
    section: 'accounts',
    act: (visit, form) =>
      form.has('save')
        ? answerChange(context, visit, () => ({ feeBasisPoints: parseFee(form.text('fee').trim()) }))
        : answerPreview(context, visit, form.text('fee').trim()),
  });
}

async function answerChange(
  context: OperatorContext,
  visit: OperatorVisit,
  readUpdate: () => AccountUpdate,
): Promise<OperatorAnswer> {
  const account = await readAccount(context, visit);
  try {
    await changeAccount(context, account.id, readUpdate(), visit.actor);
    return seeOther(`/accounts/${account.id}?said=saved`);
  } catch (error) {
    return showRefusal(context, visit, error);
  }
}

/** Shows what a fee would mean, and changes nothing. */
async function answerPreview(
  context: OperatorContext,
  visit: OperatorVisit,
  fee: string,
): Promise<OperatorAnswer> {
  try {
    const previewBasisPoints = parseFee(fee);
    requireFee(previewBasisPoints);
    return await showAccount(context, visit, { message: nothing, previewBasisPoints });
  } catch (error) {
    return showRefusal(context, visit, error);
  }
}

async function showRefusal(
  context: OperatorContext,
  visit: OperatorVisit,
  error: unknown,
): Promise<OperatorView> {
  if (!(error instanceof ServiceError) || error.errorName !== 'invalid_request') throw error;
  const message = notice('bad', `Nothing was changed: ${error.message}`);
  return { ...(await showAccount(context, visit, { message })), status: 400 };
}

function featureUpdateOf(form: FormFields): AccountUpdate {
  const [on, off] = [form.text('enable'), form.text('disable')];
  if (isFeature(on)) return { enable: on };
  if (isFeature(off)) return { disable: off };
  throw invalidField('The form', 'names no feature.');
}

function providersOf(form: FormFields): Account['providers'] {
  if (form.text('which') === 'all') return null;
  return providerIds.filter((id) => form.has(`provider_${id}`));
}

/** The account of the path. Throws `not_found`. */
async function readAccount(
  { accounts }: Pick<OperatorContext, 'accounts'>,
  { params }: OperatorVisit,
): Promise<Account> {
  const account = await accounts.findAccount(params['accountId'] ?? '');
  if (account === null) throw new ServiceError('not_found');
  return account;
}

async function showAccount(
  context: OperatorContext,
  visit: OperatorVisit,
  { message, previewBasisPoints }: { readonly message: Html; readonly previewBasisPoints?: number },
): Promise<OperatorView> {
  const account = await readAccount(context, visit);
  const [members, keys] = await Promise.all([
    context.people.listMembers(account.id),
    context.accounts.listKeys(account.id),
  ]);
  return {
    title: account.name,
    main: html`${message}${previewBasisPoints === undefined ? nothing : notice('warn', 'This is a preview: nothing is saved yet.')}
${factsCard(account, visit)}
${feeCard(account, visit, previewBasisPoints ?? account.feeBasisPoints)}
${featuresCard(account, visit)}
${providersCard(account, visit)}
${membersCard(members)}
${keysCard(account, keys)}`,
  };
}

function factsCard(account: Account, visit: OperatorVisit): Html {
  const path = `${OPERATOR_PATH}/accounts/${account.id}`;
  return html`<section class="card"><h2>Account</h2><dl class="facts">
<div><dt>State</dt><dd>${account.suspended ? html`<span class="badge warn">Suspended</span>` : html`<span class="badge good">Active</span>`}</dd></div>
<div><dt>Account id</dt><dd><code>${account.id}</code></dd></div>
<div><dt>E-mail address</dt><dd>${account.email === null ? 'none' : html`<bdi>${account.email}</bdi>`}</dd></div>
<div><dt>Payout wallet</dt><dd>${account.wallet === null ? 'none' : html`<code class="breaks">${account.wallet}</code>`}${account.isWalletLocked ? html` <span class="badge">locked</span>` : nothing}</dd></div>
<div><dt>Created</dt><dd>${moment(account.createdAtMs, CONSOLE_TIME_ZONE)}</dd></div></dl>
<form class="actions" method="post" action="${path}/state">${formTokenField(visit.formToken)}
${account.suspended ? html`<button class="button primary" name="resume" value="1">Resume</button>` : html`<button class="button danger" name="suspend" value="1">Suspend</button>`}
<a class="button" href="${OPERATOR_PATH}/audit?account=${account.id}">Audit log</a></form>
<form class="actions" method="post" action="${path}/view">${formTokenField(visit.formToken)}<button class="button">Look at its dashboard</button> <span class="soft small">Read-only, for half an hour. It is written into the account’s audit log.</span></form>
<p class="soft small">Suspended: new checkouts are refused with 403. What exists goes on, and can be read.</p></section>`;
}

function featuresCard(account: Account, { formToken }: OperatorVisit): Html {
  return html`<section class="card"><h2>Features</h2>${features.map((feature) => {
    const isOn = account.features.includes(feature);
    return html`<form class="switch" method="post" action="${OPERATOR_PATH}/accounts/${account.id}/feature">${formTokenField(formToken)}
<span>${featureWords[feature]}</span> ${isOn ? html`<span class="badge good">on</span>` : html`<span class="badge">off</span>`}
<button class="button compact" name="${isOn ? 'disable' : 'enable'}" value="${feature}">Switch ${isOn ? 'off' : 'on'}<span class="quiet">: ${featureWords[feature]}</span></button></form>`;
  })}</section>`;
}

function providersCard(account: Account, { formToken }: OperatorVisit): Html {
  const isAll = account.providers === null;
  const which = (value: string, label: string, isChecked: boolean) =>
    tickField({ type: 'radio', name: 'which', id: `which-${value}`, value, label, isChecked });
  return html`<form class="card" method="post" action="${OPERATOR_PATH}/accounts/${account.id}/providers"><h2>Providers</h2>${formTokenField(formToken)}
<div class="field"><div class="choice">${which('all', 'All, also those that are added later', isAll)}</div>
<div class="choice">${which('some', 'These only:', !isAll)}</div></div>
<fieldset class="field grid-of-boxes"><legend class="quiet">Providers</legend>${providerIds.map((id) => {
    const isChecked = account.providers?.includes(id) ?? false;
    const names = { name: `provider_${id}`, id: `provider-${id}`, label: providerCatalogue[id].name };
    return html`<div class="choice">${tickField({ type: 'checkbox', ...names, isChecked })}</div>`;
  })}</fieldset>
<div class="actions"><button class="button primary">Save providers</button></div></form>`;
}
