import { formatUnits } from '../../domain/money.ts';
import type { Payment } from '../../domain/payment.ts';
import { paymentUri } from '../../domain/payment-uri.ts';
import { type Refund, refundStatusAt, refundStatuses, transactionProblems } from '../../domain/refund.ts';
import { readRefunds } from '../../payments/refunds.ts';
import { type Html, html, nothing } from '../design/html.ts';
import { qrCode } from '../design/qr-code.ts';
import type { DashboardContext, Visit } from '../signed-in/context.ts';
import { moment } from '../signed-in/format.ts';
import { banner } from '../signed-in/forms.ts';
import { networkName } from '../well-known.ts';
import { fact, transactionLink } from './payment-words.ts';

/** The refunds of a payment, and how each is paid. Empty where none was opened. */
export async function refundCard(context: DashboardContext, visit: Visit, payment: Payment): Promise<Html> {
  const { refunds, leftUnits } = await readRefunds(context, visit.account.id, payment.id);
  if (refunds.length === 0) return nothing;
  return html`<section class="card" id="refunds"><h2>Refunds</h2>
<p>You refund in USDC, from your own wallet. ${formatUnits(leftUnits)} USDC can still be refunded.</p>
${refunds.map((refund) => refundPart(context, visit, refund, payment.chainId))}</section>`;
}

function refundPart(context: DashboardContext, visit: Visit, refund: Refund, chainId: number): Html {
  const status = refundStatusAt(refund, context.nowMs());
  const { destination, units, transactionHash, submittedHash, transactionProblem, sender } = refund;
  const uri = paymentUri({ token: context.token, chainId, to: destination, units });
  return html`<h3>${formatUnits(units)} USDC</h3><p>${refundStatuses[status]}</p>
${transactionProblem === null ? nothing : banner('bad', transactionProblems[transactionProblem])}
<dl class="facts">${fact('Id', html`<code>${refund.id}</code>`)}${fact('Opened', moment(refund.createdAtMs, visit.timeZone))}
${refund.reason === null ? nothing : fact('Reason', html`<bdi>${refund.reason}</bdi>`)}
${fact('Address', html`<code>${destination}</code>`)}
${submittedHash === null ? nothing : fact('Submitted, not final yet', transactionLink(context, submittedHash))}
${transactionHash === null ? nothing : fact('Transaction', transactionLink(context, transactionHash))}
${sender === null ? nothing : fact('Sent from', html`<code>${sender}</code>`)}</dl>
${status === 'awaiting_transfer' ? transferPart(uri, chainId) : nothing}`;
}

const transferPart = (
  uri: string,
  chainId: number,
) => html`${qrCode(uri, 'The transfer, for a wallet that scans it')}
<p>Network: ${networkName(chainId)}. All digits of the amount count: the last ones identify the refund.</p>
<p class="actions"><a class="button primary" href="${uri}">Open in your wallet</a></p>`;
