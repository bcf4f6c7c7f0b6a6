import { randomBytes } from 'node:crypto';
import type { Account } from '../../accounts/account.ts';
import { parseCurrency } from '../../api/parse-create-request.ts';
import { confirmedForm, requirePasswordAndFactor } from '../../pages/dashboard/security-pages.ts';
import { meantWalletOf } from '../../pages/dashboard/settings-pages.ts';
import { checkFields, invalidField, ServiceError } from '../../payment/errors.ts';
import { formatCents } from '../../payment/money.ts';
import { PAGE_ID_PREFIX } from '../../payment/payment.ts';
import {
  ORDER_LINE_CHARACTERS,
  parseLine,
  parseTypedAmount,
  readTypedAmount,
} from '../../payment/typed-input.ts';
import { dateAt, nextDate, startOfDate } from '../../platform/time-zone.ts';
import type { AddedColumns } from '../../reports/export-payments.ts';
import { languageOf } from '../../web/checkout-layout/languages.ts';
import { sendExample } from '../../web/checkout-layout/layout.ts';
import { dataTable, headings, numbers } from '../../web/design/data-table.ts';
import { type Html, html, nothing } from '../../web/design/html.ts';
import { qrCodeToSave } from '../../web/design/qr-code.ts';
import { DASHBOARD_PATH, type PaymentOrigin, record, type Visit } from '../../web/signed-in/context.ts';
import { formatUsdcSum, moment, moneyText } from '../../web/signed-in/format.ts';
import * as forms from '../../web/signed-in/forms.ts';
import { type DashboardRoutes, type PageView, type SeeOther, seeOther } from '../../web/signed-in/pages.ts';
import { copyField, fact } from '../../web/signed-in/payment-words.ts';
import { previewFrame } from '../../web/signed-in/preview-frame.ts';
import { viewOf } from './customer-page.ts';
import { destinationFields, getPaidSection, linkFields, linksCard } from './link-pages.ts';
import {
  amountBoundsOf,
  HOLD_MINUTES,
  MAXIMUM_PAGES,
  oversoldOf,
  type PaymentPage,
  type PaymentPageStore,
  pageStateAt,
  parseSlug,
  parseStock,
  QUESTION_CHARACTERS,
  TITLE_CHARACTERS,
  type UsedPage,
} from './payment-page.ts';

const PAGES_PATH = `${DASHBOARD_PATH}/pages`;
const PAYMENTS_SHOWN = 20;

export function registerPaymentPages(routes: DashboardRoutes, store: PaymentPageStore): void {
  const pages = routes.pages({ ...getPaidSection, label: 'Payment pages', path: '/pages' }, 'developer');
  const show = (visit: Visit) => showPage(store, visit);
  pages.page('/pages', (visit) => showList(store, visit));
  pages.page('/pages/new', showNew);
  pages.form('/pages/new', (visit, form) => createPage(store, visit, form), showNew);
  pages.form('/pages/preview', showPreview);
  pages.page('/pages/:pageId', show);
  const change = (path: string, done: 'changed' | 'paused' | 'resumed', read: ReadChange) =>
    pages.form(
      `/pages/:pageId${path}`,
      async (visit, form) => {
        const { page } = await readOwnPage(store, visit);
        await store.changePage(visit.account.id, page.id, await read(visit, form, page));
        await record(visit, `page.${done}`, page.slug);
        return seeOther(`/pages/${page.id}?flash=${done}`);
      },
      show,
    );
  change('', 'changed', readForm);
  change('/pause', 'paused', async () => ({ isPaused: true }));
  change('/resume', 'resumed', async () => ({ isPaused: false }));
}

type ReadChange = (visit: Visit, form: forms.FormFields, page: PaymentPage) => Promise<Partial<PaymentPage>>;

export async function readPageOrigins(
  store: PaymentPageStore,
  accountId: string,
  paymentIds: readonly string[],
): Promise<ReadonlyMap<string, PaymentOrigin>> {
  const pages = await store.listPagesOf(accountId, paymentIds);
  const common = { label: 'Payment page', role: getPaidSection.role };
  return new Map(
    [...pages].map(([id, { pageId, ...page }]) => [id, { ...page, ...common, path: `/pages/${pageId}` }]),
  );
}

export const paymentPageColumns = (store: PaymentPageStore): AddedColumns => ({
  after: 'note',
  names: ['payment_page', 'answer'],
  async read(accountId, ids) {
    const pages = await store.listPagesOf(accountId, ids);
    return (id) => [pages.get(id)?.slug ?? null, { text: pages.get(id)?.answer ?? null }];
  },
});

async function readOwnPage(
  store: PaymentPageStore,
  { account, params, context: { nowMs } }: Visit,
): Promise<UsedPage> {
  const used = await store.findPage(account.id, params['pageId'] ?? '', nowMs());
  if (used === null) throw new ServiceError('not_found');
  return used;
}

