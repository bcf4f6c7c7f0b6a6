import type { Account } from '../../domain/account.ts';
import { feeExample } from '../../domain/fee-example.ts';
import { formatUnits } from '../../domain/money.ts';
import { textField } from '../dashboard/fields.ts';
import { formTokenField } from '../dashboard/form-token.ts';
import { formatMoney } from '../dashboard/format-amount.ts';
import { formatPercent } from '../dashboard/format-percent.ts';
import { type Html, html } from '../design/html.ts';
import { OPERATOR_PATH } from './operator-area.ts';
import type { OperatorVisit } from './visit.ts';

const EXAMPLE_CENTS = 100_00;

/** The fee, and what it means for a payment of 100.00, with and without pass-through. */
export function feeCard(account: Account, { formToken }: OperatorVisit, shownBasisPoints: number): Html {
  const rows = [
    ['Merchant', false],
    ['Customer', true],
  ] as const;
  return html`<form class="card roomy" method="post" action="${OPERATOR_PATH}/accounts/${account.id}/fee"><h2>Card fee</h2>${formTokenField(formToken)}
<p>Now ${formatPercent(account.feeBasisPoints)}. Payments that exist keep the fee they were made with.</p>
${textField({ name: 'fee', label: 'Fee in percent', value: String(shownBasisPoints / 100), hint: 'From 0 to 10, with at most two decimals.' })}
<div class="table" role="region" aria-label="Example" tabindex="0"><table><caption>A payment of ${formatMoney(EXAMPLE_CENTS, 'USD')} at ${formatPercent(shownBasisPoints)}, before what the provider takes for itself</caption>
<thead><tr><th scope="col">Who pays it</th><th scope="col" class="number">Charged</th><th scope="col" class="number">Fee, USDC</th><th scope="col" class="number">Merchant gets</th></tr></thead>
<tbody>${rows.map(([label, isPassedThrough]) => {
    const { chargedCents, feeUnits, merchantUnits } = feeExample(
      EXAMPLE_CENTS,
      shownBasisPoints,
      isPassedThrough,
    );
    return html`<tr><th scope="row">${label}</th><td class="number">${formatMoney(chargedCents, 'USD')}</td><td class="number">${formatUnits(feeUnits)}</td><td class="number">${formatUnits(merchantUnits)}</td></tr>`;
  })}</tbody></table></div>
<div class="actions"><button class="button" name="preview" value="1">Preview</button><button class="button primary" name="save" value="1">Save fee</button></div></form>`;
}
