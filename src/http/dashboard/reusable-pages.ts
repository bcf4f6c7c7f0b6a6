import { recordAction } from '../../accounts/people-context.ts';
import type { AuditAction } from '../../domain/audit-entry.ts';
import { invalidField, ServiceError } from '../../domain/errors.ts';
import { type Currency, currencies, formatCents, isCurrency } from '../../domain/money.ts';
import { parsePayoutAddress } from '../../domain/payout-address.ts';
import {
  amountBoundsOf,
  HOLD_MINUTES,
  MAXIMUM_PAGES,
  newPageId,
  oversoldOf,
  type PageState,
  pageStateAt,
  parseSlug,
  parseStock,
  QUESTION_CHARACTERS,
  type ReusablePage,
  TITLE_CHARACTERS,
  type UsedPage,
} from '../../domain/reusable-page.ts';
import {
  ORDER_LINE_CHARACTERS,
  parseLine,
  parseTypedAmount,
  readTypedAmount,
} from '../../domain/typed-input.ts';
import { dateAt, nextDate, startOfDate } from '../../platform/time-zone.ts';
import { dataTable, numbers } from '../design/data-table.ts';
import { type Html, html, nothing } from '../design/html.ts';
import { qrCode } from '../design/qr-code.ts';
import {
  DASHBOARD_PATH,
  type DashboardContext,
  type DashboardRoutes,
  type Visit,
} from '../signed-in/context.ts';
import { formatMoney, formatUsdc, moment } from '../signed-in/format.ts';
import * as forms from '../signed-in/forms.ts';
import { dashboardPages, type FormHandler, type PageView, seeOther } from '../signed-in/signed-in-page.ts';
import { collectFieldErrors, errorSummary, type FieldErrors, noErrors } from './field-errors.ts';
import { fact, statusBadge } from './payment-words.ts';

const PAGES_PATH = `${DASHBOARD_PATH}/pages`;
/** Newest payments that are listed on a page's own page. */
const PAYMENTS_SHOWN = 20;

const labels = {
  title: 'Title',
  slug: 'Address',
  amount: 'Amount',
  minimum: 'Minimum',
  maximum: 'Maximum',
  currency: 'Currency',
  order_line: 'What the customer pays for',
  end_date: 'Last day',
  stock: 'Number of payments',
  question: 'Question to the customer',
  pass_fee: 'The customer pays the account’s fee on top',
  address: 'Payout wallet',
  callback: 'Webhook URL',
} as const;

const flashMessages = {
  created: 'The page is online.',
  saved: 'Saved. It applies to new payments.',
  paused: 'The page is paused. Payments that were started can still be paid.',
  resumed: 'The page takes payments again.',
};

/** Pages on which customers make payments: listed with their takings, created, changed, paused. */
export function registerReusablePages(routes: DashboardRoutes): void {
  const pages = dashboardPages(routes, 'pages', 'developer');
  pages.page('/pages', showList);
  pages.page('/pages/new', async (context, visit) => newPageView(context, visit));
  pages.form('/pages/new', createPage);
  pages.page('/pages/:pageId', async (context, visit) =>
    pageView(context, visit, await readOwnPage(context, visit), {
      message: forms.flashOf(visit, flashMessages),
    }),
  );
  pages.form('/pages/:pageId', changePage);
  pages.form('/pages/:pageId/pause', switchPage(true, 'page.paused', 'paused'));
  pages.form('/pages/:pageId/resume', switchPage(false, 'page.resumed', 'resumed'));
}

async function readOwnPage(
  { reusablePages, nowMs }: DashboardContext,
  { account, params }: Visit,
): Promise<UsedPage> {
  const used = await reusablePages.findPage(account.id, params['pageId'] ?? '', nowMs());
  if (used === null) throw new ServiceError('not_found');
  return used;
}