async function createPage(store: PaymentPageStore, visit: Visit, form: forms.FormFields): Promise<SeeOther> {
  const { context } = visit;
  const settings = await readForm(visit, form, null);
  const page: PaymentPage = {
    ...settings,
    id: `${PAGE_ID_PREFIX}${randomBytes(10).toString('hex')}`,
    accountId: visit.account.id,
    slug: parseSlug(form.text('slug')),
    isPaused: false,
    createdAtMs: context.nowMs(),
  };
  const outcome = await store.createPage(page);
  if (outcome === 'slug_taken') throw invalidField('slug', 'is already taken: choose another one');
  if (outcome === 'too_many') throw invalidField('The account', `has the maximum of ${MAXIMUM_PAGES} pages.`);
  await record(visit, 'page.created', page.slug);
  return seeOther(`/pages/${page.id}?flash=created`);
}

/** Returns parsers for the fields of a page's form. Each parser throws `invalid_request` for an invalid value. */
function checksOf(visit: Visit, form: forms.FormFields, stored: PaymentPage | null) {
  const { account } = visit;
  const { callbacks, nowMs } = visit.context;
  const typed = (name: string) => form.text(name).trim() || null;
  const line = (name: string, characters: number) =>
    typed(name) === null ? null : parseLine(name, form.text(name), characters);
  const passFeeToCustomer = form.has('pass_fee');
  const anyAmount = { minimumCents: null, maximumCents: null, passFeeToCustomer };
  const highestCents = amountBoundsOf(anyAmount, account).maximumCents;
  const kind = form.text('kind') || (typed('amount') === null ? 'open' : 'fixed');
  const amount = (name: 'amount' | 'minimum' | 'maximum') => {
    if ((name === 'amount') !== (kind === 'fixed')) return null;
    if (typed(name) === null && name !== 'amount') return null;
    const cents = parseTypedAmount(name, form.text(name), form.text('currency'));
    if (cents <= highestCents) return cents;
    throw invalidField(name, `must be at most ${formatCents(highestCents)}, because the fee is added`);
  };
  return {
    title: () => parseLine('title', form.text('title'), TITLE_CHARACTERS),
    amount: () => amount('amount'),
    minimum: () => amount('minimum'),
    maximum() {
      const maximum = amount('maximum');
      const minimum = readTypedAmount(form.text('minimum'), form.text('currency'));
      if (typeof minimum === 'number' && maximum !== null && maximum < minimum)
        throw invalidField('maximum', 'must not be below the minimum');
      return maximum;
    },
    currency: () => parseCurrency(form.text('currency')),
    order_line: () => line('order_line', ORDER_LINE_CHARACTERS),
    end_date() {
      const date = typed('end_date');
      if (date === null) return null;
      const endsAtMs =
        startOfDate(date, account.timeZone) === null ? null : startOfDate(nextDate(date), account.timeZone);
      if (endsAtMs === null)
        throw invalidField('end_date', 'must be a date like 2026-11-21, before 9999-12-31');
      if (endsAtMs > nowMs() || endsAtMs === stored?.endsAtMs) return endsAtMs;
      throw invalidField('end_date', 'must not be in the past');
    },
    stock: () => parseStock(form.text('stock')),
    question: () => line('question', QUESTION_CHARACTERS),
    pass_fee() {
      if (passFeeToCustomer && !account.features.includes('fee_pass_through'))
        throw invalidField('pass_fee', 'is not enabled for the account: contact support');
    },
    address() {
      // Drops a stored wallet, which would otherwise be used again once the account's wallet is removed.
      if (account.wallet !== null) return null;
      if (typed('address') === null) throw invalidField('address', 'is required');
      return meantWalletOf(form, 'address', stored?.payoutAddress);
    },
    async callback() {
      if (account.defaultCallbackUrl !== null) return stored?.callbackUrl ?? null;
      const url = typed('callback');
      const refusal = url === null ? null : await callbacks.refusalOf(url);
      if (refusal !== null) throw invalidField('callback', refusal);
      return url;
    },
  };
}

/** Reads a page's settings and checks password and second factor. Throws one `invalid_request` with all errors. */
async function readForm(visit: Visit, form: forms.FormFields, stored: PaymentPage | null) {
  return settingsOf(form, await requirePasswordAndFactor(visit, form, checksOf(visit, form, stored)));
}

type Given = Awaited<ReturnType<typeof checkFields<ReturnType<typeof checksOf>>>>;

function settingsOf(form: forms.FormFields, given: Given) {
  return {
    title: given.title,
    orderLine: given.order_line,
    currency: given.currency,
    amountCents: given.amount,
    minimumCents: given.minimum,
    maximumCents: given.maximum,
    passFeeToCustomer: form.has('pass_fee'),
    payoutAddress: given.address,
    callbackUrl: given.callback,
    endsAtMs: given.end_date,
    stock: given.stock,
    question: given.question,
    isAnswerRequired: form.has('answer_required'),
  };
}

