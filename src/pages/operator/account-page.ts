import { type Account, type ApiKey, isFeature } from '../../accounts/account.ts';
import { describeKey, MAXIMUM_ACTIVE_KEYS, revokeOwnKey } from '../../accounts/api-keys.ts';
import {
  type AccountUpdate,
  changeAccount,
  findExistingAccount,
  requireFee,
} from '../../accounts/manage-accounts.ts';
import { recordAction } from '../../accounts/people-context.ts';
import type { Member } from '../../accounts/person.ts';
import { features } from '../../payment/create-payment.ts';
import { checkFields, invalidField } from '../../payment/errors.ts';
import { feeExample, MAXIMUM_FEE_BASIS_POINTS } from '../../payment/fees-and-paid-threshold.ts';
import { parsePercentBasisPoints } from '../../payment/money.ts';
import { readTypedNumber } from '../../payment/typed-input.ts';
import { dataTable, headings, numbers } from '../../web/design/data-table.ts';
import { type Html, html, nothing } from '../../web/design/html.ts';
import {
  featureWords,
  formatMoney,
  formatPercent,
  formatUsdcSum,
  onOff,
  utcTime,
} from '../../web/signed-in/format.ts';
import * as forms from '../../web/signed-in/forms.ts';
import { type FormHandler, type PageAnswer, type PageView, seeOther } from '../../web/signed-in/pages.ts';
import { keyTable } from '../dashboard/key-pages.ts';
import { memberTable } from '../dashboard/people-pages.ts';
import { confirmedForm, requirePasswordAndFactor } from '../dashboard/security-pages.ts';
import { OPERATOR_PATH, type OperatorRoutes, type OperatorVisit } from './operator-page.ts';

const flashMessages = {
  saved: 'Saved. It applies to new checkouts.',
  revoked: 'The key is revoked. Requests with it are refused.',
  created: 'The account is created. Invite its owner under People.',
  invited: 'The invitation is sent. It works once, within a week.',
};

export function registerAccountPage(routes: OperatorRoutes): void {
  const pages = routes.pages('accounts');
  const path = '/accounts/:accountId';
  const change = (name: string, updateOf: (form: forms.FormFields) => AccountUpdate) =>
    pages.form(`${path}/${name}`, (visit, form) => answerChange(visit, () => updateOf(form)), showAccount);
  pages.page(path, (visit) => showAccount(visit));
  change('state', (form) => ({ suspended: form.has('suspend') }));
  change('feature', featureUpdateOf);
  change('providers', (form) => ({
    providers: form.text('which') === 'all' ? null : forms.tickedProviders(form),
  }));
  pages.form(`${path}/fee`, answerFee, showAccount);
  pages.form(`${path}/keys/:keyId/revoke`, async ({ context, params, actor }) => {
    const key = await revokeOwnKey(context, params['accountId'] ?? '', params['keyId'] ?? '');
    await recordAction(context, key.accountId, actor, 'key.revoked', describeKey(key));
    return seeOther(`/accounts/${key.accountId}?flash=revoked`);
  });
}

async function answerChange(visit: OperatorVisit, readUpdate: () => AccountUpdate): Promise<PageAnswer> {
  const account = await readAccount(visit);
  await changeAccount(visit.context, account.id, readUpdate(), visit.actor);
  return seeOther(`/accounts/${account.id}?flash=saved`);
}

const answerFee: FormHandler<OperatorVisit> = async (visit, form) => {
  const checks = { fee: () => parseFee(form.text('fee')) };
  if (form.has('preview')) return showAccount(visit, (await checkFields(checks)).fee);
  await readAccount(visit);
  const { fee: feeBasisPoints } = await requirePasswordAndFactor(visit, form, checks);
  return answerChange(visit, () => ({ feeBasisPoints }));
};

