import type { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { darkerColorOf } from '../../accounts/brand-color.ts';
import {
  describeAccountChange,
  type ProfileUpdate,
  readProfileUpdate,
  updateAccount,
} from '../../accounts/manage-accounts.ts';
import {
  MAXIMUM_LOGO_BYTES,
  MAXIMUM_LOGO_PIXELS,
  requireWalletForLock,
} from '../../accounts/shop-profile.ts';
import { type Address, parsePayoutAddress } from '../../payment/address.ts';
import { features } from '../../payment/create-payment.ts';
import { invalidField, ServiceError } from '../../payment/errors.ts';
import {
  computeMinPaidThreshold,
  computePaidThreshold,
  type ThresholdTerms,
  thresholdTermsOf,
} from '../../payment/fees-and-paid-threshold.ts';
import { currencies } from '../../payment/money.ts';
import { isProviderId, providerCatalog, providerIds } from '../../payment/provider-catalog.ts';
import { doubtAbout } from '../../payment/unusual-address.ts';
import { type Html, html, nothing } from '../../web/design/html.ts';
import { DASHBOARD_PATH, record, type Visit } from '../../web/signed-in/context.ts';
import { counts, featureWords, formatPercent, usdcText } from '../../web/signed-in/format.ts';
import * as forms from '../../web/signed-in/forms.ts';
import {
  type DashboardRoutes,
  type FormHandler,
  type PageAnswer,
  type PageView,
  seeOther,
} from '../../web/signed-in/pages.ts';
import { previewFrame } from '../../web/signed-in/preview-frame.ts';
import { ENDPOINT_CHECK_PATH } from './endpoint-check-page.ts';
import { type ConfirmedForm, confirmedForm, requirePasswordAndFactor } from './security-pages.ts';

const SETTINGS_PATH = `${DASHBOARD_PATH}/settings`;
const PAYOUTS = '/payouts';
/** Path of the page in `customer-page.ts`, relative to the settings. */
export const CUSTOMERS = '/customers';
const timeZones = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((name) => name !== 'UTC')];

interface SettingsPage {
  readonly path: string;
  readonly label: string;
  /** Fields of the form that this page's path accepts. */
  readonly fields: (visit: Visit) => forms.Fields;
  readonly show: (visit: Visit, page: SettingsPage) => Promise<Html>;
}

const settingsPages: readonly SettingsPage[] = [
  { path: '', label: 'Branding & checkout', fields: brandingFields, show: showBranding },
  { path: PAYOUTS, label: 'Payouts & providers', fields: payoutFields, show: showPayouts },
  { path: '/account', label: 'Account', fields: accountFields, show: showAccount },
];

export function registerSettingsPages(routes: DashboardRoutes): void {
  const pages = routes.pages('settings', 'owner');
  for (const page of settingsPages) {
    const show = (visit: Visit) => showSettings(page, visit);
    pages.page(`/settings${page.path}`, show);
    pages.form(`/settings${page.path}`, (visit, form) => changeSettings(page, visit, form), show);
    if (page.path === PAYOUTS) {
      pages.form('/settings/providers', changeProviders);
      pages.form('/settings/wallet', changeWallet, show);
    }
    if (page.path === '') registerLogoForm(routes, show);
  }
}

async function showSettings(page: SettingsPage, visit: Visit): Promise<PageView> {
  const saved = forms.flashOf(visit, { saved: 'Saved. It applies to new checkouts.' });
  return settingsView(page.path, html`${saved}${await page.show(visit, page)}`);
}

export function settingsView(current: string, main: Html): PageView {
  const links = [...settingsPages, { path: CUSTOMERS, label: 'Customer data' }].map(
    ({ path, label }) =>
      html`<li><a class="chip" href="${SETTINGS_PATH}${path}"${path === current ? html` aria-current="page"` : nothing}>${label}</a></li>`,
  );
  return {
    title: 'Settings',
    main: html`<nav class="actions" aria-label="Settings"><ul class="chips">${links}</ul></nav>
${main}`,
  };
}

