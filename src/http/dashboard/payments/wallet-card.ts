import { formatUnits } from '../../../domain/money.ts';
import { isDirect } from '../../../domain/payment.ts';
import { paymentUri } from '../../../domain/payment-uri.ts';
import type { PaymentView } from '../../../domain/ports/payment-store.ts';
import { sumLedger } from '../../../domain/settle.ts';
import { type Html, html, nothing } from '../../design/html.ts';
import { qrCode } from '../../design/qr-code.ts';
import { networkName } from '../../network-name.ts';
import type { DashboardContext } from '../context.ts';
import { fact } from './fact.ts';

/** How a direct payment that is open is paid: what is missing, where, and as wallets read it. Nothing for others. */
export function walletCard(
  { token }: Pick<DashboardContext, 'token'>,
  { payment, ledger }: Pick<PaymentView, 'payment' | 'ledger'>,
): Html {
  const missingUnits = payment.enoughUnits - sumLedger(ledger).seenUnits;
  if (!isDirect(payment) || payment.status !== 'unpaid' || missingUnits <= 0n) return nothing;
  const { chainId, depositAddress } = payment;
  const uri = paymentUri({ token, chainId, to: depositAddress, units: missingUnits });
  return html`<section class="card"><h2>To be paid from a wallet</h2>
${qrCode(uri, 'The transfer, for a wallet that scans it')}
<dl class="facts">${fact('Still to be sent', `${formatUnits(missingUnits)} USDC`)}
${fact('Network', networkName(chainId))}
${fact('To', html`<code>${depositAddress}</code>`)}
${fact('USDC contract', html`<code>${token}</code>`)}
${fact('For wallets', html`<code>${uri}</code>`)}</dl>
<p>Only USDC, and only on this network: anything else does not arrive.</p></section>`;
}
