import type { FastifyReply } from 'fastify';
import type { Address } from '../../payment/address.ts';
import { ServiceError } from '../../payment/errors.ts';
import { formatUnits } from '../../payment/money.ts';
import { isDirect, type Payment } from '../../payment/payment.ts';
import { isPaymentId } from '../../payment/payment-id.ts';
import { paymentUri } from '../../payment/payment-uri.ts';
import { fillIn, fillText, formatExactUsdc, type Language } from '../../web/checkout-layout/languages.ts';
import { setCommonHeaders } from '../../web/checkout-layout/layout.ts';
import { type Html, html, nothing } from '../../web/design/html.ts';
import { qrCode, qrCodeFile } from '../../web/design/qr-code.ts';
import { publicNetwork } from '../../web/well-known.ts';
import { takesPayment } from './checkout-view.ts';
import type { CheckoutRequest } from './context.ts';
import { copyButton } from './facts-and-transactions.ts';
import { type Checkout, requireCheckout } from './read-checkout.ts';

/** Returns whether the customer still has to send a transfer. Afterwards, the page is that of any other payment. */
export function awaitsTransfer({ payment, view }: Pick<Checkout, 'payment' | 'view'>): boolean {
  return isDirect(payment) && (takesPayment(view) || view.kind === 'underpaid');
}

export function directContent({ payment, view }: Checkout, language: Language, token: Address) {
  const { words } = language;
  const { direct, facts } = words;
  const missing = view.kind === 'underpaid' ? view.missingUnits : payment.paidThresholdUnits;
  const uri = transferUri(payment, missing, token);
  const amount = formatExactUsdc(language, missing);
  const received = view.kind === 'underpaid' ? formatExactUsdc(language, view.receivedUnits) : '';
  const known = publicNetwork(payment.chainId);
  const network = networkIn(words, payment.chainId);
  const sentence =
    view.kind === 'underpaid' ? `${direct.partly}${language.gap}${direct.waiting}` : direct.waiting;
  const fill = (template: string) => fillIn(template, { amount, received, network });
  return {
    words: {
      heading: fill(direct.heading),
      sentence: fill(sentence),
      text: {
        heading: fillText(direct.heading, { amount }),
        sentence: fillText(sentence, { received }),
      },
    },
    detail: html`<ul class="transfer-notes">
<li><strong>${fill(direct.onlyThere)}</strong></li>
<li>${direct.whole}</li>
<li>${direct.once}</li>
</ul>
<div class="open"><a class="button primary wide" href="${uri}">${direct.open}</a><p class="small soft">${direct.openHint}</p></div>
<div id="wallets" data-chain="0x${payment.chainId.toString(16)}" data-token="${token}" data-call="${transferCall(payment.depositAddress, missing)}"
data-pay="${direct.payWith}" data-open="${direct.open}" data-sent="${direct.sent}" data-refused="${direct.refused}"
data-network="${known === null ? '' : JSON.stringify(known)}"></div>
<p id="wallet-note" role="status"></p>
<dl class="copies">
<div><dt class="small soft">${facts.amount}</dt><dd><bdi>${amount}</bdi>${copyButton(exactUsdc(missing), words, facts.amount)}</dd></div>
<div><dt class="small soft">${direct.to}</dt><dd>${groupedAddress(payment.depositAddress)}${copyButton(payment.depositAddress, words, direct.to)}</dd></div>
</dl>
<div class="codes"><details name="code" open><summary>${direct.codeWhole}</summary><p>${qrCode(uri, direct.code)}</p></details>
<details name="code"><summary>${direct.codeAddress}</summary><p>${qrCode(payment.depositAddress, direct.codeAddress)}</p>
<p class="small soft">${direct.codeAddressHint}</p></details></div>
<dl class="facts">
<div><dt>${direct.network}</dt><dd><strong><bdi>${network}</bdi></strong></dd></div>
<div><dt>${direct.contract}</dt><dd>${groupedAddress(token)}</dd></div>
</dl>
${known === null ? nothing : networkHelp(payment.chainId, known, words)}`,
  };
}

export function networkIn({ direct }: Language['words'], chainId: number): string {
  return publicNetwork(chainId)?.chainName ?? fillText(direct.testNetwork, { chain: String(chainId) });
}

/** Renders an address in groups of four characters. CSS draws the gaps, so copied text has no spaces. */
export function groupedAddress(address: Address): Html {
  return html`<code class="groups">${address.match(/0x|.{1,4}/g)?.map((group) => html`<bdi>${group}</bdi>`) ?? ''}</code>`;
}

function networkHelp(
  chainId: number,
  { chainName, rpcUrls, nativeCurrency, blockExplorerUrls }: NonNullable<ReturnType<typeof publicNetwork>>,
  { direct }: Language['words'],
): Html {
  const settings = {
    RPC: rpcUrls[0],
    'Chain ID': String(chainId),
    Symbol: nativeCurrency.symbol,
    Explorer: blockExplorerUrls[0],
  };
  const rows = Object.entries(settings).map(
    ([label, value]) => html`<div><dt>${label}</dt><dd><code>${value}</code></dd></div>`,
  );
  return html`<details><summary>${fillIn(direct.networkMissing, { network: chainName })}</summary>
<p>${direct.networkAdd}</p><dl class="facts" lang="en" dir="ltr">${rows}</dl></details>`;
}

function transferUri({ chainId, depositAddress }: Payment, units: bigint, token: Address): string {
  return paymentUri({ token, chainId, to: depositAddress, units });
}

/** Formats amounts as "30" and "30.5", not "30.000000", for pasting into a wallet. */
export function exactUsdc(units: bigint): string {
  return formatUnits(units).replace(/\.?0+$/, '');
}

/** First four bytes of the hash of `transfer(address,uint256)`. */
const TRANSFER_SELECTOR = '0xa9059cbb';

function transferCall(to: Address, units: bigint): string {
  const word = (hex: string) => hex.toLowerCase().padStart(64, '0');
  return `${TRANSFER_SELECTOR}${word(to.slice(2))}${word(units.toString(16))}`;
}

/** Responds to `GET /pay/:paymentId/qr.svg` with a QR code of the checkout, which few visitors open. */
export async function showPhoneCode({ context, reply, params }: CheckoutRequest<'paymentId'>) {
  const { paymentId } = params;
  if (!isPaymentId(paymentId)) throw new ServiceError('payment_not_found');
  return sendPhoneCode(reply, `${context.baseUrl}/pay/${paymentId}`);
}

export async function showTransferCode({ context, reply, params }: CheckoutRequest<'paymentId'>) {
  return sendTransferCode(reply, await requireCheckout(context, params.paymentId), context.token);
}

/** Sends a QR code for the transfer of the missing amount. Throws `not_found` unless the payment is underpaid. */
export function sendTransferCode(reply: FastifyReply, { payment, view }: Checkout, token: Address) {
  if (view.kind !== 'underpaid') throw new ServiceError('not_found');
  return sendCode(reply, transferUri(payment, view.missingUnits, token), 'no-store');
}

export function sendPhoneCode(reply: FastifyReply, address: string): FastifyReply {
  return sendCode(reply, address, 'private, max-age=86400');
}

function sendCode(reply: FastifyReply, text: string, caching: string): FastifyReply {
  return setCommonHeaders(reply)
    .header('cache-control', caching)
    .type('image/svg+xml')
    .send(qrCodeFile(text));
}