function featureUpdateOf(form: forms.FormFields): AccountUpdate {
  const [on, off] = [form.text('enable'), form.text('disable')];
  if (isFeature(on)) return { enable: on };
  if (isFeature(off)) return { disable: off };
  throw invalidField('The form', 'is not a feature.');
}

export function readAccount({ params, context }: OperatorVisit): Promise<Account> {
  return findExistingAccount(context, params['accountId'] ?? '');
}

async function showAccount(visit: OperatorVisit, previewBasisPoints?: number): Promise<PageView> {
  const account = await readAccount(visit);
  const [members, keys] = await Promise.all([
    visit.context.people.listMembers(account.id),
    visit.context.accounts.listKeys(account.id),
  ]);
  return {
    title: account.name,
    main: html`${forms.flashOf(visit, flashMessages)}
${previewBasisPoints === undefined ? nothing : forms.banner('warn', 'This is a preview: nothing is saved yet.')}
${factsCard(account)}
${await feeCard(account, visit, previewBasisPoints ?? account.feeBasisPoints)}
${featuresCard(account)}
${providersCard(account)}
${membersCard(account, members)}
${keysCard(account, keys)}`,
  };
}

export function activityBadge({ suspended }: Account): Html {
  return suspended
    ? html`<span class="badge warn">Suspended</span>`
    : html`<span class="badge good">Active</span>`;
}

function factsCard(account: Account): Html {
  const path = `${OPERATOR_PATH}/accounts/${account.id}`;
  const lockBadge = account.isWalletLocked ? html` <span class="badge">locked</span>` : nothing;
  const change = account.suspended
    ? html`<form method="post" action="${path}/state"><button class="button primary" name="resume" value="1">Resume</button></form>`
    : forms.foldedAction({
        action: `${path}/state`,
        summary: 'Suspend…',
        effect: html`<p>New checkouts are refused with 403 at once, until you resume the account.
Open checkouts can still be paid, and deposits are released. People can still sign in.</p>`,
        button: 'Suspend the account',
        field: { name: 'suspend', value: '1' },
      });
  return html`<section class="card"><h2>Account</h2><dl class="facts">
<div><dt>Status</dt><dd>${activityBadge(account)}</dd></div>
<div><dt>Account ID</dt><dd><code>${account.id}</code></dd></div>
<div><dt>Email address</dt><dd>${account.email === null ? 'none' : html`<bdi>${account.email}</bdi>`}</dd></div>
<div><dt>Payout wallet</dt>
<dd>${account.wallet === null ? 'none' : html`<code>${account.wallet}</code>`}${lockBadge}</dd></div>
<div><dt>Created</dt><dd>${utcTime(account.createdAtMs)}</dd></div></dl>
<form class="actions" method="post" action="${path}/view"><a class="button" href="${OPERATOR_PATH}/audit?account=${account.id}">Audit log</a>
<button class="button">View as merchant</button> <span class="soft small">Read-only access for half an hour. The account’s audit log records it.</span></form>
${change}</section>`;
}

function featuresCard(account: Account): Html {
  const action = `${OPERATOR_PATH}/accounts/${account.id}/feature`;
  const effect = html`<p>New requests that use it are refused at once. Existing payments continue.</p>`;
  return html`<section class="card"><h2>Features</h2>${features.map((feature) => {
    const isOn = account.features.includes(feature);
    const name = html`<span class="quiet">: ${featureWords[feature]}</span>`;
    const change = isOn
      ? forms.foldedAction({
          action,
          summary: html`Switch off…${name}`,
          effect,
          button: 'Switch off',
          field: { name: 'disable', value: feature },
        })
      : html`<form method="post" action="${action}">
<button class="button compact" name="enable" value="${feature}">Switch on${name}</button></form>`;
    return html`<div class="actions switch"><span>${featureWords[feature]}</span> ${onOff(isOn)} ${change}</div>`;
  })}</section>`;
}

