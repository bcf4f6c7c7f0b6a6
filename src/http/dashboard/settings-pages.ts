import { describeAccountChange } from '../../accounts/change-account.ts';
import { requireOwnPassword } from '../../accounts/change-password.ts';
import { recordAction } from '../../accounts/people-context.ts';
import { updateAccount } from '../../accounts/update-account.ts';
import type { ProfileUpdate } from '../../accounts/update-profile.ts';
import { type Account, type Feature, features } from '../../domain/account.ts';
import { invalidField, ServiceError } from '../../domain/errors.ts';
import { type Address, parsePayoutAddress } from '../../domain/payout-address.ts';
import { type Html, html, nothing } from '../design/html.ts';
import { requirePassing } from '../rate-limit.ts';
import type { DashboardContext, DashboardRoutes } from './context.ts';
import {
  type DashboardAnswer,
  type DashboardView,
  dashboardForm,
  dashboardPage,
  seeOther,
} from './dashboard-page.ts';
import { notice, passwordField, textField, tickField } from './fields.ts';
import type { FormFields } from './form-fields.ts';
import { formTokenField } from './form-token.ts';
import { formatPercent } from './format-percent.ts';
import { logoForm, registerLogoForm } from './logo-form.ts';
import { DASHBOARD_PATH } from './sections.ts';
import type { Visit } from './visit.ts';

const SETTINGS_PATH = `${DASHBOARD_PATH}/settings`;
const featureWords: Record<Feature, string> = {
  card_checkout: 'Card checkout',
  fee_pass_through: 'The customer can be asked to pay the fee',
};
const timeZones = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((name) => name !== 'UTC')];

/** How the shop appears, where its money goes, and what the operator has set. */
export function registerSettingsPages(routes: DashboardRoutes): void {
  const { context } = routes;
  const own = { section: 'settings', role: 'owner' } as const;
  dashboardPage(routes, { ...own, path: '/settings', show: async (visit) => showSettings(visit, nothing) });
  registerLogoForm(routes, showSettings);
  dashboardForm(routes, {
    ...own,
    path: '/settings/shop',
    act: (visit, form) => answerChange(context, visit, async () => shopUpdateOf(form), 'settings.changed'),
  });
  dashboardForm(routes, {
    ...own,
    path: '/settings/wallet',
    act: (visit, form) =>
      answerChange(context, visit, () => walletUpdateOf(context, visit, form), 'wallet.changed'),
  });
}

async function answerChange(
  context: DashboardContext,
  visit: Visit,
  readUpdate: () => Promise<ProfileUpdate>,
  action: 'settings.changed' | 'wallet.changed',
): Promise<DashboardAnswer> {
  try {
    const account = await updateAccount(context, visit.account.id, { profile: await readUpdate() });
    await recordAction(
      context,
      account.id,
      visit.actor,
      action,
      describeChange(visit.account, account, action),
    );
    return seeOther('/settings?said=saved');
  } catch (error) {
    if (!(error instanceof ServiceError) || error.errorName !== 'invalid_request') throw error;
    return { ...showSettings(visit, notice('bad', `Nothing was saved: ${error.message}`)), status: 400 };
  }
}

function describeChange(
  before: Account,
  account: Account,
  action: 'settings.changed' | 'wallet.changed',
): string {
  if (action === 'settings.changed') return describeAccountChange(before, account) ?? 'nothing';
  return `${account.wallet ?? 'none'}${account.isWalletLocked ? ', locked' : ', not locked'}`;
}

function shopUpdateOf(form: FormFields): ProfileUpdate {
  return {
    name: form.text('name'),
    supportLink: form.text('support_link'),
    returnLink: form.text('return_link'),
    timeZone: form.text('time_zone'),
    defaultCallback: form.text('default_callback'),
    isToldOfTrouble: form.has('trouble_mails'),
    emailRetentionDays: form.text('email_retention').trim(),
  };
}

