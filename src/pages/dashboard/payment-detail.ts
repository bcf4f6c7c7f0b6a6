import type { AccountRecord, RecordKind } from '../../accounts/account-store.ts';
import { roleIncludes } from '../../accounts/person.ts';
import { isDust } from '../../payment/fees-and-paid-threshold.ts';
import { formatUnits } from '../../payment/money.ts';
import { isDirect, itemLabel, type Payment } from '../../payment/payment.ts';
import { shortCodeOf } from '../../payment/payment-id.ts';
import { refusedStatuses, stateOf } from '../../payment/payment-states.ts';
import { payingProvider } from '../../payment/payment-statistics.ts';
import type { PaymentView } from '../../payment/payment-store.ts';
import { paymentUri } from '../../payment/payment-uri.ts';
import { MULTI_PROVIDER } from '../../payment/provider-catalog.ts';
import { openRestOf } from '../../payment/session-charge.ts';
import { sumObservations } from '../../payment/settle.ts';
import { listOffers, servedFromUsdCents } from '../../providers/provider-availability.ts';
import type { JournalEntry } from '../../settlement/journal.ts';
import { type Html, html, nothing } from '../../web/design/html.ts';
import { qrCode } from '../../web/design/qr-code.ts';
import {
  DASHBOARD_PATH,
  type DashboardContext,
  type PaymentOrigin,
  type Visit,
} from '../../web/signed-in/context.ts';
import {
  durationText,
  formatMoney,
  formatPercent,
  formatUsdc,
  moment,
  moneyText,
  usdcText,
} from '../../web/signed-in/format.ts';
import { cardForm, foldedAction, foldedForm } from '../../web/signed-in/forms.ts';
import type { PageView } from '../../web/signed-in/pages.ts';
import {
  copyable,
  copyButton,
  displayStatusBadges,
  fact,
  moneySentence,
  originLink,
  partPaidSentence,
  providerName,
  stateMeaning,
  stateSentence,
  stateTitles,
  transactionLink,
} from '../../web/signed-in/payment-words.ts';
import { networkName } from '../../web/well-known.ts';
import { type PaymentHistory, readPaymentHistory } from '../../webhooks/payment-history.ts';
import type { DashboardFeatures } from './features.ts';
import { confirmedForm } from './security-pages.ts';
import { webhookCard, webhookOutcome } from './webhook-card.ts';

/** Reads the payment in the path with its history. Throws `payment_not_found` for a payment of another account. */
export function readOwnHistory({ context, account, params }: Visit): Promise<PaymentHistory> {
  return readPaymentHistory(context, account.id, params['paymentId'] ?? '');
}

export async function showPayment(
  { paymentCards }: Pick<DashboardFeatures, 'paymentCards'>,
  visit: Visit,
  message: Html = nothing,
): Promise<PageView> {
  const { context } = visit;
  const history = await readOwnHistory(visit);
  const { payment } = history;
  const origin = (await context.readOrigins(visit.account.id, [payment.id])).get(payment.id) ?? null;
  const recordOf = async (kind: RecordKind) =>
    (await context.records.listRecords(visit.account.id, kind, [payment.id]))[0];
  const [opened, settled, entries, cards] = await Promise.all([
    recordOf('opened'),
    recordOf('settled'),
    context.observations.listEntriesOf(payment.id),
    Promise.all(paymentCards.map(({ show }) => show(visit, payment))),
  ]);
  const links = cards.map(([link]) => link);
  const mayReturn = links.some((link) => link !== nothing);
  return {
    title: `Payment of ${moneyText(payment.amountCents, payment.currency)}`,
    actions: paymentActions(
      visit,
      payment,
      html`${links}`,
      html`${noteCard(visit, payment)}${settledCard(visit, history, settled)}
${cancelCard(visit, history)}${eraseCard(visit, payment, origin?.answer ?? null)}`,
    ),
    main: html`${message}
<p>${displayStatusBadges(payment, history.sessions.at(-1), context.nowMs())} ${moneySentence(payment) ?? stateSentence(payment)}</p>
${mismatchNotice(visit, history, mayReturn)}
${await acceptCard(visit, history)}
${await unservedNotice(visit, history)}
${payment.releaseRefusalReason === null ? nothing : html`<p class="banner bad">The release was refused: <code>${payment.releaseRefusalReason}</code></p>`}
${releaseCard(visit, history)}
${walletCard(context, history)}
<div class="pair"><section class="card"><h2>What happened</h2>${timeline(history, visit, { opened, entries })}</section>
${factsCard(visit, history, origin, settled)}</div>
${cards.map(([, card]) => card)}
${history.webhooks.map((webhook) => webhookCard(context, webhook, visit))}`,
  };
}

