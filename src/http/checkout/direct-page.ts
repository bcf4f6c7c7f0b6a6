import { formatUnits } from '../../domain/money.ts';
import { paymentUri } from '../../domain/payment-uri.ts';
import type { Address } from '../../domain/payout-address.ts';
import { html, nothing } from '../design/html.ts';
import { qrCode } from '../design/qr-code.ts';
import { networkName } from '../network-name.ts';
import type { Language } from './languages.ts';
import { layout, type Page } from './layout.ts';
import type { Checkout } from './read-checkout.ts';
import { summary } from './summary.ts';

/**
 * How to pay a direct payment from a wallet. In English alone, with `lang` saying so. Once enough was sent, the page is
 * the same as after a card payment.
 */
export function directPage(
  { payment, account, view }: Checkout,
  options: { readonly language: Language; readonly isSandbox: boolean; readonly token: Address },
): Page {
  const { language, isSandbox, token } = options;
  const network = networkName(payment.chainId);
  const missing = view.kind === 'underpaid' ? view.missingUnits : payment.enoughUnits;
  const uri = paymentUri({ token, chainId: payment.chainId, to: payment.depositAddress, units: missing });
  const amount = `${formatUnits(missing)} USDC`;
  return layout({
    language,
    title: `Pay ${amount} to ${account.name}`,
    isSandbox,
    head: html`<meta http-equiv="refresh" content="15">`,
    summary: summary({ payment, account }, language),
    script: 'none',
    main: html`<main class="card" lang="en" dir="ltr">
<h1>Send ${amount}</h1>
${view.kind === 'underpaid' ? html`<p role="status">${formatUnits(view.receivedUnits)} USDC have arrived. This is what is missing.</p>` : nothing}
<dl class="facts">
<div><dt>Network</dt><dd><strong>${network}</strong></dd></div>
<div><dt>Amount</dt><dd>${amount}</dd></div>
<div><dt>To</dt><dd><code>${payment.depositAddress}</code></dd></div>
<div><dt>USDC contract</dt><dd><code>${token}</code></dd></div>
</dl>
<p>${qrCode(uri, 'The transfer, for a wallet that scans it')}</p>
<p><a class="button primary wide" href="${uri}">Open in your wallet</a></p>
<ul>
<li>Only USDC, and only on ${network}. On another network, or another token, it does not arrive.</li>
<li>Send the whole amount: what the network or an exchange keeps as its fee comes on top.</li>
<li>The address is for this payment alone. Do not use it again.</li>
</ul>
<p role="status">Waiting for your transfer. It counts once the network cannot take it back, seconds to a minute later.</p>
</main>`,
  });
}