const createPage: FormHandler = async (context, visit, form) => {
  const { page, errors } = await readForm(context, visit, form, null);
  if (page === null) return { ...newPageView(context, visit, { form, errors }), status: 400 };
  const outcome = await context.reusablePages.createPage(page);
  if (outcome !== 'created') {
    const refused = new Map(outcome === 'slug_taken' ? [['slug', 'This address is already taken.']] : []);
    const message =
      outcome === 'too_many'
        ? forms.banner('bad', `The account has ${MAXIMUM_PAGES} payment pages, which is the maximum.`)
        : nothing;
    return { ...newPageView(context, visit, { form, errors: refused, message }), status: 409 };
  }
  await recordAction(context, visit.account.id, visit.actor, 'page.created', page.slug);
  return seeOther(`/pages/${page.id}?flash=created`);
};

const changePage: FormHandler = async (context, visit, form) => {
  const used = await readOwnPage(context, visit);
  const { page, errors } = await readForm(context, visit, form, used.page);
  if (page === null)
    return { ...(await pageView(context, visit, used, { submitted: { form, errors } })), status: 400 };
  const { id, accountId: _, slug, createdAtMs: __, isPaused: ___, ...change } = page;
  await context.reusablePages.changePage(visit.account.id, id, change);
  await recordAction(context, visit.account.id, visit.actor, 'page.changed', slug);
  return seeOther(`/pages/${id}?flash=saved`);
};

const switchPage =
  (isPaused: boolean, action: AuditAction, flash: keyof typeof flashMessages): FormHandler =>
  async (context, visit) => {
    const { page } = await readOwnPage(context, visit);
    await context.reusablePages.changePage(visit.account.id, page.id, { isPaused });
    await recordAction(context, visit.account.id, visit.actor, action, page.slug);
    return seeOther(`/pages/${page.id}?flash=${flash}`);
  };

/** The page that a form describes; null with the errors of its fields. A stored page keeps its address. */
async function readForm(
  { callbacks, nowMs }: DashboardContext,
  { account }: Visit,
  form: forms.FormFields,
  stored: ReusablePage | null,
): Promise<{ readonly page: ReusablePage | null; readonly errors: FieldErrors }> {
  const given = (name: keyof typeof labels) => form.text(name).trim() || null;
  const line = (name: keyof typeof labels, characters: number) =>
    given(name) === null ? null : parseLine(name, form.text(name), characters);
  const passFeeToCustomer = form.has('pass_fee');
  const service = amountBoundsOf({ minimumCents: null, maximumCents: null, passFeeToCustomer }, account);
  const amount = (name: 'amount' | 'minimum' | 'maximum') => {
    const typed = given(name);
    if (typed === null) return null;
    if (name !== 'amount' && given('amount') !== null)
      throw invalidField(name, 'applies only where the customer chooses the amount: leave one of them empty');
    const cents = parseTypedAmount(name, typed);
    if (cents <= service.maximumCents) return cents;
    throw invalidField(
      name,
      `must be at most ${formatCents(service.maximumCents)}, so that the charge with the fee is within the service’s limit`,
    );
  };
  const endOf = () => {
    const date = given('end_date');
    const startMs = date === null ? null : startOfDate(date, account.timeZone);
    if (date === null) return null;
    if (startMs === null) throw invalidField('end_date', 'must be a date like 2026-11-21');
    const endsAtMs = startOfDate(nextDate(date), account.timeZone) as number;
    if (endsAtMs <= nowMs() && endsAtMs !== stored?.endsAtMs)
      throw invalidField('end_date', 'must not be in the past');
    return endsAtMs;
  };
  const read = {
    title: () => parseLine('title', form.text('title'), TITLE_CHARACTERS),
    slug: () => stored?.slug ?? parseSlug(form.text('slug')),
    amount: () => amount('amount'),
    minimum: () => amount('minimum'),
    maximum() {
      const [minimum, maximum] = [readTypedAmount(form.text('minimum')), amount('maximum')];
      if (typeof minimum === 'number' && maximum !== null && maximum < minimum)
        throw invalidField('maximum', 'must not be below the minimum');
      return maximum;
    },
    currency(): Currency {
      const currency = form.text('currency');
      if (!isCurrency(currency)) throw invalidField('currency', `must be one of ${currencies.join(', ')}`);
      return currency;
    },
    order_line: () => line('order_line', ORDER_LINE_CHARACTERS),
    end_date: endOf,
    stock: () => parseStock(form.text('stock')),
    question: () => line('question', QUESTION_CHARACTERS),
    pass_fee() {
      if (passFeeToCustomer && !account.features.includes('fee_pass_through'))
        throw invalidField('pass_fee', 'is not enabled for the account: contact support');
    },
    address() {
      if (account.wallet !== null) return stored?.payoutAddress ?? null;
      const address = parsePayoutAddress(form.text('address').trim());
      if (address === null)
        throw invalidField('address', 'must be a Polygon address (0x…) with a valid checksum');
      return address;
    },
  };
  const callbackUrl = account.defaultCallbackUrl === null ? given('callback') : (stored?.callbackUrl ?? null);
  const errors = await collectFieldErrors({
    ...read,
    async callback() {
      const refusal = callbackUrl === null ? null : await callbacks.refusalOf(callbackUrl);
      if (refusal !== null) throw invalidField('callback', refusal);
    },
  });
  if (errors.size > 0) return { page: null, errors };
  const page: ReusablePage = {
    id: stored?.id ?? newPageId(),
    accountId: account.id,
    slug: read.slug(),
    title: read.title(),
    orderLine: read.order_line(),
    currency: read.currency(),
    amountCents: read.amount(),
    minimumCents: read.minimum(),
    maximumCents: read.maximum(),
    passFeeToCustomer,
    payoutAddress: read.address(),
    callbackUrl,
    endsAtMs: read.end_date(),
    stock: read.stock(),
    question: read.question(),
    isAnswerRequired: form.has('answer_required'),
    isPaused: stored?.isPaused ?? false,
    createdAtMs: stored?.createdAtMs ?? nowMs(),
  };
  return { page, errors };
}