const menuForms = /\/(?:note|settlement|cancel|erase-email)$/;

function paymentActions(visit: Visit, { id }: Payment, links: Html, forms: Html): Html {
  return html`<div class="actions">${links}
<button class="button" type="button" data-copies="short-link" hidden>Copy link</button>
<details class="menu"${menuForms.test(visit.refused?.path ?? '') ? html` open` : nothing}><summary class="button" aria-label="More actions">···</summary>
<div class="card"><p><a href="${DASHBOARD_PATH}/payments/${id}/evidence">${visit.context.paymentHints.evidence}</a></p>${forms}</div></details></div>`;
}

function mismatchNotice({ context, role }: Visit, history: PaymentHistory, mayReturn: boolean): Html {
  const { baseUrl, paymentHints } = context;
  const { payment, observations, sessions } = history;
  if (payment.amountMismatch === 'partially_paid') {
    const url = `${baseUrl}/pay/${payment.id}`;
    return html`<section class="banner"><p><strong>${partPaidSentence(payment)}</strong></p>
<ul id="rest"><li>${restSentence(history)} Send the customer the link: <a href="${url}"><code id="rest-link">${url}</code></a>
${copyButton('rest-link', 'the link')} ${payment.email === null || !roleIncludes(role, 'developer') ? nothing : reminderLink(payment.email, url)}</li>
<li>While the payment is open, it cannot be canceled or released, because the customer can still pay the rest. An owner can accept what arrived as paid.</li>
<li>If the rest does not arrive before the payment expires, the payment is canceled.
What arrived can then be released to your wallet, but never counts as paid.</li></ul></section>`;
  }
  if (payment.amountMismatch !== 'overpaid') return nothing;
  const visited = [...new Set(sessions.map(({ provider }) => providerName(provider)))];
  const { length: deposits } = observations.deposits;
  const origin = deposits > 1 ? `It arrived in ${deposits} deposits. ` : '';
  const twice = `The customer went to ${visited.join(' and ')} and may have been charged twice. `;
  return html`<section class="banner"><p><strong>Overpaid: ${formatUsdc(sumObservations(observations).seenUnits)} arrived
for a payment of ${formatUsdc(payment.usdUnits)}.</strong></p>
<p>${origin}${visited.length > 1 ? twice : ''}All of it goes to your wallet, less the fee.
Only one webhook is sent. ${mayReturn && paymentHints.overpaid}</p></section>`;
}

/** Renders a link to the merchant's mail program. The service sends nothing to the customer. */
function reminderLink(email: string, url: string): Html {
  const body = encodeURIComponent(`A part of your payment is still missing. You can pay it here: ${url}`);
  const href = `mailto:${encodeURIComponent(email)}?subject=Your%20payment&body=${body}`;
  return html`<a class="button compact" href="${href}">Write the reminder</a>`;
}

function restSentence(view: PaymentView): string {
  const rest = openRestOf(view);
  if (rest === null || isDirect(view.payment)) return 'The customer can send the rest from a wallet.';
  const amount = moneyText(rest.amountCents, rest.currency);
  return `The customer can pay the rest, ${amount}, at a provider that accepts the amount, or from a wallet.`;
}

async function acceptCard(visit: Visit, { payment, observations }: PaymentHistory): Promise<Html> {
  const { seenUnits, finalSeenUnits } = sumObservations(observations);
  const isOffered = payment.amountMismatch === 'partially_paid' && finalSeenUnits === seenUnits;
  if (!isOffered || !roleIncludes(visit.role, 'owner')) return nothing;
  const units = formatUnits(seenUnits);
  const action = `${DASHBOARD_PATH}/payments/${payment.id}/accept`;
  const form = await confirmedForm(visit, {
    action,
    id: '-for-accept',
    introduction: html`<p class="banner">The payment becomes paid with ${units}&#160;USDC,
your shop gets the webhook, and the customer no longer owes the rest. This cannot be undone.</p>
<input type="hidden" name="units" value="${units}">`,
    button: 'Accept as paid',
  });
  return html`<section class="card"><h2>Accept as paid</h2><p>If what arrived is enough for you, accept it instead of waiting for the rest.</p>
${foldedForm(visit, action, `Accept ${usdcText(seenUnits)}…`, form)}</section>`;
}

