import { formatUnits } from '../../../domain/money.ts';
import { readPaymentStory } from '../../../payments/read-payment-story.ts';
import { html } from '../../design/html.ts';
import type { DashboardContext } from '../context.ts';
import type { DashboardView } from '../dashboard-page.ts';
import { moment } from '../format-time.ts';
import { DASHBOARD_PATH } from '../sections.ts';
import type { Visit } from '../visit.ts';
import { fact } from './fact.ts';
import { amountFacts, transactionLink } from './payment-page.ts';
import { timeline } from './payment-timeline.ts';
import { providerName, stateSentence } from './payment-words.ts';

/** One payment on paper: what can be shown to a bank, a provider or a customer, and how anybody can check it. */
export async function showEvidence(context: DashboardContext, visit: Visit): Promise<DashboardView> {
  const story = await readPaymentStory(context, visit.account.id, visit.params['paymentId'] ?? '');
  const { payment, ledger, sessions } = story;
  const moved = [
    ...ledger.deposits.map(({ units, ...place }) => ({ ...place, what: 'arrived', units })),
    ...ledger.releases.map(({ toMerchantUnits, feeUnits, ...place }) => ({
      ...place,
      what: `released, less a fee of ${formatUnits(feeUnits)}`,
      units: toMerchantUnits,
    })),
  ].sort((one, other) => one.blockNumber - other.blockNumber || one.logIndex - other.logIndex);
  return {
    title: 'Evidence of a payment',
    main: html`<p class="screen-only"><a href="${DASHBOARD_PATH}/payments/${payment.id}">Back to the payment</a>. Print this page with your browser (Ctrl+P).</p>
<section class="card"><h2>Who and how much</h2><dl class="facts">
${fact('Merchant', html`<bdi>${visit.account.name}</bdi>`)}
${fact('Payment id', html`<code>${payment.id}</code>`)}
${fact('State', `${payment.status}: ${stateSentence(payment)}`)}
${amountFacts(payment)}
${fact('Customer', html`<bdi>${payment.email ?? 'not known'}</bdi>`)}
${fact('Note', html`<bdi class="lines">${payment.note ?? 'none'}</bdi>`)}
${fact('Printed', moment(context.nowMs(), visit.timeZone))}
</dl></section>
<section class="card"><h2>At the on-ramp</h2>
${sessions.length === 0 ? html`<p>The customer was at no provider.</p>` : html`<dl class="facts">${sessions.map(({ provider, providerReference, createdAtMs }) => fact(providerName(provider), html`${moment(createdAtMs, visit.timeZone)}, reference <code>${providerReference}</code>`))}</dl>`}</section>
<section class="card"><h2>On the chain</h2>
<p>USDC on chain ${payment.chainId}. The deposit address is computed from the merchant’s wallet, the fee and the payment id by the factory’s contract, so that the money could go nowhere else; <code>${context.baseUrl}/.well-known/card-checkout.json</code> says how to check that.</p>
<dl class="facts">${fact('Deposit address', html`<code>${payment.depositAddress}</code>`)}${fact('Merchant’s wallet', html`<code>${payment.payoutAddress}</code>`)}
${fact('Fee wallet', html`<code>${payment.feeWallet}</code>`)}${fact('Factory', html`<code>${payment.factory}</code>`)}
${moved.map(({ what, units, transactionHash, blockNumber }) => fact(`${formatUnits(units)} USDC`, html`${what}, block ${blockNumber}${blockNumber <= ledger.finalBlock ? ' (final)' : ' (not final yet)'}: ${transactionLink(context, transactionHash)}`))}</dl></section>
<section class="card"><h2>In the order of time</h2>${timeline(story, visit.timeZone)}</section>`,
  };
}
