import type { AuditAction } from '../../accounts/audit-entry.ts';
import { roleIncludes } from '../../accounts/person.ts';
import type { PaymentCard } from '../../pages/dashboard/features.ts';
import { confirmedForm, requirePasswordAndFactor } from '../../pages/dashboard/security-pages.ts';
import { meantField, meantWalletOf } from '../../pages/dashboard/settings-pages.ts';
import { parsePayoutAddress } from '../../payment/address.ts';
import { invalidField } from '../../payment/errors.ts';
import { formatSigned, formatUnits } from '../../payment/money.ts';
import type { Payment } from '../../payment/payment.ts';
import { paymentUri } from '../../payment/payment-uri.ts';
import { parseTypedNumber } from '../../payment/typed-input.ts';
import type { AddedColumns } from '../../reports/export-payments.ts';
import { dataTable, headings, numbers } from '../../web/design/data-table.ts';
import { type Html, html, nothing } from '../../web/design/html.ts';
import { qrCode } from '../../web/design/qr-code.ts';
import { DASHBOARD_PATH, type PaymentHints, record, type Visit } from '../../web/signed-in/context.ts';
import { ago, formatUsdc, formatUsdcSum, moment, timeText, usdcText } from '../../web/signed-in/format.ts';
import { banner, type FormFields, foldedForm, formFields, optional } from '../../web/signed-in/forms.ts';
import { pageLinks } from '../../web/signed-in/layout.ts';
import { type DashboardRoutes, type PageView, seeOther } from '../../web/signed-in/pages.ts';
import {
  badge,
  copyField,
  fact,
  moneySentence,
  type Tone,
  transactionLink,
} from '../../web/signed-in/payment-words.ts';
import { networkName } from '../../web/well-known.ts';
import { REFUND_RULE, type Refund, refundStatusAt, refundStatuses, transactionProblems } from './refund.ts';
import {
  addressUrl,
  cancelOpenRefund,
  confirmRefundAddress,
  createRefund,
  type RefundContext,
  readRefund,
  readRefunds,
  refundAmounts,
  submitTransaction,
} from './refunds.ts';

const PAGE_SIZE = 50;

const section = { after: 'payments', group: '', label: 'Refunds', path: '/refunds', role: 'viewer' } as const;

export function registerRefundsPage(routes: DashboardRoutes, context: RefundContext): void {
  routes.pages(section, 'viewer').page('/refunds', async (visit) => {
    const [, atMs = Number.MAX_SAFE_INTEGER, id = ''] =
      /^(\d{1,15})-(\w{1,40})$/.exec(visit.query.get('before') ?? '') ?? [];
    const place = { createdAtMs: Number(atMs), id };
    const refunds = await context.refunds.listAccountRefunds(visit.account.id, place, PAGE_SIZE);
    const last = refunds.length === PAGE_SIZE ? refunds.at(-1) : undefined;
    const nowMs = context.nowMs();
    const empty = html`<p class="banner plain">No refunds yet.</p>`;
    const table = dataTable({ label: 'Refunds', isCompact: true, empty }, refunds, {
      Amount: headings(
        ({ paymentId, units, createdAtMs }) =>
          html`<a class="row" href="${DASHBOARD_PATH}/payments/${paymentId}#refunds"
title="${timeText(createdAtMs, visit.timeZone, 'second')}"><strong>${formatUsdcSum(units)}</strong>&#160;<span class="soft">USDC</span></a>`,
      ),
      Status: (refund) => {
        const status = refundStatusAt(refund, nowMs);
        return badge(status.replace('_', ' '), tones[status] ?? '');
      },
      Reason: ({ reason }) => (reason === null ? null : html`<bdi>${reason}</bdi>`),
      'To address': ({ destination }) =>
        destination === null ? null : html`<span class="hash" title="${destination}">${destination}</span>`,
      Opened: numbers(({ createdAtMs }) => ago(createdAtMs, nowMs, visit.timeZone)),
    });
    const hint = html`<p>Open a refund on the page of its <a href="${DASHBOARD_PATH}/payments?status=paid">payment</a>.</p>`;
    return {
      title: 'Refunds',
      main: html`${roleIncludes(visit.role, 'developer') && hint}
${table}
${pageLinks(visit.path, { filters: {}, isNewest: id === '', older: last ? `${last.createdAtMs}-${last.id}` : null })}`,
    };
  });
}

const tones: Readonly<Record<string, Tone>> = {
  paid: 'good',
  awaiting_confirmation: 'warn',
  awaiting_transfer: 'warn',
};

const pathOf = (paymentId: string) => `${DASHBOARD_PATH}/payments/${paymentId}/refunds`;

export const paymentHints: PaymentHints = {
  surplus: ['?refund=surplus#refunds', 'Refund the surplus'],
  overpaid: 'If the customer paid twice, open a refund of the surplus below.',
  overpaidForOperator:
    'More arrived than the payment asked for. All of it goes to the merchant, who refunds a customer who paid twice.',
  evidence: 'Evidence for a refund or a dispute',
  settled:
    'For your books, for example “refunded in the shop”. At most 500 characters. Customers never see it, and it changes no status.',
};

