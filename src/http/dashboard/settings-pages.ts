import multipart from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import {
  describeAccountChange,
  type ProfileUpdate,
  readProfileUpdate,
  textSettingNames,
  updateAccount,
} from '../../accounts/manage-accounts.ts';
import { requireOwnPassword } from '../../accounts/password-links.ts';
import { recordAction } from '../../accounts/people-context.ts';
import { features } from '../../domain/account.ts';
import { invalidField, ServiceError } from '../../domain/errors.ts';
import { currencies } from '../../domain/money.ts';
import {
  computeMinPaidThreshold,
  computePaidThreshold,
  type ThresholdTerms,
  thresholdTermsOf,
} from '../../domain/paid-threshold.ts';
import { type Address, parsePayoutAddress } from '../../domain/payout-address.ts';
import { isProviderId, providerCatalogue, providerIds } from '../../domain/provider-catalogue.ts';
import { MAXIMUM_LOGO_BYTES, MAXIMUM_LOGO_PIXELS, requireWalletForLock } from '../../domain/shop-profile.ts';
import { type Html, html, nothing } from '../design/html.ts';
import { requirePassing } from '../rate-limit.ts';
import {
  DASHBOARD_PATH,
  type DashboardContext,
  type DashboardRoutes,
  type Visit,
} from '../signed-in/context.ts';
import { featureWords, formatPercent, formatUsdc } from '../signed-in/format.ts';
import * as forms from '../signed-in/forms.ts';
import {
  dashboardPages,
  type FormHandler,
  type PageAnswer,
  type PageView,
  seeOther,
} from '../signed-in/signed-in-page.ts';
import { collectFieldErrors, errorSummary, type FieldErrors } from './field-errors.ts';

const SETTINGS_PATH = `${DASHBOARD_PATH}/settings`;
const timeZones = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((name) => name !== 'UTC')];

const shopLabels = {
  name: 'Name',
  brand_color: 'Brand color',
  support_link: 'Support',
  terms_link: 'Terms',
  return_link: 'Return URL',
  failure_link: 'Return URL after a canceled or expired checkout',
  default_callback: 'Default webhook URL',
  time_zone: 'Time zone',
  base_currency: 'Base currency',
  email_retention: 'Days for which customers’ e-mail addresses are kept',
  tolerance_percent: 'Underpayment tolerance in percent',
  max_provider_fee_percent: 'Maximum provider fee in percent',
} as const;
const walletLabels = {
  wallet: 'Wallet on Polygon',
  locked: 'Lock payouts to this wallet',
  password: 'Your password',
} as const;

/** A form with the submitted values. */
interface Refused {
  readonly form: forms.FormFields;
  readonly errors: FieldErrors;
}

/** The content of a page besides the stored account. */
interface Shown {
  readonly message: Html;
  readonly shop?: Refused;
  readonly wallet?: Refused;
  readonly logoErrors?: FieldErrors;
}

/** The shop's appearance, its payouts, and the operator's settings. */
export function registerSettingsPages(routes: DashboardRoutes): void {
  const pages = dashboardPages(routes, 'settings', 'owner');
  pages.page('/settings', async (context, visit) =>
    showSettings(context, visit, {
      message: forms.flashOf(visit, { saved: 'Saved. It applies to new checkouts.' }),
    }),
  );
  registerLogoForm(routes);
  pages.form('/settings/shop', changeShop);
  pages.form('/settings/providers', changeProviders);
  pages.form('/settings/wallet', changeWallet);
}