/** A form that was refused. */
interface Submitted {
  readonly form: forms.FormFields;
  readonly errors: FieldErrors;
  readonly message?: Html;
}

function newPageView({ baseUrl }: DashboardContext, visit: Visit, submitted?: Submitted): PageView {
  return {
    title: 'New payment page',
    main: html`${refusalOf('The page was not created.', submitted)}${pageForm(visit, baseUrl, null, submitted)}`,
  };
}

function refusalOf(sentence: string, submitted: Submitted | undefined): Html {
  if (submitted === undefined) return nothing;
  return submitted.errors.size === 0
    ? (submitted.message ?? nothing)
    : errorSummary(sentence, labels, submitted.errors);
}

function pageForm(visit: Visit, baseUrl: string, stored: ReusablePage | null, submitted?: Submitted): Html {
  const { account, formToken } = visit;
  const cents = (value: number | null | undefined) => (value == null ? '' : formatCents(value));
  const values: Record<keyof typeof labels, string> = {
    title: stored?.title ?? '',
    slug: stored?.slug ?? '',
    amount: cents(stored?.amountCents),
    minimum: cents(stored?.minimumCents),
    maximum: cents(stored?.maximumCents),
    currency: stored?.currency ?? account.baseCurrency,
    order_line: stored?.orderLine ?? '',
    end_date: stored?.endsAtMs == null ? '' : dateAt(stored.endsAtMs - 1, account.timeZone),
    stock: stored?.stock?.toString() ?? '',
    question: stored?.question ?? '',
    pass_fee: '',
    address: stored?.payoutAddress ?? '',
    callback: stored?.callbackUrl ?? '',
  };
  const errors = submitted?.errors ?? noErrors;
  const field = (name: keyof typeof labels) => ({
    name,
    label: labels[name],
    value: submitted?.form.text(name) ?? values[name],
    error: errors.get(name),
  });
  const optional = (name: keyof typeof labels, hint: string) => ({ ...field(name), isOptional: true, hint });
  const tick = (name: string, label: string, isChecked: boolean, notes: { error?: string | undefined }) =>
    html`<div class="field"><div class="actions">${forms.tickField({ type: 'checkbox', name, label, isChecked: submitted?.form.has(name) ?? isChecked, attributes: forms.describedBy(name, notes) })}</div>${forms.notesOf(name, notes)}</div>`;
  const currency = field('currency');
  const action = stored === null ? `${PAGES_PATH}/new` : `${PAGES_PATH}/${stored.id}`;
  return html`<form class="card" method="post" action="${action}">${stored === null ? nothing : html`<h2>Settings</h2>`}${forms.formTokenField(formToken)}
${forms.textField({ ...field('title'), hint: `Customers see it. At most ${TITLE_CHARACTERS} characters.` })}
${stored === null ? forms.textField(optional('slug', `The part after ${baseUrl}/p/. It cannot be changed later. Empty makes one that nobody can guess.`)) : nothing}
<div class="grid">${forms.textField({ ...optional('amount', 'Empty lets the customer choose.'), inputMode: 'decimal' })}
${forms.selectField(currency.name, currency.label, forms.optionsOf(currencies, currency.value), currency.error)}
${forms.textField({ ...optional('minimum', 'Of an amount that the customer chooses.'), inputMode: 'decimal' })}
${forms.textField({ ...optional('maximum', 'Of an amount that the customer chooses.'), inputMode: 'decimal' })}
${forms.textField({ ...optional('stock', `Empty for no limit. An unpaid payment holds a place for ${HOLD_MINUTES} minutes.`), inputMode: 'numeric' })}
${forms.textField({ ...optional('end_date', `It counts in full, in the time zone ${account.timeZone}.`), type: 'date' })}</div>
${forms.textField(optional('order_line', `Also on the checkout. Empty takes the title. At most ${ORDER_LINE_CHARACTERS} characters.`))}
${forms.textField(optional('question', 'For example a size or a delivery address. Only members of your account see the answers.'))}
${tick('answer_required', 'An answer is required', stored?.isAnswerRequired ?? false, {})}
${tick('pass_fee', labels.pass_fee, stored?.passFeeToCustomer ?? false, { error: errors.get('pass_fee') })}
${account.wallet === null ? forms.textField({ ...field('address'), hint: 'A Polygon address (0x…). You can save one in the settings.' }) : html`<p>Paid out to <code>${account.wallet}</code></p>`}
${account.defaultCallbackUrl === null ? forms.textField({ ...optional('callback', 'The https URL that receives the signed event of each payment. Without one, no event is sent.'), type: 'url' }) : html`<p>Events go to <code>${account.defaultCallbackUrl}</code></p>`}
<p class="actions"><button class="button primary">${stored === null ? 'Create page' : 'Save'}</button></p></form>`;
}