async function unservedNotice({ account, context: { directory } }: Visit, view: PaymentView): Promise<Html> {
  const { payment } = view;
  if (isDirect(payment) || stateOf(payment) !== 'unpaid/pending') return nothing;
  const offers = (await listOffers(directory, account, openRestOf(view) ?? payment)).filter(
    ({ provider }) => payment.provider === MULTI_PROVIDER || payment.provider === provider,
  );
  if (offers.some(({ refusal }) => refusal === null)) return nothing;
  const from = servedFromUsdCents(offers);
  const advice =
    from === null
      ? 'No provider is available at the moment.'
      : `The lowest minimum of a provider is ${formatMoney(from, 'USD')} (USD).`;
  return html`<p class="banner">No provider accepts this payment, so the customer cannot pay it. ${advice}</p>`;
}

export function amountFacts(payment: Payment): Html {
  const { amountCents, originalAmountCents, customerFeeCents, currency } = payment;
  const money = (cents: number) => formatMoney(cents, currency);
  const isComposed = originalAmountCents !== null && customerFeeCents !== null;
  return html`${fact('Amount', moneyText(amountCents, currency))}
${isComposed ? fact('Composed of', `${money(originalAmountCents)} + ${money(customerFeeCents)} fee`) : nothing}
${fact('Account’s fee', formatPercent(payment.feeBasisPoints))}
${fact('Amount due', formatUsdc(payment.paidThresholdUnits, 'up'))}`;
}

function factsCard(
  visit: Visit,
  { payment, observations, sessions }: PaymentHistory,
  origin: PaymentOrigin | null,
  settled?: AccountRecord,
): Html {
  const { timeZone, context } = visit;
  const { heldUnits } = sumObservations(observations);
  const [agreed, author = ''] = settled?.texts ?? [];
  const used = payingProvider(payment, sessions);
  const shortLink = `${context.baseUrl}/s/${shortCodeOf(payment.id)}`;
  return html`<section class="card"><h2>Payment</h2><dl class="facts">
${fact('ID', copyable('payment-id', payment.id, 'the payment ID'))}
${fact(
  'Short link',
  html`<a href="${shortLink}"><code id="short-link">${shortLink}</code></a>
${copyButton('short-link', 'the short link')}`,
)}
${fact('Created', moment(payment.createdAtMs, timeZone))}
${payment.paidAtMs === null ? nothing : fact('Paid', moment(payment.paidAtMs, timeZone))}
${amountFacts(payment)}
${isDirect(payment) ? fact('Payment method', 'USDC from a wallet') : fact('Provider', providerName(payment.provider))}
${used === payment.provider ? nothing : fact('Last session', `${providerName(used)}${payment.status === 'paid' ? ', before the payment was paid' : ''}`)}
${fact('Customer', html`<bdi>${payment.email ?? 'unknown'}</bdi>`)}
${payment.reference === null ? nothing : fact('Reference', html`<bdi>${payment.reference}</bdi>`)}
${payment.orderLine === null ? nothing : fact('Paid for', html`<bdi>${payment.orderLine}</bdi>`)}
${(payment.orderDetails?.items ?? []).map((item) => fact(html`<bdi>${itemLabel(item)}</bdi>`, formatMoney(item.amountCents, payment.currency)))}
${payment.note === null ? nothing : fact('Note', html`<bdi class="lines">${payment.note}</bdi>`)}
${
  settled !== undefined &&
  agreed !== undefined &&
  fact(
    'How it was settled',
    html`<bdi class="lines">${agreed}</bdi>
<span class="small soft">By <bdi>${author}</bdi>, ${moment(settled.atMs, timeZone)}</span>`,
  )
}
${origin === null ? nothing : fact(origin.label, originLink(visit, origin))}
${origin === null || origin.answer === null ? nothing : fact('Customer’s answer', html`<bdi>${origin.answer}</bdi>`)}
${payment.cancelReason === null ? nothing : fact('Canceled', payment.cancelReason === 'expired' ? 'it expired' : `by the ${payment.cancelReason}`)}
${heldUnits === 0n ? nothing : fact('Held at deposit address', formatUsdc(heldUnits))}
${fact('Payout wallet', copyable('payout-address', payment.payoutAddress, 'the wallet'))}
${fact('Deposit address', copyable('deposit-address', payment.depositAddress, 'the deposit address'))}
</dl></section>`;
}