const changeShop: FormHandler = async (context, visit, form) => {
  const texts = textSettingNames.map((name) => [name, form.text(fieldOf(name)).trim()] as const);
  const updates: readonly (readonly [string, ProfileUpdate])[] = [
    ...texts.map(([name, text]) => [fieldOf(name), { texts: { [name]: text } }] as const),
    ['default_callback', { defaultCallback: form.text('default_callback').trim() }],
  ];
  const errors = await collectFieldErrors(
    Object.fromEntries(
      updates.map(([name, update]) => [name, () => readProfileUpdate(context, visit.account, update)]),
    ),
  );
  if (errors.size > 0) {
    const message = errorSummary('Nothing was saved.', shopLabels, errors);
    return { ...showSettings(context, visit, { message, shop: { form, errors } }), status: 400 };
  }
  const profile: ProfileUpdate = {
    texts: Object.fromEntries(texts),
    defaultCallback: form.text('default_callback').trim(),
    receivesAlerts: form.has('trouble_mails'),
    toleratesMissingCent: form.has('missing_cent'),
  };
  return saveProfile(context, visit, profile);
};

/** The form's field of a setting. */
function fieldOf(option: string): string {
  return option.replaceAll('-', '_');
}

async function saveProfile(context: DashboardContext, visit: Visit, profile: ProfileUpdate) {
  const account = await updateAccount(context, visit.account.id, { profile });
  const change = describeAccountChange(visit.account, account) ?? 'nothing';
  await recordAction(context, account.id, visit.actor, 'settings.changed', change);
  return seeOther('/settings?flash=saved');
}

const changeProviders: FormHandler = async (context, visit, form) => {
  const pinned = form.text('pinned');
  const pinnedProvider = isProviderId(pinned) ? pinned : null;
  return saveProfile(context, visit, { pinnedProvider, excludedProviders: forms.tickedProviders(form) });
};

/** Changing the payout wallet requires the password: an unattended browser must not suffice. */
const changeWallet: FormHandler = async (context, visit, form) => {
  await requirePassing(context.limits.signInsOfUser, `${visit.user.id} ${visit.session.id}`);
  const isWalletLocked = form.has('locked');
  const typed = form.text('wallet').trim();
  const errors = await collectFieldErrors({
    wallet: () => walletOf(typed),
    locked: () =>
      requireWalletForLock(typed === '' ? null : parsePayoutAddress(typed), isWalletLocked && typed === ''),
    password: () => requireOwnPassword(context, visit.user, form.text('password')),
  });
  if (errors.size > 0) {
    const message = errorSummary('Nothing was saved.', walletLabels, errors);
    return { ...showSettings(context, visit, { message, wallet: { form, errors } }), status: 400 };
  }
  const profile = { wallet: walletOf(typed), isWalletLocked };
  const account = await updateAccount(context, visit.account.id, { profile });
  const change = `${account.wallet ?? 'none'}${account.isWalletLocked ? ', locked' : ', not locked'}`;
  await recordAction(context, account.id, visit.actor, 'wallet.changed', change);
  return seeOther('/settings?flash=saved');
};

/** The typed payout wallet; null for an empty field. Throws `invalid_request`. */
export function walletOf(text: string): Address | null {
  if (text === '') return null;
  const wallet = parsePayoutAddress(text);
  if (wallet === null) throw invalidField('wallet', 'must be an address (0x…) with a valid checksum');
  return wallet;
}

function showSettings(
  { create }: DashboardContext,
  visit: Visit,
  { message, shop, wallet, logoErrors }: Shown,
): PageView {
  const { account } = visit;
  return {
    title: 'Settings',
    main: html`${message}
${shopForm(visit, create.thresholdDefaults, shop)}
${logoForm(visit, logoErrors?.get('logo'))}
${providersForm(visit)}
${walletForm(visit, wallet)}
<section class="card"><h2>Set by the operator</h2><dl class="facts">
<div><dt>Card fee</dt><dd>${formatPercent(account.feeBasisPoints)}</dd></div>
${features.map((feature) => html`<div><dt>${featureWords[feature]}</dt><dd>${account.features.includes(feature) ? 'on' : 'off: contact support'}</dd></div>`)}
<div><dt>Providers</dt><dd>${account.providers === null ? 'all' : account.providers.join(', ') || 'none'}</dd></div>
<div><dt>Account id</dt><dd><code>${account.id}</code></dd></div></dl></section>`,
  };
}