export const refundsCard = (context: RefundContext): PaymentCard => ({
  show: (visit, payment) => showRefunds(context, visit, payment),
  register: (routes, showPayment) => registerForms(context, routes, showPayment),
});

async function showRefunds(context: RefundContext, visit: Visit, payment: Payment) {
  const { refunds, leftUnits } = await readRefunds(context, visit.account.id, payment.id);
  if (refunds.length === 0 && leftUnits === 0n) return [nothing, nothing] as const;
  const mayChange = roleIncludes(visit.role, 'developer');
  const isNamed = (refund: Refund) => refundStatusAt(refund, context.nowMs()) === 'awaiting_confirmation';
  const named = mayChange ? refunds.find(isNamed) : undefined;
  const mayOpen = named === undefined && leftUnits > 0n && mayChange;
  const form =
    named !== undefined
      ? await confirmForm(visit, named)
      : mayOpen && (await openForm(visit, payment, leftUnits));
  const link = html`<a class="button" href="${DASHBOARD_PATH}/payments/${payment.id}?refund=all#refunds">Refund</a>`;
  const card = html`<section class="card" id="refunds"><h2>Refunds</h2>
<p>${moneySentence(payment) ?? ''}</p>
<p>${leftUnits === 0n ? 'Nothing is left to refund.' : html`You refund in USDC, from your own wallet. ${formatUsdc(leftUnits)} can still be refunded.`}</p>
${refunds.map((refund) => refundPart(context, visit, refund, payment.chainId))}
${form}<span id="copied" role="status"></span></section>`;
  return [mayOpen ? link : nothing, card] as const;
}

/** Renders the form that opens a refund. It requires password and second factor, because it directs money. */
async function openForm(visit: Visit, payment: Payment, leftUnits: bigint): Promise<Html> {
  const action = pathOf(payment.id);
  const choices = choicesOf(payment, leftUnits);
  const form = await confirmedForm(visit, {
    action,
    introduction: html`<p class="banner">The email address of a payment is not verified.
Ask the customer for an address over a channel that you know, or send them the link that you get without one.</p>
<p>${REFUND_RULE}</p>`,
    fields: {
      amount: {
        label: 'How much',
        type: 'select',
        value: visit.query.get('refund') ?? 'all',
        options: Object.keys(choices),
        wordsOf: (choice) => choices[choice] ?? '',
      },
      part: optional('Another amount or percentage', '', `At most ${formatUnits(leftUnits)} USDC is left.`),
      reason: { label: 'Reason', isOptional: true },
      destination: optional(
        'The customer’s Polygon address',
        '',
        'It begins with 0x and has 42 characters. Leave it empty to get a link with which the customer names it.',
      ),
      ...meantField(visit, 'destination'),
    },
    button: 'Open the refund',
  });
  return foldedForm(visit, action, 'Open a refund…', form, visit.query.has('refund'));
}

function choicesOf(payment: Payment, leftUnits: bigint): Readonly<Record<string, string>> {
  const { amountMismatch, currency, forwardedUnits, receivedUnits, usdUnits } = payment;
  const isWhole = leftUnits >= receivedUnits;
  const surplusUnits = amountMismatch === 'overpaid' && isWhole ? receivedUnits - usdUnits : 0n;
  const choices = { all: leftUnits, surplus: surplusUnits, [formatUnits(forwardedUnits)]: forwardedUnits };
  const words = ['All that is left', 'The surplus', 'What you received'];
  const offered = Object.entries(choices).flatMap(([name, units], index) =>
    units > 0n && (index === 0 || units < leftUnits) ? [[name, `${words[index]}: ${usdcText(units)}`]] : [],
  );
  return {
    ...Object.fromEntries(offered),
    amount: 'Another amount in USDC',
    charge_amount: `An amount of the charge in ${currency}`,
    share: 'A percentage of the charge',
  };
}

/** Renders the form that confirms an address, with password and second factor. A stranger may have named it. */
async function confirmForm(visit: Visit, refund: Refund): Promise<Html> {
  const { id, destination, paymentId } = refund;
  const form = await confirmedForm(visit, {
    action: `${pathOf(paymentId)}/${id}/confirm`,
    introduction: html`<input type="hidden" name="destination" value="${destination}">
<p class="banner">Someone with the link named ${destination}.
Check it with the customer over a channel that you know: a transfer to a wrong address cannot be undone.</p>`,
    fields: meantField(visit, 'destination'),
    button: 'Confirm this address',
  });
  return html`<h3>Confirm the address for ${formatUsdc(refund.units)}</h3>${form}`;
}