const stateLabels: Readonly<Record<PageState, string>> = {
  open: 'Open',
  busy: 'Open',
  paused: 'Paused',
  ended: 'Ended',
  sold_out: 'Sold out',
  reserved: 'All places held',
};

function stateBadge(used: UsedPage, { account }: Visit, nowMs: number): Html {
  const state = pageStateAt(used, account, nowMs);
  return html`<span class="badge ${state === 'open' ? 'good' : 'plain'}">${stateLabels[state]}</span>`;
}

function priceOf({ amountCents, currency }: ReusablePage): string {
  return amountCents === null
    ? `Any amount in ${currency}`
    : `${formatMoney(amountCents, currency)} ${currency}`;
}

async function showList(
  { reusablePages, nowMs, baseUrl }: DashboardContext,
  visit: Visit,
): Promise<PageView> {
  const pages = await reusablePages.listPages(visit.account.id, nowMs());
  const newButton = html`<p class="actions"><a class="button primary" href="${PAGES_PATH}/new">New payment page</a><span id="copied" role="status"></span></p>`;
  const rows = pages.map((used) => [
    html`<a href="${PAGES_PATH}/${used.page.id}"><bdi>${used.page.title}</bdi></a>`,
    priceOf(used.page),
    stateBadge(used, visit, nowMs()),
    html`${used.paid}${used.page.stock === null ? nothing : ` of ${used.page.stock}`}${oversoldBadge(used)}`,
    formatUsdc(used.receivedUnits),
    html`<span id="url-${used.page.id}"><span>${baseUrl}/p/${used.page.slug}</span></span> <button class="button compact" type="button" data-copies="url-${used.page.id}" hidden>Copy link<span class="quiet"> to ${used.page.title}</span></button>`,
  ]);
  const columns = ['Page', 'Amount', 'State', numbers('Paid'), numbers('Received USDC'), 'Link'];
  return {
    title: 'Payment pages',
    main: html`<p>One link or QR code for any number of payments: a product, a ticket, a donation. Each customer who submits the page gets a payment of their own.</p>
${newButton}
${pages.length === 0 ? html`<p class="banner plain">No payment pages yet.</p>` : dataTable({ label: 'Payment pages', columns, rows, hasRowHeadings: true })}`,
  };
}