function providersForm({ account, formToken }: Visit): Html {
  const choices = ['', ...providerIds] as const;
  const nameOf = (id: (typeof choices)[number]) =>
    id === '' ? 'Automatic: the highest expected payout' : providerCatalogue[id].name;
  return html`<form class="card" method="post" action="${SETTINGS_PATH}/providers"><h2>Providers on your checkout</h2>${forms.formTokenField(formToken)}
${forms.selectField('pinned', 'Recommended provider', forms.optionsOf(choices, account.pinnedProvider ?? '', nameOf))}
${forms.providerBoxes('Disabled providers', account.excludedProviders)}
<div class="actions"><button class="button primary">Save providers</button></div></form>`;
}

function shopForm({ account, formToken }: Visit, defaults: ThresholdTerms, refused?: Refused): Html {
  const stored = {
    name: account.name,
    brand_color: account.brandColor ?? '',
    terms_link: account.termsUrl ?? '',
    support_link: account.supportUrl?.replace(/^mailto:/, '') ?? '',
    return_link: account.returnUrl ?? '',
    failure_link: account.failureUrl ?? '',
    default_callback: account.defaultCallbackUrl ?? '',
    time_zone: account.timeZone,
    base_currency: account.baseCurrency,
    email_retention: account.emailRetentionDays?.toString() ?? '',
    tolerance_percent: percentOf(account.toleranceBasisPoints),
    max_provider_fee_percent: percentOf(account.maxProviderFeeBasisPoints),
  } satisfies Record<keyof typeof shopLabels, string>;
  const field = (name: keyof typeof shopLabels) => ({
    name,
    label: shopLabels[name],
    value: refused?.form.text(name) ?? stored[name],
    error: refused?.errors.get(name),
  });
  const zone = field('time_zone');
  const zones = timeZones.includes(zone.value) ? timeZones : [zone.value, ...timeZones];
  const base = field('base_currency');
  const toleratesCent = refused?.form.has('missing_cent') ?? account.toleratesMissingCent;
  const isTold = refused?.form.has('trouble_mails') ?? account.receivesAlerts;
  return html`<form class="card" method="post" action="${SETTINGS_PATH}/shop"><h2>Your shop</h2>${forms.formTokenField(formToken)}
${forms.textField({ ...field('name'), hint: 'Customers see it on every checkout.' })}
${forms.textField({ ...field('brand_color'), isOptional: true, hint: 'Hexadecimal, such as #0c5a49: for the main button and accents on the checkout. White text must be readable on it.' })}
${forms.textField({ ...field('support_link'), isOptional: true, hint: 'An https URL or an e-mail address for customer support.' })}
${forms.textField({ ...field('terms_link'), type: 'url', isOptional: true, hint: 'An https URL, linked from the checkout.' })}
${forms.textField({ ...field('return_link'), type: 'url', isOptional: true, hint: 'Customers return to this URL after a payment. {payment_id} in its path or query becomes the payment’s ID.' })}
${forms.textField({ ...field('failure_link'), type: 'url', isOptional: true, hint: 'Empty takes the return URL.' })}
${forms.textField({ ...field('default_callback'), type: 'url', isOptional: true, hint: 'For checkouts created in the dashboard. API requests always include their own.' })}
${forms.selectField(zone.name, zone.label, forms.optionsOf(zones, zone.value), zone.error)}
${forms.selectField(base.name, `${base.label}, for exports and statements`, forms.optionsOf(currencies, base.value), base.error)}
${forms.textField({ ...field('email_retention'), isOptional: true, hint: 'Counted from the creation of the payment. Leave empty to keep them. Erased addresses cannot be restored.' })}
${forms.textField({ ...field('tolerance_percent'), isOptional: true, hint: `How much less than expected still counts as paid in full. Empty takes the service’s ${percentOf(defaults.toleranceBasisPoints)}.` })}
${forms.textField({ ...field('max_provider_fee_percent'), isOptional: true, hint: `A provider that keeps more of a payment is not offered. Empty takes the service’s ${percentOf(defaults.maxProviderFeeBasisPoints)}; more than that has no effect.` })}
<p class="banner plain">${lowestThresholdSentence(thresholdTermsOf(account, defaults))}</p>
<div class="field"><div class="actions">${forms.tickField({ type: 'checkbox', name: 'missing_cent', isChecked: toleratesCent, label: 'Accept direct payments that are at most one cent short' })}</div><p class="hint">Some exchanges round withdrawals down. At most 1% of the amount is accepted as missing. Applies to new payments from a wallet.</p></div>
<div class="field"><div class="actions">${forms.tickField({ type: 'checkbox', name: 'trouble_mails', isChecked: isTold, label: 'Send alert e-mails to the owners when a webhook is not delivered or a payment needs attention' })}</div><p class="hint">At most one of each kind per hour. Requires e-mail to be configured by the operator.</p></div>
<div class="actions"><button class="button primary">Save</button></div></form>`;
}

