import type { Account } from '../../domain/account.ts';
import { feeExample } from '../../domain/fee-example.ts';
import { formatUnits } from '../../domain/money.ts';
import { textField } from '../dashboard/fields.ts';
import { formTokenField } from '../dashboard/form-token.ts';
import { formatMoney } from '../dashboard/format-amount.ts';
import { formatPercent } from '../dashboard/format-percent.ts';
import { dataTable } from '../design/data-table.ts';
import { type Html, html } from '../design/html.ts';
import { OPERATOR_PATH } from './operator-area.ts';
import type { OperatorVisit } from './visit.ts';

const EXAMPLE_CENTS = 100_00;

/** The fee, and what it means for a payment of 100.00, with and without pass-through. */
export function feeCard(account: Account, { formToken }: OperatorVisit, shownBasisPoints: number): Html {
  return html`<form class="card roomy" method="post" action="${OPERATOR_PATH}/accounts/${account.id}/fee"><h2>Card fee</h2>${formTokenField(formToken)}
<p>Now ${formatPercent(account.feeBasisPoints)}. Payments that exist keep the fee they were made with.</p>
${textField({ name: 'fee', label: 'Fee in percent', value: String(shownBasisPoints / 100), hint: 'From 0 to 10, with at most two decimals.' })}
${exampleTable(shownBasisPoints)}
<div class="actions"><button class="button" name="preview" value="1">Preview</button><button class="button primary" name="save" value="1">Save fee</button></div></form>`;
}

function exampleTable(basisPoints: number): Html {
  return dataTable({
    label: 'Example',
    caption: `A payment of ${formatMoney(EXAMPLE_CENTS, 'USD')} at ${formatPercent(basisPoints)}, before what the provider takes for itself`,
    columns: [
      'Who pays it',
      { name: 'Charged', holds: 'numbers' },
      { name: 'Fee, USDC', holds: 'numbers' },
      { name: 'Merchant gets', holds: 'numbers' },
    ],
    hasRowHeadings: true,
    rows: [exampleRow('Merchant', basisPoints, false), exampleRow('Customer', basisPoints, true)],
  });
}

function exampleRow(payer: string, basisPoints: number, isPassedThrough: boolean): string[] {
  const { chargedCents, feeUnits, merchantUnits } = feeExample(EXAMPLE_CENTS, basisPoints, isPassedThrough);
  return [payer, formatMoney(chargedCents, 'USD'), formatUnits(feeUnits), formatUnits(merchantUnits)];
}