function refundPart(refundContext: RefundContext, visit: Visit, refund: Refund, chainId: number): Html {
  const { context } = visit;
  const status = refundStatusAt(refund, context.nowMs());
  const isExpected = status === 'awaiting_transfer';
  const mayCancel = status.startsWith('awaiting_') && roleIncludes(visit.role, 'developer');
  const link = mayCancel ? addressUrl(refundContext, refund) : null;
  const { destination, units, transactionHash, submittedHash, transactionProblem, sender } = refund;
  const uri =
    isExpected && destination !== null
      ? paymentUri({ token: context.token, chainId, to: destination, units })
      : null;
  const actionOf = (name: string) => `${pathOf(refund.paymentId)}/${refund.id}/${name}`;
  const form = (name: string, content: Html) =>
    html`<form method="post" action="${actionOf(name)}">${content}</form>`;
  const hint = 'Only if you transferred another amount.';
  const transaction = { id: `transaction-${refund.id}`, label: 'Transaction hash', hint };
  return html`<h3>${formatUsdc(units)}</h3><p>${refundStatuses[status]}</p>
${transactionProblem === null ? nothing : banner('bad', transactionProblems[transactionProblem])}
<dl class="facts">${fact('ID', html`<code>${refund.id}</code>`)}${fact('Opened', moment(refund.createdAtMs, visit.timeZone))}
${refund.reason === null ? nothing : fact('Reason', html`<bdi>${refund.reason}</bdi>`)}
${destination === null ? nothing : fact('Address', html`<code>${destination}</code>`)}
${submittedHash === null ? nothing : fact('Submitted, not final yet', transactionLink(context, submittedHash))}
${transactionHash === null ? nothing : fact('Transaction', transactionLink(context, transactionHash))}
${sender === null ? nothing : fact('Sent from', html`<code>${sender}</code>`)}</dl>
${
  link !== null &&
  html`${copyField(`link-${refund.id}`, 'Link for the customer, valid for 7 days', link)}
<p class="actions"><button class="button" type="button" data-copies="link-${refund.id}" hidden>Copy</button></p>`
}
${
  uri !== null &&
  html`${qrCode(uri, 'The transfer, for a wallet that scans it')}
<p>Network: ${networkName(chainId)}. All digits of the amount count: the last ones identify the refund.</p>
<p class="actions"><a class="button primary" href="${uri}">Open in your wallet</a></p>`
}
${
  mayCancel &&
  isExpected &&
  form(
    'transaction',
    html`${formFields(visit, actionOf('transaction'), { transaction })}
<p class="actions"><button class="button">Submit the transaction</button></p>`,
  )
}
${mayCancel && form('cancel', html`<p class="actions"><button class="button danger">Cancel this refund</button></p>`)}`;
}

type RefundForm = (visit: Visit, form: FormFields) => Promise<Refund>;

function registerForms(
  context: RefundContext,
  routes: DashboardRoutes,
  showPayment: (visit: Visit) => Promise<PageView>,
): void {
  const register = (path: string, action: AuditAction, act: RefundForm) =>
    routes.pages('payments', 'developer').form(
      `/payments/:paymentId/refunds${path}`,
      async (visit, form) => {
        const { id, paymentId } = await act(visit, form);
        await record(visit, action, id);
        return seeOther(`/payments/${paymentId}#refunds`);
      },
      showPayment,
    );
  const own = ({ account, params }: Visit) => readRefund(context, account.id, params['refundId'] ?? '');
  register('', 'refund.opened', (visit, form) => open(context, visit, form));
  register('/:refundId/confirm', 'refund.confirmed', async (visit, form) => {
    const refund = await own(visit);
    await requirePasswordAndFactor(visit, form, { is_meant: () => meantWalletOf(form, 'destination') });
    return confirmRefundAddress(context, refund, form.text('destination'));
  });
  register('/:refundId/transaction', 'refund.submitted', async (visit, form) =>
    submitTransaction(context, await own(visit), form.text('transaction')),
  );
  register('/:refundId/cancel', 'refund.canceled', async (visit) =>
    cancelOpenRefund(context, await own(visit)),
  );
}

async function open(context: RefundContext, visit: Visit, form: FormFields): Promise<Refund> {
  const paymentId = visit.params['paymentId'] ?? '';
  // Refuses an unknown payment before checking the password.
  const { payment } = await readRefunds(context, visit.account.id, paymentId);
  const destination = form.text('destination').trim();
  await requirePasswordAndFactor(visit, form, {
    destination: () => (parsePayoutAddress(destination) === null ? null : meantWalletOf(form, 'destination')),
  });
  const chosen = form.text('amount') || 'all';
  const kind = refundAmounts.find((name) => name === chosen);
  if (kind === undefined && form.text('part').trim() !== '')
    throw invalidField('amount', 'must say what the number below is: an amount or a percentage');
  const units = { amount: 'USDC', charge_amount: payment.currency, share: 'percent' } as const;
  return createRefund(context, visit.account.id, paymentId, {
    ...(kind === undefined
      ? { amount: chosen }
      : { kind, field: 'part', amount: parseTypedNumber('part', form.text('part'), units[kind]) }),
    reason: form.text('reason'),
    destination: destination || null,
  });
}

export const refundColumns = ({ refunds }: Pick<RefundContext, 'refunds'>): AddedColumns => ({
  // Places the column after the sums of the deposit address, because refunds come from the merchant's own wallet.
  after: 'held_usdc',
  names: ['refunded_usdc'],
  async read(accountId, ids) {
    const sums = await refunds.sumPaidRefunds(accountId, ids);
    return (id) => [formatSigned(sums.get(id) ?? 0n)];
  },
});