/** Changes settings after confirmation, because they affect the paid threshold, customer links and erasure. */
async function changeSettings(page: SettingsPage, visit: Visit, form: forms.FormFields): Promise<PageAnswer> {
  if (form.has('use_color')) return showSettings(page, withUsedColor(visit, form));
  const updates = Object.keys(page.fields(visit)).map((name) => [name, updateOf(name, form)] as const);
  const checks = updates.map(([name, update]) => [
    name,
    () => readProfileUpdate(visit.context, visit.account, update),
  ]);
  await requirePasswordAndFactor(visit, form, Object.fromEntries(checks));
  const texts = Object.assign({}, ...updates.map(([, update]) => update.texts));
  return saveProfile(visit, Object.assign({}, ...updates.map(([, update]) => update), { texts }), page.path);
}

function updateOf(name: string, form: forms.FormFields): ProfileUpdate {
  const text = form.text(name).trim();
  switch (name) {
    case 'trouble_mails':
      return { receivesAlerts: form.has(name) };
    case 'missing_cent':
      return { toleratesMissingCent: form.has(name) };
    case 'default_callback':
      return { defaultCallback: text };
    default:
      return { texts: { [name.replaceAll('_', '-')]: text } };
  }
}

async function saveProfile(visit: Visit, profile: ProfileUpdate, path: string) {
  const account = await updateAccount(visit.context, visit.account.id, { profile });
  const change = describeAccountChange(visit.account, account) ?? 'nothing';
  await record(visit, 'settings.changed', change);
  return seeOther(`/settings${path}?flash=saved`);
}

const changeProviders: FormHandler = async (visit, form) => {
  const pinned = form.text('pinned');
  const pinnedProvider = isProviderId(pinned) ? pinned : null;
  return saveProfile(visit, { pinnedProvider, excludedProviders: forms.tickedProviders(form) }, PAYOUTS);
};

/** Changes the payout wallet after confirmation, because a stolen session must not redirect money. */
const changeWallet: FormHandler = async (visit, form) => {
  const isWalletLocked = form.has('locked');
  const typed = form.text('wallet').trim();
  const { wallet } = await requirePasswordAndFactor(visit, form, {
    wallet: () => meantWalletOf(form, 'wallet', visit.account.wallet),
    locked: () =>
      requireWalletForLock(typed === '' ? null : parsePayoutAddress(typed), isWalletLocked && typed === ''),
  });
  const account = await updateAccount(visit.context, visit.account.id, {
    profile: { wallet, isWalletLocked },
  });
  const change = `${account.wallet ?? 'none'}${account.isWalletLocked ? ', locked' : ', not locked'}`;
  await record(visit, 'wallet.changed', change);
  return seeOther(`/settings${PAYOUTS}?flash=saved`);
};

/** Parses a wallet; null if empty. Accepts one that would lose money only if it is stored or confirmed. */
export function meantWalletOf(
  form: forms.FormFields,
  name: string,
  stored: Address | null = null,
): Address | null {
  const typed = form.text(name).trim();
  if (typed === '') return null;
  const wallet = parsePayoutAddress(typed);
  if (wallet === null) throw invalidField(name, 'must be an address (0x…) with a valid checksum');
  const doubt = wallet === stored || form.has('is_meant') ? null : doubtAbout(wallet);
  if (doubt !== null) throw invalidField(name, `${doubt}. If you mean it, tick “${TICK}”`);
  return wallet;
}

const TICK = 'Pay out to this address anyway';

/** Returns a checkbox to confirm a wallet that would lose money; empty unless one was refused. */
export function meantField({ refused }: forms.FormVisit, name: string): forms.Fields {
  const typed = parsePayoutAddress(refused?.text(name).trim());
  if (typed === null || doubtAbout(typed) === null) return {};
  return { is_meant: { label: TICK, type: 'checkbox' } };
}