function noteCard(visit: Visit, { id, note }: Payment): Html {
  if (!roleIncludes(visit.role, 'developer')) return nothing;
  const hint =
    'At most 500 characters. Hidden from the checkout page, but shown in previews of the short link. A queued webhook keeps the old note.';
  return cardForm(visit, {
    action: `${DASHBOARD_PATH}/payments/${id}/note`,
    fields: { note: { label: 'Your note', type: 'textarea', value: note ?? '', hint } },
    button: 'Save the note',
  });
}

function settledCard(visit: Visit, { payment, observations }: PaymentHistory, settled?: AccountRecord): Html {
  const hasArrived = !isDust(payment, sumObservations(observations).seenUnits);
  const isOffered = hasArrived && stateOf(payment) !== 'paid/completed';
  if (!roleIncludes(visit.role, 'developer')) return nothing;
  if (settled === undefined && payment.amountMismatch === null && !isOffered) return nothing;
  const label = 'How it was settled with the customer';
  const hint = visit.context.paymentHints.settled;
  const value = settled?.texts[0] ?? '';
  return cardForm(visit, {
    action: `${DASHBOARD_PATH}/payments/${payment.id}/settlement`,
    fields: { note: { id: 'settlement-note', label, type: 'textarea', value, hint } },
    button: 'Save',
  });
}

function releaseCard(visit: Visit, { payment, observations }: PaymentHistory): Html {
  const { heldUnits } = sumObservations(observations);
  const isStuck =
    refusedStatuses.some((status) => status === payment.forwardStatus) && payment.relayBatchId === null;
  if (!isStuck || heldUnits === 0n || !roleIncludes(visit.role, 'developer')) return nothing;
  return html`<section class="card"><h2>Release</h2>
<p>${formatUsdc(heldUnits)} is held at the deposit address.
It can only go to the payment’s wallet, less the fee. The status of a canceled payment does not change.</p>
<form method="post" action="${DASHBOARD_PATH}/payments/${payment.id}/release">
<p class="actions"><button class="button primary">Release to your wallet</button></p></form></section>`;
}

function cancelCard(visit: Visit, { payment, observations }: PaymentHistory): Html {
  const canCancel =
    stateOf(payment) === 'unpaid/pending' && isDust(payment, sumObservations(observations).seenUnits);
  if (!canCancel || !roleIncludes(visit.role, 'developer')) return nothing;
  return html`<section class="card"><h2>Cancel</h2>
<p>Less than 0.01 USDC has arrived. A canceled payment can no longer be paid. A later deposit is held until you or the operator release it.</p>
${foldedAction({ action: `${DASHBOARD_PATH}/payments/${payment.id}/cancel`, summary: 'Cancel this payment…', button: 'Yes, cancel it' })}</section>`;
}

function eraseCard(visit: Visit, { id, email, metadata }: Payment, answer: string | null): Html {
  const held = [
    ...(email === null ? [] : ['the email address']),
    ...(answer === null ? [] : ['the answer']),
    ...(metadata === null ? [] : ['the metadata']),
  ];
  if (held.length === 0 || !roleIncludes(visit.role, 'owner')) return nothing;
  const action = `${DASHBOARD_PATH}/payments/${id}/erase-email`;
  return html`<section class="card"><h2>Customer’s personal data</h2>
<p>Erase the customer’s email address, answer and metadata, for example at the customer’s request:
from the payment, the search, the links to providers and the recorded webhook. This cannot be undone. The provider and your own systems keep their copies.
<a href="${DASHBOARD_PATH}/settings/customers">All payments of one customer</a></p>
${foldedAction({ action, summary: `Erase ${held.join(' and ')}…`, button: 'Yes, erase' })}</section>`;
}

type Happening = readonly [atMs: number, title: Html | string, text: Html | string];

interface TimelineOptions {
  readonly opened?: AccountRecord | undefined;
  readonly entries?: readonly JournalEntry[];
}