/** Empty if the service's setting applies. */
function percentOf(basisPoints: number | null): string {
  return basisPoints === null ? '' : String(basisPoints / 100);
}

/** The bound in money: the effect of a maximum and a tolerance for a customer who sends USDC from a wallet. */
function lowestThresholdSentence(terms: ThresholdTerms): string {
  const { maxProviderFeeBasisPoints, toleranceBasisPoints } = terms;
  const whole = formatUsdc(computePaidThreshold(EXAMPLE_UNITS, toleranceBasisPoints));
  const lowest = formatUsdc(
    computeMinPaidThreshold(EXAMPLE_UNITS, maxProviderFeeBasisPoints, toleranceBasisPoints),
  );
  return `With the saved settings, a $100.00 payment counts as paid from ${whole} USDC, and from ${lowest} USDC once the customer was sent to a provider that keeps the maximum fee.`;
}

const EXAMPLE_UNITS = 100_000_000n;

function walletForm({ account, formToken }: Visit, refused?: Refused): Html {
  const wallet = refused?.form.text('wallet') ?? account.wallet ?? '';
  const lockNotes = {
    hint: 'The API then refuses all other wallets, so that a stolen key cannot redirect payouts.',
    error: refused?.errors.get('locked'),
  };
  return html`<form class="card" method="post" action="${SETTINGS_PATH}/wallet"><h2>Payout wallet</h2>${forms.formTokenField(formToken)}
${forms.textField({ name: 'wallet', label: walletLabels.wallet, value: wallet, isOptional: true, hint: 'Existing payments keep their wallet.', error: refused?.errors.get('wallet') })}
<div class="field"><div class="actions">${forms.tickField({ type: 'checkbox', name: 'locked', isChecked: refused?.form.has('locked') ?? account.isWalletLocked, label: walletLabels.locked, attributes: forms.describedBy('locked', lockNotes) })}</div>${forms.notesOf('locked', lockNotes)}</div>
${forms.passwordField({ label: walletLabels.password, error: refused?.errors.get('password') })}
<div class="actions"><button class="button primary">Save wallet</button></div></form>`;
}

const counts = new Intl.NumberFormat('en');

/** The shop's logo. The form has its own scope, because no other form accepts files. */
function registerLogoForm(routes: DashboardRoutes): void {
  const { context, cookies } = routes;
  const pages = dashboardPages(routes, 'settings', 'owner');
  routes.server.register((scope, _options, done) => {
    scope.register(multipart, { throwFileSizeLimit: false, limits: uploadLimits });
    scope.post('/settings/logo', (request, reply) =>
      pages.answer(request, reply, async (visit) => {
        requireLength(request, MAXIMUM_LOGO_BYTES + MAXIMUM_OTHER_BYTES);
        const { form, file } = await readParts(request);
        forms.requireOwnForm(request, context.baseUrl, form, cookies.read(request.headers, 'session'));
        let answer: PageAnswer | undefined;
        const errors = await collectFieldErrors({
          logo: async () => {
            answer = await changeLogo(context, visit, form, file);
          },
        });
        const message = errorSummary('Nothing was saved.', { logo: 'Picture' }, errors);
        return answer ?? { ...showSettings(context, visit, { message, logoErrors: errors }), status: 400 };
      }),
    );
    done();
  });
}