function providersForm({ account }: Visit): Html {
  const options = ['', ...providerIds];
  const wordsOf = (id: string) =>
    isProviderId(id) ? providerCatalog[id].name : 'Automatic: the highest expected payout';
  return html`<form class="card" method="post" action="${SETTINGS_PATH}/providers"><h2>Providers on your checkout</h2>
${forms.formField('pinned', { label: 'Recommended provider', type: 'select', value: account.pinnedProvider ?? '', options, wordsOf })}
${forms.providerBoxes('Disabled providers', account.excludedProviders)}
<div class="actions"><button class="button">Save providers</button></div></form>`;
}

function settingsForm(
  visit: Visit,
  { path, fields }: SettingsPage,
  form: Partial<ConfirmedForm>,
): Promise<Html> {
  const action = `${SETTINGS_PATH}${path}`;
  return confirmedForm(visit, { action, style: 'card', fields: fields(visit), button: 'Save', ...form });
}

function brandingFields({ account, refused }: Visit): forms.Fields {
  return {
    name: { label: 'Name', value: account.name, hint: 'Customers see it on every checkout.' },
    brand_color: {
      ...forms.optional('Brand color', account.brandColor, ''),
      hint: usedColorButton(refused?.text('brand_color') ?? ''),
    },
    support_link: forms.optional(
      'Support',
      account.supportUrl?.replace(/^mailto:/, ''),
      'An https URL or an email address for customer support.',
    ),
    terms_link: forms.optional('Terms', account.termsUrl, 'An https URL, linked from the checkout.', 'url'),
    return_link: forms.optional(
      'Return URL',
      account.returnUrl,
      'Customers return to this URL after a payment. {payment_id} in its path or query becomes the payment’s ID.',
      'url',
    ),
    failure_link: forms.optional(
      'Return URL after a canceled or expired checkout',
      account.failureUrl,
      'Empty takes the return URL.',
      'url',
    ),
    return_hosts: forms.optional(
      'Return hosts',
      account.returnHosts.join(' '),
      'Your hosts, such as shop.example.com: checkouts may send customers back to them, and their pages may frame checkouts. Separate several by spaces.',
    ),
  };
}

/** Renders the hint of the color field. After a refused color, offers the nearest readable color. */
function usedColorButton(typed: string): Html {
  const darker = darkerColorOf(typed);
  if (darker === null)
    return html`Hexadecimal, such as #0c5a49: for the main button and accents on the checkout. White text must be readable on it.`;
  return html`<button class="button compact" name="use_color" value="${darker}" formnovalidate><svg width="16" height="16"
aria-hidden="true"><rect width="16" height="16" rx="4" fill="${darker}"/></svg> Use ${darker}</button>`;
}

/** Returns the submitted form with the color of the pressed button. */
function withUsedColor(visit: Visit, form: forms.FormFields): Visit {
  const text = (name: string) => form.text(name === 'brand_color' ? 'use_color' : name);
  return {
    ...visit,
    refused: forms.refusedForm({ ...form, text }, new ServiceError('invalid_request'), visit.path),
  };
}

async function showBranding(visit: Visit, page: SettingsPage): Promise<Html> {
  // Puts an empty button before the color's, because Enter presses a form's first button.
  const form = await settingsForm(visit, page, { introduction: html`<button hidden></button>` });
  return html`<div class="pair"><div class="stack">${form}
${logoForm(visit)}</div>
${previewFrame(`${SETTINGS_PATH}/preview`)}</div>`;
}