function providersCard(account: Account): Html {
  const isAll = account.providers === null;
  const which = (value: string, label: string, isChecked: boolean) =>
    forms.tickField({ type: 'radio', name: 'which', id: `which-${value}`, value, label, isChecked });
  return html`<form class="card" method="post" action="${OPERATOR_PATH}/accounts/${account.id}/providers"><h2>Providers</h2>
<div class="field"><div class="choice">${which('all', 'All, also those that are added later', isAll)}</div>
<div class="choice">${which('some', 'These only:', !isAll)}</div></div>
${forms.providerBoxes('Enabled', account.providers ?? [])}
<div class="actions"><button class="button">Save providers</button></div></form>`;
}

const EXAMPLE_CENTS = 100_00;

function feeCard(account: Account, visit: OperatorVisit, shownBasisPoints: number): Promise<Html> {
  const action = `${OPERATOR_PATH}/accounts/${account.id}/fee`;
  const fee = {
    label: 'Fee in percent',
    value: String(shownBasisPoints / 100),
    hint: `From 0 to ${MAXIMUM_FEE_BASIS_POINTS / 100}, with at most two decimals.`,
  };
  return confirmedForm(visit, {
    action,
    title: 'Card fee',
    introduction: html`<p>Now ${formatPercent(account.feeBasisPoints)}. Existing payments keep their fee.</p>
${forms.formFields(visit, action, { fee })}
${exampleTable(shownBasisPoints)}`,
    button: 'Save fee',
    look: account.suspended ? '' : 'primary',
    more: html`<button class="button" name="preview" value="1" formnovalidate>Preview</button>`,
  });
}

function exampleTable(basisPoints: number): Html {
  const caption = `A payment of ${formatMoney(EXAMPLE_CENTS, 'USD')} at ${formatPercent(basisPoints)}, before the provider’s fee`;
  const examples = ['Merchant', 'Customer'].map((payer) => ({
    payer,
    ...feeExample(EXAMPLE_CENTS, basisPoints, payer === 'Customer'),
  }));
  const table = dataTable('Example', examples, {
    'Fee paid by': headings(({ payer }) => payer),
    Charged: numbers(({ chargedCents }) => formatMoney(chargedCents, 'USD')),
    'Fee, USDC': numbers(({ feeUnits }) => formatUsdcSum(feeUnits)),
    'Merchant gets': numbers(({ merchantUnits }) => formatUsdcSum(merchantUnits)),
  });
  return html`<h3>${caption}</h3>${table}`;
}

export function parseFee(text: string): number {
  const basisPoints = parsePercentBasisPoints(readTypedNumber(text, 'percent', 2) ?? '');
  if (basisPoints === null)
    throw invalidField(
      'The fee',
      `must be from 0 to ${MAXIMUM_FEE_BASIS_POINTS / 100}, with at most two decimals.`,
    );
  return requireFee(basisPoints);
}

function keysCard(account: Account, keys: readonly ApiKey[]): Html {
  const active = keys.filter(({ revokedAtMs }) => revokedAtMs === null);
  return html`<section class="card"><h2>API keys</h2>
<p>${active.length} of ${MAXIMUM_ACTIVE_KEYS} are in use. New keys are created in the merchant’s dashboard, so that only the merchant sees them.</p>
${active.length === 0 ? html`<p class="soft">None.</p>` : keyTable(active, 'UTC', `${OPERATOR_PATH}/accounts/${account.id}/keys`)}</section>`;
}

function membersCard({ id }: Account, members: readonly Member[]): Html {
  return html`<section class="card"><h2>People</h2>
${members.length === 0 ? html`<p class="soft">No member can sign in yet.</p>` : memberTable(members, 'UTC')}
<div class="actions"><a class="button" href="${OPERATOR_PATH}/accounts/${id}/invite">Invite a person</a></div>
<p class="soft small">Owners also invite people in the dashboard.
To restore a user’s access after verifying who they are,
use <code>user reset-link</code> or <code>user reset-second-factor</code> on the command line.</p></section>`;
}