const slugHint =
  'The last part of the link: letters, digits and hyphens. It cannot be changed later. If empty, a random one is generated.';
const questionHint =
  'For example a size or a delivery address. Only members of your account see the answers.';

function pageForm(visit: Visit, page: PaymentPage | null): Promise<Html> {
  const { account } = visit;
  const cents = (value: number | null = null) => (value === null ? '' : formatCents(value));
  const part = (fields: forms.Fields) => forms.formFields(visit, action, fields);
  const action = `${PAGES_PATH}/${page?.id ?? 'new'}`;
  const lastDay = page?.endsAtMs == null ? '' : dateAt(page.endsAtMs - 1, account.timeZone);
  const kind = visit.refused?.text('kind') || (page !== null && page.amountCents === null ? 'open' : 'fixed');
  const kindField = (value: string, label: string) =>
    html`<span class="chip">${forms.tickField({ type: 'radio', name: 'kind', id: `kind-${value}`, value, label, isChecked: value === kind })}</span>`;
  const options: forms.Fields = {
    order_line: { ...linkFields.order_line, value: page?.orderLine ?? '' },
    end_date: forms.optional('Last day', lastDay, 'It counts in full, in your time zone.', 'date'),
    stock: forms.optional(
      'Number of payments',
      page?.stock,
      `Empty for no limit. An unpaid payment holds a place for ${HOLD_MINUTES} minutes.`,
    ),
    question: forms.optional('Question to the customer', page?.question, questionHint),
    answer_required: {
      label: 'An answer is required',
      type: 'checkbox',
      value: page?.isAnswerRequired ?? false,
    },
    pass_fee: { ...linkFields.passFeeToCustomer, value: page?.passFeeToCustomer ?? false },
    ...(page === null ? { slug: forms.optional('Address', '', slugHint) } : {}),
  };
  return confirmedForm(visit, {
    action,
    style: 'card',
    introduction: html`${page !== null && html`<h2>Settings</h2>`}${part({ title: { label: 'Title', value: page?.title ?? '', hint: 'Customers see it.' } })}
<fieldset class="field"><legend>Amount</legend><div class="chips">${kindField('fixed', 'Fixed')}${kindField('open', 'Customer chooses')}</div></fieldset>
<div class="grid">${part({ currency: { ...linkFields.currency, value: page?.currency ?? account.baseCurrency } })}
<div class="only-fixed">${part({ amount: forms.optional('Amount', cents(page?.amountCents), 'For example 12.50') })}</div>
<div class="only-open">${part({ minimum: forms.optional('Minimum', cents(page?.minimumCents), 'May stay empty') })}</div>
<div class="only-open">${part({ maximum: forms.optional('Maximum', cents(page?.maximumCents), 'May stay empty') })}</div></div>
${forms.foldedForm(visit, action, 'Options', html`<div class="fields">${part(options)}</div>`, page !== null)}
${destinationFields(visit, action, page ?? undefined)}`,
    button: page === null ? 'Create page' : 'Save',
    look: page === null ? 'primary' : '',
  });
}

async function showNew(visit: Visit): Promise<PageView> {
  return { title: 'New payment page', main: await formWithPreview(visit, null) };
}

async function formWithPreview(visit: Visit, page: PaymentPage | null): Promise<Html> {
  return html`<div class="pair">${await pageForm(visit, page)}${previewFrame(`${PAGES_PATH}/preview`)}</div>`;
}

async function showPreview(visit: Visit, form: forms.FormFields) {
  const own = checksOf(visit, form, null);
  const title = () => form.text('title').trim() || 'Title';
  const isMissing = form.text('kind') === 'fixed' && form.text('amount').trim() === '';
  const amount = () => (isMissing ? 0 : own.amount());
  const checks = { ...own, title, amount, address: () => null, callback: () => null };
  const given = await checkFields(checks).catch(() => null);
  // Keeps the preview unchanged while a field is incomplete.
  if (given === null) return visit.reply.code(204).send();
  const { account, context, reply, request } = visit;
  const rest = { id: '', accountId: account.id, slug: '', isPaused: false, createdAtMs: 0 };
  const page = { ...settingsOf(form, given), ...rest };
  const found = { page, account, state: 'open', left: page.stock } as const;
  return sendExample(reply, viewOf(context, languageOf(request), found));
}

const stateLabels = {
  open: 'Open',
  busy: 'Open',
  paused: 'Paused',
  ended: 'Ended',
  sold_out: 'Sold out',
  reserved: 'All places held',
} as const;