/** Validates the picture by its bytes alone; the browser's type is ignored. */
async function changeLogo(context: DashboardContext, visit: Visit, form: forms.FormFields, file: Uint8Array) {
  const isRemoved = form.has('remove');
  if (!isRemoved && file.length === 0) throw invalidField('logo', 'is missing: choose an image');
  const account = await updateAccount(context, visit.account.id, {
    profile: { logo: isRemoved ? null : file },
  });
  const what = isRemoved ? 'removed the logo' : `logo ${account.logoHash}`;
  await recordAction(context, account.id, visit.actor, 'settings.changed', what);
  return seeOther('/settings?flash=saved');
}

function logoForm({ account, formToken }: Visit, error?: string): Html {
  const { logoHash } = account;
  const hint = `PNG, JPEG or WebP, at most ${MAXIMUM_LOGO_BYTES / 1024} KiB and ${counts.format(MAXIMUM_LOGO_PIXELS)} pixels wide and high.`;
  return html`<form class="card" method="post" action="${DASHBOARD_PATH}/settings/logo" enctype="multipart/form-data"><h2>Logo</h2>${forms.formTokenField(formToken)}
${logoHash === null ? html`<p>No logo yet.</p>` : html`<p><img class="logo" src="/logos/${logoHash}" alt="Your logo as customers see it"></p>`}
<div class="field"><label for="logo">Picture</label><input id="logo" name="logo" type="file" accept="image/png,image/jpeg,image/webp"${forms.describedBy('logo', { hint, error })}>
${forms.notesOf('logo', { hint, error })}</div>
<div class="actions"><button class="button primary">Save logo</button>${logoHash === null ? nothing : html`<button class="button" name="remove" value="1">Remove logo</button>`}</div></form>`;
}

/** The size of the fields and the multipart framing. */
const MAXIMUM_OTHER_BYTES = 16 * 1024;
const MAXIMUM_FIELDS = 5;
const MAXIMUM_FIELD_BYTES = 4_000;

const uploadLimits = {
  files: 1,
  // One byte more than allowed, so that `changeLogo` detects a file that is too large.
  fileSize: MAXIMUM_LOGO_BYTES + 1,
  headerPairs: 20,
  fields: MAXIMUM_FIELDS,
  fieldSize: MAXIMUM_FIELD_BYTES,
  fieldNameSize: 100,
  parts: MAXIMUM_FIELDS + 1,
};

/** Checked before the body is read: browsers send the length of a form. */
function requireLength(request: FastifyRequest, maximumBytes: number): void {
  const length = Number(request.headers['content-length'] ?? Number.NaN);
  if (!(length <= maximumBytes)) throw new ServiceError('payload_too_large', 'The file is too large.');
}

/** Runs only for signed-in users: the parts are read after all other checks. */
async function readParts(
  request: FastifyRequest,
): Promise<{ readonly form: forms.FormFields; readonly file: Uint8Array }> {
  const fields = new URLSearchParams();
  let file: Uint8Array = new Uint8Array();
  try {
    for await (const part of request.parts()) {
      if (part.type === 'file') file = await part.toBuffer();
      else fields.append(part.fieldname, String(part.value));
    }
  } catch (error) {
    // The limits of the library have a status; the parser's errors about a broken body have none.
    if (error instanceof Error && 'statusCode' in error) throw error;
    throw new ServiceError('invalid_request', 'The form is incomplete or malformed.', { cause: error });
  }
  return { form: forms.readFormFields(fields.toString()), file };
}
