import type { AuditAction } from '../../accounts/audit-entry.ts';
import { eraseEmail } from '../../accounts/erase-old-data.ts';
import type { Role } from '../../accounts/person.ts';
import { parseNote } from '../../api/parse-create-request.ts';
import { cancelPayment } from '../../payment/cancel-payment.ts';
import { invalidField } from '../../payment/errors.ts';
import { formatUnits, parseUnits } from '../../payment/money.ts';
import type { Payment } from '../../payment/payment.ts';
import { acceptPayment, releasePayment } from '../../payment/release-payment.ts';
import { html } from '../../web/design/html.ts';
import { DASHBOARD_PATH, record, type Visit } from '../../web/signed-in/context.ts';
import { moment } from '../../web/signed-in/format.ts';
import { type FormFields, flashOf } from '../../web/signed-in/forms.ts';
import { type DashboardRoutes, type PageView, seeOther } from '../../web/signed-in/pages.ts';
import { fact, providerName, stateSentence, transactionLink } from '../../web/signed-in/payment-words.ts';
import type { DashboardFeatures } from './features.ts';
import { amountFacts, readOwnHistory, showPayment, timeline } from './payment-detail.ts';
import { sendPaymentsCsv, showPayments } from './payment-list-page.ts';
import { requirePasswordAndFactor } from './security-pages.ts';

async function showEvidence(visit: Visit) {
  const { context } = visit;
  const history = await readOwnHistory(visit);
  const { payment, observations, sessions } = history;
  const moved = [
    ...observations.deposits.map(({ units, ...place }) => ({ ...place, what: 'arrived', units })),
    ...observations.releases.map(({ toMerchantUnits, feeUnits, ...place }) => ({
      ...place,
      what: `released, less a fee of ${formatUnits(feeUnits)}\u00a0USDC`,
      units: toMerchantUnits,
    })),
  ].sort((one, other) => one.blockNumber - other.blockNumber || one.logIndex - other.logIndex);
  const sessionFacts = sessions.map(({ provider, providerReference, createdAtMs }) => {
    const at = moment(createdAtMs, visit.timeZone);
    return fact(providerName(provider), html`${at}, reference <code>${providerReference}</code>`);
  });
  return {
    title: 'Evidence of a payment',
    main: html`<p class="screen-only"><a href="${DASHBOARD_PATH}/payments/${payment.id}">Back to the payment</a>.
Print this page with your browser (Ctrl+P).</p>
<section class="card"><h2>Payment</h2><dl class="facts">
${fact('Merchant', html`<bdi>${visit.account.name}</bdi>`)}
${fact('Payment ID', html`<code>${payment.id}</code>`)}
${fact('Status', `${payment.status}: ${stateSentence(payment)}`)}
${amountFacts(payment)}
${fact('Customer', html`<bdi>${payment.email ?? 'unknown'}</bdi>`)}
${fact('Note', html`<bdi class="lines">${payment.note ?? 'none'}</bdi>`)}
${fact('Printed', moment(context.nowMs(), visit.timeZone))}
</dl></section>
<section class="card"><h2>At the on-ramp</h2>
${sessions.length === 0 ? html`<p>No provider session was started.</p>` : html`<dl class="facts">${sessionFacts}</dl>`}</section>
<section class="card"><h2>On the chain</h2>
<p>USDC on chain ${payment.chainId}.
The deposit address is computed from the merchant’s wallet, the fee and the payment ID by the factory’s contract, so the money cannot go elsewhere.
<code>${context.baseUrl}/.well-known/card-checkout.json</code> describes how to verify it.</p>
<dl class="facts">${fact('Deposit address', html`<code>${payment.depositAddress}</code>`)}
${fact('Merchant’s wallet', html`<code>${payment.payoutAddress}</code>`)}
${fact('Fee wallet', html`<code>${payment.feeWallet}</code>`)}${fact('Factory', html`<code>${payment.factory}</code>`)}
${moved.map(({ what, units, transactionHash, blockNumber }) =>
  fact(
    `${formatUnits(units)}\u00a0USDC`,
    html`${what},
block ${blockNumber}${blockNumber <= observations.finalBlock ? ' (final)' : ' (not final yet)'}: ${transactionLink(context, transactionHash)}`,
  ),
)}</dl></section>
<section class="card"><h2>Timeline</h2>${timeline(history, visit)}</section>`,
  };
}

const flashMessages = {
  noted: 'The note is saved.',
  canceled: 'The payment is canceled.',
  settled: 'How it was settled is saved.',
  released: 'The release is requested. The USDC is sent to your wallet.',
  accepted: 'The payment is accepted. It becomes paid when its release is final.',
  erased: 'The customer’s personal data is erased.',
};

export function registerPayments(routes: DashboardRoutes, features: DashboardFeatures): void {
  const show = (visit: Visit) => showPayment(features, visit);
  const seen = routes.pages('payments', 'viewer');
  seen.page('/payments', showPayments);
  seen.page('/payments.csv', sendPaymentsCsv);
  seen.page('/payments/:paymentId', (visit) => showPayment(features, visit, flashOf(visit, flashMessages)));
  seen.page('/payments/:paymentId/evidence', showEvidence);
  registerChanges(routes, show);
  for (const { register } of features.paymentCards) register(routes, show);
}

function registerChanges(routes: DashboardRoutes, show: (visit: Visit) => Promise<PageView>): void {
  const { context } = routes;
  const change = (
    role: Role,
    name: string,
    done: keyof typeof flashMessages,
    act: (payment: Payment, form: FormFields, visit: Visit) => Promise<AuditAction | null>,
  ) =>
    routes.pages('payments', role).form(
      `/payments/:paymentId/${name}`,
      async (visit, form) => {
        // Checks the account before showing any details.
        const { payment } = await readOwnHistory(visit);
        const action = await act(payment, form, visit);
        if (action !== null) await record(visit, action, payment.id);
        return seeOther(`/payments/${payment.id}?flash=${done}`);
      },
      show,
    );
  change('developer', 'note', 'noted', async (payment, form) => {
    await context.search.editNote(payment, parseNote(form.text('note').trim() || null));
    return 'payment.noted';
  });
  change('developer', 'cancel', 'canceled', async ({ id }) => {
    await cancelPayment(context, id, 'merchant');
    return 'payment.canceled';
  });
  change('developer', 'settlement', 'settled', async ({ accountId, id: name }, form, visit) => {
    const text = parseNote(form.text('note').trim() || null);
    const record = { accountId, kind: 'settled', name, atMs: context.nowMs() } as const;
    await context.records.replaceRecord({ ...record, texts: text === null ? [] : [text, visit.user.email] });
    return 'payment.settlement_noted';
  });
  change('developer', 'release', 'released', async ({ id }) => {
    await releasePayment(context, id);
    return 'payment.released';
  });
  change('owner', 'accept', 'accepted', async (payment, form, visit) => {
    const { units } = await requirePasswordAndFactor(visit, form, {
      units() {
        const units = parseUnits(form.text('units'));
        if (units === null) throw invalidField('units', 'must be the amount shown on this page');
        return units;
      },
    });
    await acceptPayment(context, payment.id, units);
    return 'payment.accepted';
  });
  change('owner', 'erase-email', 'erased', async (payment) =>
    (await eraseEmail(context, payment)) ? 'payment.email_erased' : null,
  );
}