export function timeline(
  history: PaymentHistory,
  { context, timeZone }: Visit,
  { opened, entries = [] }: TimelineOptions = {},
): Html {
  const firstOpened: Happening[] =
    opened === undefined ? [] : [[opened.atMs, 'Customer opened the checkout', 'For the first time.']];
  const happenings = [...happeningsOf(history), ...movesOf(context, history, entries), ...firstOpened];
  const items = happenings
    .sort(([one], [other]) => one - other)
    .map(([atMs, title, text], index, sorted) => {
      const gapMs = atMs - (sorted[index - 1]?.[0] ?? atMs);
      const gap = gapMs < 1_000 ? '' : `, +${durationText(gapMs)}`;
      return html`<li><p><strong>${title}</strong> <span class="small soft">${moment(atMs, timeZone, 'second')}${gap}</span></p>
<p class="small">${text}</p></li>`;
    });
  return html`<ol class="timeline" reversed>${items.reverse()}</ol>`;
}

/** Lists money that arrived or was sent, with the time when it became final, or now if it is not final yet. */
function movesOf(
  context: DashboardContext,
  { observations: { deposits, releases, finalBlock } }: PaymentHistory,
  entries: readonly JournalEntry[],
): Happening[] {
  const move = (atMs: number, units: bigint, words: string, hash: string, finality = 'Final'): Happening => [
    atMs,
    html`${formatUsdc(units < 0n ? -units : units)} ${units < 0n ? 'reversed by a reorganization' : words}`,
    html`${finality}: ${transactionLink(context, hash)}`,
  ];
  const words = { deposited: 'arrived', forwarded: 'sent to your wallet', fee: '', rescued: '' };
  const seen = [...deposits, ...releases].filter(({ blockNumber }) => blockNumber > finalBlock);
  return [
    ...entries
      .filter(({ kind }) => words[kind] !== '')
      .map((entry) => move(entry.recordedAtMs, entry.units, words[entry.kind], entry.transactionHash)),
    ...seen.map((row) => {
      const [units, kind] =
        'units' in row ? ([row.units, 'deposited'] as const) : ([row.toMerchantUnits, 'forwarded'] as const);
      return move(context.nowMs(), units, words[kind], row.transactionHash, 'Not final yet');
    }),
  ];
}

function* happeningsOf({ payment, sessions, states, webhooks }: PaymentHistory): Generator<Happening> {
  yield [payment.createdAtMs, 'Created', ''];
  for (const { provider, quotedUnits, createdAtMs, providerReference, progress, progressAtMs } of sessions) {
    const quoted = quotedUnits === null ? nothing : html`, which quoted ${formatUsdc(quotedUnits)}`;
    const opened = html`${providerName(provider)}${quoted}. Its reference: ${providerReference}`;
    yield [createdAtMs, 'Customer opened the provider', opened];
    if (progress === null || progressAtMs === null) continue;
    const title = `${providerName(provider)} says: ${progress}`;
    yield [progressAtMs, title, 'Reported by the provider. Only deposits on the chain count.'];
  }
  for (const { atMs, state } of states) yield [atMs, stateTitles[state], stateMeaning(state)];
  if (payment.paidAtMs !== null && !states.some(({ state }) => state.startsWith('paid/'))) {
    yield [payment.paidAtMs, stateTitles['paid/completed'], stateMeaning('paid/completed')];
  }
  for (const { createdAtMs, event, url, result } of webhooks) {
    if (result === null) yield [createdAtMs, `Webhook ${event} queued`, url];
    else yield [result.finishedAtMs, `Webhook ${event} ${result.outcome}`, webhookOutcome(result)];
  }
}

export function walletCard(
  { token }: Pick<DashboardContext, 'token'>,
  { payment, observations }: Pick<PaymentView, 'payment' | 'observations'>,
): Html {
  const missingUnits = payment.paidThresholdUnits - sumObservations(observations).seenUnits;
  if (!isDirect(payment) || payment.status !== 'unpaid' || missingUnits <= 0n) return nothing;
  const { chainId, depositAddress } = payment;
  const uri = paymentUri({ token, chainId, to: depositAddress, units: missingUnits });
  return html`<section class="card"><h2>To be paid from a wallet</h2>
${qrCode(uri, 'The transfer, for a wallet that scans it')}
<dl class="facts">${fact('Amount due', formatUsdc(missingUnits, 'up'))}
${fact('Network', networkName(chainId))}
${fact('To', html`<code>${depositAddress}</code>`)}
${fact('USDC contract', html`<code>${token}</code>`)}
${fact('For wallets', html`<code>${uri}</code>`)}</dl>
<p>Send only USDC, and only on this network. Other transfers are not credited.</p></section>`;
}