function oversoldBadge(used: UsedPage): Html {
  const oversold = oversoldOf(used);
  return oversold === 0 ? nothing : html` <span class="badge warn">${oversold} oversold</span>`;
}

interface PageViewOptions {
  readonly message?: Html;
  readonly submitted?: Submitted;
}

async function pageView(
  context: DashboardContext,
  visit: Visit,
  used: UsedPage,
  { message = nothing, submitted }: PageViewOptions,
): Promise<PageView> {
  const { baseUrl, nowMs } = context;
  const { page } = used;
  const url = `${baseUrl}/p/${page.slug}`;
  const payments = await context.payments.listByOrigin(visit.account.id, page.id, PAYMENTS_SHOWN);
  const oversold = oversoldOf(used);
  const switchTo = page.isPaused ? 'resume' : 'pause';
  const copied = (id: string, label: string) =>
    html`<button class="button" type="button" data-copies="${id}" hidden>${label}</button>`;
  const rows = payments.map((payment) => [
    html`<a href="${DASHBOARD_PATH}/payments/${payment.id}">${moment(payment.createdAtMs, visit.timeZone)}</a>`,
    `${formatMoney(payment.amountCents, payment.currency)} ${payment.currency}`,
    statusBadge(payment),
  ]);
  return {
    title: page.title,
    main: html`${message}${refusalOf('Nothing was saved.', submitted)}
<div class="pair"><section class="card"><h2>Takings</h2><p>${stateBadge(used, visit, nowMs())}</p>
${oversold === 0 ? nothing : html`<p class="banner warn">${oversold} more than the stock ${oversold === 1 ? 'is' : 'are'} paid: the money arrived after the ${HOLD_MINUTES} minutes for which a payment holds its place. Deliver, or refund ${oversold === 1 ? 'it' : 'them'}.</p>`}
<dl class="facts">${fact('Amount', priceOf(page))}
${fact('Paid', `${used.paid}${page.stock === null ? '' : ` of ${page.stock}`}`)}
${fact('Received', `${formatUsdc(used.receivedUnits)} USDC`)}
${fact('Being paid now', String(used.held))}
${page.endsAtMs === null ? nothing : fact('Ends', moment(page.endsAtMs, visit.timeZone))}</dl>
<form method="post" action="${PAGES_PATH}/${page.id}/${switchTo}">${forms.formTokenField(visit.formToken)}<p class="actions"><button class="button">${page.isPaused ? 'Resume' : 'Pause'}</button></p></form></section>
<section class="card"><h2>Share</h2>
<div class="field"><label for="page-url">Link</label><input id="page-url" class="secret" readonly value="${url}" autocomplete="off"></div>
<div class="field"><label for="page-button">Button for your website</label><input id="page-button" class="secret" readonly value="${buttonSnippet(url, page.title)}" autocomplete="off"></div>
<p class="actions">${copied('page-url', 'Copy link')}${copied('page-button', 'Copy button')}<a class="button" href="${url}">Open</a><span id="copied" role="status"></span></p>
${qrCode(url, 'QR code of the page')}</section></div>
${payments.length === 0 ? nothing : html`<section class="card"><h2>Newest payments</h2>${dataTable({ label: 'Newest payments', columns: ['Created', numbers('Amount'), 'State'], rows, hasRowHeadings: true })}</section>`}
${pageForm(visit, baseUrl, page, submitted)}`,
  };
}

/** A link with inline style, which needs neither script nor style sheet. */
function buttonSnippet(url: string, title: string): string {
  return html`<a href="${url}" style="display:inline-block;padding:12px 24px;border-radius:6px;background:#0b5f4a;color:#fff;font:600 16px system-ui,sans-serif;text-decoration:none">${title}</a>`.toString();
}