function payoutFields({ account, context: { create } }: Visit): forms.Fields {
  const defaults = create.thresholdDefaults;
  return {
    default_callback: forms.optional(
      'Default webhook URL',
      account.defaultCallbackUrl,
      'For checkouts created in the dashboard, and for requests to the merchant API without a callback.',
      'url',
    ),
    tolerance_percent: forms.optional(
      'Underpayment tolerance in percent',
      percentOf(account.toleranceBasisPoints),
      `How much less than expected still counts as paid in full. Empty takes the service’s ${percentOf(defaults.toleranceBasisPoints)}%.`,
    ),
    max_provider_fee_percent: forms.optional(
      'Maximum provider fee in percent',
      percentOf(account.maxProviderFeeBasisPoints),
      'A provider that keeps more of a payment is not offered. ' +
        `Empty takes the service’s ${percentOf(defaults.maxProviderFeeBasisPoints)}%; more than that has no effect.`,
    ),
    missing_cent: {
      label: 'Accept direct payments that are at most one cent short',
      type: 'checkbox',
      value: account.toleratesMissingCent,
      hint: 'Some exchanges round withdrawals down. At most 1% of the amount is accepted as missing. Applies to new payments from a wallet.',
    },
  };
}

async function showPayouts(visit: Visit, page: SettingsPage): Promise<Html> {
  const terms = thresholdTermsOf(visit.account, visit.context.create.thresholdDefaults);
  const introduction = html`<h2>Rules and webhook</h2><p class="banner plain">${lowestThresholdSentence(terms)}</p>`;
  const more = html`<a href="${ENDPOINT_CHECK_PATH}">Test your webhook endpoint</a>`;
  return html`<div class="pair"><div class="stack">${await walletForm(visit)}
${providersForm(visit)}</div>
${await settingsForm(visit, page, { introduction, more, look: '', id: '-for-rules' })}</div>`;
}

function accountFields({ account }: Visit): forms.Fields {
  const zones = timeZones.includes(account.timeZone) ? timeZones : [account.timeZone, ...timeZones];
  return {
    time_zone: { label: 'Time zone', type: 'select', value: account.timeZone, options: zones },
    base_currency: {
      label: 'Base currency, for the overview, exports and statements',
      type: 'select',
      value: account.baseCurrency,
      options: currencies,
    },
    email_retention: forms.optional(
      'Days for which customers’ email addresses are kept',
      account.emailRetentionDays,
      'Counted from the creation of the payment. Leave empty to keep them. Erased addresses cannot be restored.',
    ),
    trouble_mails: {
      label: 'Send alert emails to the owners when a webhook is not delivered or a payment needs attention',
      type: 'checkbox',
      value: account.receivesAlerts,
      hint: 'At most one of each kind per hour. Requires email to be configured by the operator.',
    },
  };
}

async function showAccount(visit: Visit, page: SettingsPage): Promise<Html> {
  const { account } = visit;
  return html`<div class="pair">${await settingsForm(visit, page, {})}
<section class="card"><h2>Set by the operator</h2><dl class="facts">
<div><dt>Card fee</dt><dd>${formatPercent(account.feeBasisPoints)}</dd></div>
${features.map((feature) => html`<div><dt>${featureWords[feature]}</dt><dd>${account.features.includes(feature) ? 'on' : 'off: contact support'}</dd></div>`)}
<div><dt>Providers</dt><dd>${account.providers === null ? 'all' : account.providers.join(', ') || 'none'}</dd></div>
<div><dt>Account ID</dt><dd><code>${account.id}</code></dd></div></dl></section></div>`;
}

/** Formats basis points as a percentage; empty if the service's setting applies. */
function percentOf(basisPoints: number | null): string {
  return basisPoints === null ? '' : String(basisPoints / 100);
}

/** Renders an example of what a maximum fee and a tolerance mean in money. */
function lowestThresholdSentence(terms: ThresholdTerms): string {
  const { maxProviderFeeBasisPoints, toleranceBasisPoints } = terms;
  const whole = usdcText(computePaidThreshold(EXAMPLE_UNITS, toleranceBasisPoints));
  const lowest = usdcText(
    computeMinPaidThreshold(EXAMPLE_UNITS, maxProviderFeeBasisPoints, toleranceBasisPoints),
  );
  return (
    `With the saved settings, ` +
    `a $100.00 payment counts as paid from ${whole}, and from ${lowest} once the customer was sent to a provider that keeps the maximum fee.`
  );
}

