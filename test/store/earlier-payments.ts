/**
 * Payments of 25.00 USD, paid from 24.50 USDC, as they were stored before the terms of their threshold and what was seen of them
 * were kept; by what an upgrade has to make of them. The deposits are in the order of their blocks.
 */
export const earlierPayments = [
  { id: 'none', state: ['unpaid', 'pending'], deposits: [], expected: ['0', null, null] },
  { id: 'dust', state: ['unpaid', 'pending'], deposits: [7], expected: ['7', 'dust 0', null] },
  {
    id: 'part',
    state: ['unpaid', 'pending'],
    deposits: [5_000_000, 1_000_000],
    expected: ['6000000', 'part 1', 'partially_paid'],
  },
  {
    id: 'ready',
    state: ['unpaid', 'ready'],
    deposits: [5_000_000, 20_000_000, 1_000_000],
    expected: ['26000000', 'ready 1', null],
  },
  { id: 'late', state: ['canceled', 'manual_required'], deposits: [3, 4], expected: ['7', 'late 1', null] },
  { id: 'paid', state: ['paid', 'completed'], deposits: [25_000_000], expected: ['0', null, null] },
  {
    id: 'twice',
    state: ['paid', 'completed'],
    deposits: [24_500_000, 24_500_000],
    expected: ['0', null, 'overpaid'],
  },
] as const;

/** SQL that stores them, in the words of an engine that differs in booleans, lists and the account of a deposit. */
export function insertEarlierPayments(engine: {
  readonly no: string;
  readonly noNames: string;
  readonly isByAccount: boolean;
}): string {
  const { no, noNames, isByAccount } = engine;
  const payments = earlierPayments.map(
    ({ id, state: [status, forwardStatus] }, index) => `INSERT INTO payments
      (row, id, account_id, created_at_ms, amount_cents, currency, pass_fee_to_customer, fee_basis_points, provider,
       callback_url, token_fingerprint, chain_id, factory, payout_address, fee_wallet, deposit_address, usd_units,
       enough_units, status, forward_status, received_units, forwarded_units, release_refusals, no_op_batches,
       release_requested)
      VALUES (${index + 1}, '${id}', 'account', 0, 2500, 'USD', ${no}, 250, 'multi', '', '', 1, '', '', '', '', 25000000,
       24500000, '${status}', '${forwardStatus}', '0', '0', 0, 0, ${no});`,
  );
  const deposits = earlierPayments.flatMap(({ id, deposits: all }) =>
    all.map(
      (units, index) => `INSERT INTO deposits
        (transaction_hash, log_index, block_number, payment_id, units${isByAccount ? ', account_id' : ''})
        VALUES ('${id} ${index}', 0, ${index}, '${id}', '${units}'${isByAccount ? ", 'account'" : ''});`,
    ),
  );
  return `INSERT INTO accounts (id, name, fee_basis_points, features, suspended, created_at_ms)
    VALUES ('account', 'Shop', 250, ${noNames}, ${no}, 0);
    ${payments.join('\n')} ${deposits.join('\n')}`;
}

/** What is read of each. */
export const upgradedSql = `
  SELECT id, received_units, txid_in, amount_mismatch, tolerance_basis_points, max_provider_fee_basis_points, enough_units
  FROM payments ORDER BY row`;

/** As `upgradedSql` has to find them: their threshold stays, and no terms are invented. */
export const upgradedRows = earlierPayments.map(({ id, expected }) => [
  id,
  ...expected,
  null,
  null,
  '24500000',
]);