function takings(used: UsedPage, { account }: Visit, nowMs: number) {
  const { page, paid, receivedUnits } = used;
  const { amountCents, currency, stock } = page;
  const state = pageStateAt(used, account, nowMs);
  const oversold = oversoldOf(used);
  return {
    amount: amountCents === null ? `Any, in ${currency}` : moneyText(amountCents, currency),
    state: html`<span class="badge ${state === 'open' ? 'good' : 'plain'}">${stateLabels[state]}</span>`,
    paid: html`${paid}${stock === null ? nothing : ` of ${stock}`}${oversold === 0 ? nothing : html` <span class="badge warn">${oversold} oversold</span>`}`,
    received: formatUsdcSum(receivedUnits),
  };
}

async function showList(store: PaymentPageStore, visit: Visit) {
  const { nowMs, baseUrl } = visit.context;
  const pages = await store.listPages(visit.account.id, nowMs());
  const rows = pages.map((used) => ({ ...used.page, ...takings(used, visit, nowMs()) }));
  const pageTable = dataTable('Payment pages', rows, {
    Page: headings(({ id, title }) => html`<a href="${PAGES_PATH}/${id}"><bdi>${title}</bdi></a>`),
    Amount: ({ amount }) => amount,
    Status: ({ state }) => state,
    Paid: numbers(({ paid }) => paid),
    'USDC received': numbers(({ received }) => received),
    Link: ({ id, slug, title }) =>
      html`<span id="${id}"><span>${baseUrl}/p/${slug}</span></span> <button class="button compact"
type="button" data-copies="${id}" hidden>Copy link<span class="quiet"> to ${title}</span></button>`,
  });
  return {
    title: 'Payment pages',
    main: html`<p>One link or QR code for any number of payments: a product, a ticket, a donation.
Each customer who submits the page gets a payment of their own.</p>
<p class="actions"><a class="button primary" href="${PAGES_PATH}/new">New payment page</a><span id="copied" role="status"></span></p>
${rows.length === 0 ? html`<p class="banner plain">No payment pages yet.</p>` : pageTable}`,
  };
}

const flashMessages = {
  created: 'The page is online.',
  changed: 'Saved. It applies to new payments.',
  paused: 'The page is paused. Payments that were started can still be paid.',
  resumed: 'The page takes payments again.',
};

const oversoldWarning = html`<p class="banner warn">More than the stock is paid: money arrived after the ${HOLD_MINUTES}
minutes for which a payment holds its place. Deliver, or refund what you cannot deliver.</p>`;

async function showPage(store: PaymentPageStore, visit: Visit): Promise<PageView> {
  const { context } = visit;
  const used = await readOwnPage(store, visit);
  const { page, held } = used;
  const url = `${context.baseUrl}/p/${page.slug}`;
  const payments = await context.payments.listByOrigin(visit.account.id, page.id, PAYMENTS_SHOWN);
  const { amount, state, paid, received } = takings(used, visit, context.nowMs());
  return {
    title: page.title,
    main: html`${forms.flashOf(visit, flashMessages)}
<div class="pair"><section class="card"><h2>Takings</h2><p>${state}</p>
${oversoldOf(used) === 0 ? nothing : oversoldWarning}
<dl class="facts">${fact('Amount', amount)}${fact('Paid', paid)}${fact('Received', `${received}\u00a0USDC`)}${fact('Being paid now', String(held))}
${page.endsAtMs === null ? nothing : fact('Ends', moment(page.endsAtMs, visit.timeZone))}</dl>
<form method="post" action="${PAGES_PATH}/${page.id}/${page.isPaused ? 'resume' : 'pause'}">
<p class="actions"><button class="button">${page.isPaused ? 'Resume' : 'Pause'}</button></p></form></section>
<section class="card"><h2>Share</h2>
${copyField('page-url', 'Link', url)}${copyField('page-button', 'Button for your website', buttonSnippet(url, page.title, visit.account))}
<p class="actions"><button class="button primary" type="button" data-copies="page-url" hidden>Copy link</button><button class="button"
type="button" data-copies="page-button" hidden>Copy button</button><a class="button" href="${url}">Open</a><span id="copied" role="status"></span></p>
${qrCodeToSave(url, 'QR code of the page')}</section></div>
${await linksCard(payments, visit, 'Newest payments', '/payments')}
${await formWithPreview(visit, page)}`,
  };
}

/** Returns HTML of a link that looks like a button, with inline styles, for the merchant's own website. */
function buttonSnippet(url: string, title: string, { brandColor }: Account): string {
  const style =
    `display:inline-block;padding:12px 24px;border-radius:6px;background:${brandColor ?? '#0b5f4a'};color:#fff;` +
    'font:600 16px system-ui,sans-serif;text-decoration:none';
  return html`<a href="${url}" style="${style}">${title}</a>`.toString();
}