const EXAMPLE_UNITS = 100_000_000n;

function walletForm(visit: Visit): Promise<Html> {
  const { wallet, isWalletLocked } = visit.account;
  return confirmedForm(visit, {
    action: `${SETTINGS_PATH}/wallet`,
    title: 'Payout wallet',
    fields: {
      wallet: forms.optional('Wallet on Polygon', wallet, 'Existing payments keep their wallet.'),
      ...meantField(visit, 'wallet'),
      locked: {
        label: 'Lock payouts to this wallet',
        type: 'checkbox',
        value: isWalletLocked,
        hint: 'The API then refuses all other wallets, so that a stolen key cannot redirect payouts.',
      },
    },
    button: 'Save wallet',
  });
}

/** Registers the form for the shop's logo, in its own scope because no other form accepts files. */
function registerLogoForm(routes: DashboardRoutes, show: (visit: Visit) => Promise<PageView>): void {
  routes.server.register((scope, _options, done) => {
    // Keeps the body as a stream, to read it after all other checks.
    scope.addContentTypeParser('multipart/form-data', (_request, body, parsed) => parsed(null, body));
    const pages = routes.pages('settings', 'owner', scope);
    pages.form('/settings/logo', changeLogo, show, readUpload);
    done();
  });
}

/** Sets or removes the logo. Trusts the image's bytes, not the uploaded content type. */
const changeLogo: FormHandler = async (visit, form) => {
  const isRemoved = form.has('remove');
  const { file = new Uint8Array() } = form;
  if (!isRemoved && file.length === 0) throw invalidField('logo', 'is missing: choose an image');
  const account = await updateAccount(visit.context, visit.account.id, {
    profile: { logo: isRemoved ? null : file },
  });
  const what = isRemoved ? 'removed the logo' : `logo ${account.logoHash}`;
  await record(visit, 'settings.changed', what);
  return seeOther('/settings?flash=saved');
};

function logoForm(visit: Visit): Html {
  const { logoHash } = visit.account;
  const action = `${SETTINGS_PATH}/logo`;
  const hint = `PNG, JPEG or WebP, at most ${MAXIMUM_LOGO_BYTES / 1024} KiB and ${counts.format(MAXIMUM_LOGO_PIXELS)} pixels wide and high.`;
  const accept = 'image/png,image/jpeg,image/webp';
  const remove = html`<button class="button" name="remove" value="1">Remove logo</button>`;
  return html`<form class="card" method="post" action="${action}" enctype="multipart/form-data">
<h2>Logo</h2>
${logoHash === null ? html`<p>No logo yet.</p>` : html`<p><img class="logo" src="/logos/${logoHash}" alt="Your logo as customers see it"></p>`}
${forms.formFields(visit, action, { logo: { label: 'Picture', type: 'file', accept, hint, isOptional: true } })}
<div class="actions"><button class="button">Save logo</button>${logoHash === null ? nothing : remove}</div></form>`;
}

/** Maximum size of the other fields and the multipart framing. */
const MAXIMUM_OTHER_BYTES = 16 * 1024;

/** Reads a form with a file after checking the length that the browser sent. */
async function readUpload({ headers, body }: FastifyRequest): Promise<forms.FormFields> {
  if (!(Number(headers['content-length']) <= MAXIMUM_LOGO_BYTES + MAXIMUM_OTHER_BYTES))
    throw new ServiceError('payload_too_large', 'The file is too large.');
  const type = headers['content-type'] ?? '';
  const sent = await new Response(body as Readable, { headers: { 'content-type': type } })
    .formData()
    .catch((cause: unknown) => {
      throw new ServiceError('invalid_request', 'The form is incomplete or malformed.', { cause });
    });
  const fields = new URLSearchParams();
  let file: Uint8Array = new Uint8Array();
  for (const [name, value] of sent) {
    if (typeof value === 'string') fields.append(name, value);
    else file = await value.bytes();
  }
  return { ...forms.readFormFields(fields), file };
}