/** Where money goes is changed by who knows the password only: an open browser must not be enough. */
async function walletUpdateOf(
  context: DashboardContext,
  visit: Visit,
  form: FormFields,
): Promise<ProfileUpdate> {
  await requirePassing(context.limits.signInsOfUser, visit.user.id);
  await requireOwnPassword(context, visit.user, form.text('password'));
  return { wallet: walletOf(form.text('wallet').trim()), isWalletLocked: form.has('locked') };
}

function walletOf(text: string): Address | null {
  if (text === '') return null;
  const wallet = parsePayoutAddress(text);
  if (wallet === null) throw invalidField('wallet', 'must be an address (0x…) with a valid checksum');
  return wallet;
}

function showSettings(visit: Visit, message: Html): DashboardView {
  const { account } = visit;
  return {
    title: 'Settings',
    main: html`${message}${visit.query.get('said') === 'saved' ? notice('good', 'Saved. It counts for new checkouts at once.') : nothing}
${shopForm(visit)}
${logoForm(visit)}
${walletForm(visit)}
<section class="card"><h2>Set by the operator</h2><dl class="facts">
<div><dt>Card fee</dt><dd>${formatPercent(account.feeBasisPoints)}</dd></div>
${features.map((feature) => html`<div><dt>${featureWords[feature]}</dt><dd>${account.features.includes(feature) ? 'on' : 'off: contact support'}</dd></div>`)}
<div><dt>Providers</dt><dd>${account.providers === null ? 'all' : account.providers.join(', ') || 'none'}</dd></div>
<div><dt>Account id</dt><dd><code>${account.id}</code></dd></div></dl></section>`,
  };
}

function shopForm({ account, formToken }: Visit): Html {
  const supportLink = account.supportUrl?.replace(/^mailto:/, '') ?? '';
  return html`<form class="card" method="post" action="${SETTINGS_PATH}/shop"><h2>Your shop</h2>${formTokenField(formToken)}
${textField({ name: 'name', label: 'Name', value: account.name, hint: 'Customers see it on every checkout.' })}
${textField({ name: 'support_link', label: 'Support', value: supportLink, isOptional: true, hint: 'An https address or an e-mail address where your customers get help.' })}
${textField({ name: 'return_link', label: 'Way back to the shop', type: 'url', value: account.returnUrl ?? '', isOptional: true, hint: 'Shown to customers once a payment has ended.' })}
${textField({ name: 'default_callback', label: 'Callback of checkouts made by hand', type: 'url', value: account.defaultCallbackUrl ?? '', isOptional: true, hint: 'The API always names its own.' })}
<div class="field"><label for="time_zone">Time zone</label><select id="time_zone" name="time_zone">${timeZones.map((name) => (name === account.timeZone ? html`<option selected>${name}</option>` : html`<option>${name}</option>`))}</select></div>
${textField({ name: 'email_retention', label: 'Days for which customers’ e-mail addresses are kept', value: account.emailRetentionDays?.toString() ?? '', isOptional: true, hint: 'From the day a payment was made; empty keeps them. What is erased does not come back.' })}
<div class="field"><div class="actions">${tickField({ type: 'checkbox', name: 'trouble_mails', isChecked: account.isToldOfTrouble, label: 'Tell the owners by e-mail when a webhook did not arrive or a payment needs a hand' })}</div><p class="hint">At most once an hour each. Where the operator has set up e-mail.</p></div>
<div class="actions"><button class="button primary">Save</button></div></form>`;
}

function walletForm({ account, formToken }: Visit): Html {
  return html`<form class="card" method="post" action="${SETTINGS_PATH}/wallet"><h2>Payout wallet</h2>${formTokenField(formToken)}
${textField({ name: 'wallet', label: 'Wallet on Polygon', value: account.wallet ?? '', isOptional: true, hint: 'Payments that exist keep the wallet they were made with.' })}
<div class="field"><div class="actions">${tickField({ type: 'checkbox', name: 'locked', isChecked: account.isWalletLocked, label: 'Refuse every other wallet on the API' })}</div><p class="hint">So that a stolen key cannot send money elsewhere.</p></div>
${passwordField({ label: 'Your password' })}
<div class="actions"><button class="button primary">Save wallet</button></div></form>`;
}
