import { afterAll, expect, it } from 'vitest';
import { verifyPayments } from '../../src/cli/verify/verify-payments.ts';
import { hashOfEntry } from '../../src/settlement/journal.ts';
import type { Table } from '../../src/store/columns.ts';
import { journalTable, paymentTable, webhookTable } from '../../src/store/tables.ts';
import { storeEngines } from '../store/engines.ts';
import { failedResult } from '../store/fixtures.ts';
import { readJournal } from '../store/journal.ts';
import { openWorld, type PaymentName } from './simulated-world.ts';

/**
 * Every column of what decides about money is changed, one by one, and `verify` without a chain finds it. A column is left
 * out where its change moves no money and sends nothing, or where nothing else in the database says the same.
 */

const opened = await storeEngines(null as never)['SQLite']?.();
if (opened === undefined) throw new Error('there is no SQLite');
const { store } = opened;
afterAll(() => opened.dispose());
const world = await openWorld(store);
const [waiting] = await store.webhooks.listWebhooks(world.payments.paid.id);
const anySecret = { fingerprints: [], anyCreatedBeforeMs: Number.MAX_SAFE_INTEGER };
const [sent] = await store.webhooks.claimWebhooks([waiting?.id ?? ''], Date.now(), anySecret);
if (sent === undefined) throw new Error('there is no webhook');
await store.webhooks.recordWebhookResult(sent, { ...failedResult, outcome: 'delivered' });
const offline = { ...world.context, chain: null };
const findings = async () => (await verifyPayments(offline)).discrepancies.map(({ kind }) => kind);

/** Changes a column of rows, verifies, and changes it back. */
async function findingsAfter({ name }: Table, key: string, keys: string, set: string): Promise<string[]> {
  const [column] = set.split(' ', 1) as [string];
  await opened?.change(`CREATE TABLE before_change AS SELECT rowid AS place, ${column} FROM ${name};
    PRAGMA foreign_keys = OFF; UPDATE ${name} SET ${set} WHERE ${key} = '${keys}'`);
  const found = await findings();
  await opened?.change(`PRAGMA foreign_keys = OFF; UPDATE ${name} SET ${column} =
    (SELECT ${column} FROM before_change WHERE place = ${name}.rowid); DROP TABLE before_change`);
  return found;
}

const NOBODY = "'019a0000-0000-7000-8000-000000000000'";
const OTHER = "'0x52908400098527886E0F7030069857D2E4169EE7'";

const ofPayments: readonly (readonly [PaymentName, string, string])[] = [
  ['paid', 'id', NOBODY],
  ['paid', 'account_id', "'another'"],
  ['paid', 'currency', "'CAD'"],
  ['ready', 'provider', "'direct'"],
  ['paid', 'callback_url', "'https://elsewhere.example.com/'"],
  ['ready', 'factory', OTHER],
  ['ready', 'payout_address', OTHER],
  ['ready', 'fee_wallet', OTHER],
  ['ready', 'deposit_address', `x${OTHER.replace('0x', '')}`],
  ['ready', 'fee_basis_points', '1'],
  ['untouched', 'status', "'paid'"],
  ['untouched', 'forward_status', "'ready'"],
  ['paid', 'txid_in', "'deposit 12'"],
  ['paid', 'txid_out', 'NULL'],
  ['expired', 'cancel_reason', 'NULL'],
  ['paid', 'amount_mismatch', 'NULL'],
  ['untouched', 'amount_cents', '1'],
  ['untouched', 'original_amount_cents', '1'],
  ['untouched', 'customer_fee_cents', '1'],
  ['untouched', 'usd_units', '1'],
  ['untouched', 'tolerance_basis_points', '5000'],
  ['untouched', 'paid_threshold_units', '1'],
  ['ready', 'paid_threshold_units', '200000001'],
  ['paid', 'paid_at_ms', 'NULL'],
  ['ready', 'release_due_at_ms', 'NULL'],
  ['ready', 'release_refusals', '3'],
  ['carried', 'relay_batch_id', '99'],
  ['paid', 'pass_fee_to_customer', '0'],
  ['paid', 'received_units', "'1'"],
  ['paid', 'forwarded_units', "'1'"],
];
const otherColumnsOfPayments = {
  chain_id: 'the chain of the service decides, and the factory is compared',
  created_at_ms: 'nothing expires whose id is not old enough',
  max_provider_fee_basis_points: 'only of sessions to come',
  token_fingerprint: 'names a secret, which the database does not have',
  email: 'a name',
  note: 'a text that the merchant may edit',
  order_line: 'a text',
  origin: 'where it was made',
  reference: 'a name that the platform gave',
  metadata: 'texts of the platform',
  order_details: 'texts for the page',
  deadline_ms: 'only how long a payment awaits money',
  release_refusal_reason: 'a text',
  no_op_batches: 'only delays a release that is due',
  release_requested: 'a release goes to the merchant, who may ask for it at any time',
};

const ofWebhooks: readonly (readonly [string, string])[] = [
  ['id', `${NOBODY} || ':payment.paid'`],
  ['account_id', "'another'"],
  ['payment_id', `'${world.payments.ready.id}'`],
  ['host', "'elsewhere.example.com'"],
  ['event', "'payment.forwarded'"],
  ['fields', "'{}'"],
  ['status', "'pending'"],
  ['claimed_at_ms', 'NULL'],
];
const otherColumnsOfWebhooks = {
  reason: 'of the attempt',
  response_excerpt: 'of the attempt',
  body: 'of the attempt',
  signature: 'of the attempt',
  created_at_ms: 'the order in which those that wait are sent',
  http_status: 'of the attempt',
  finished_at_ms: 'of the attempt',
  duration_ms: 'of the attempt',
};

const ofJournal: readonly (readonly [string, string | number])[] = [
  ['log_index', 9],
  ['block_number', 9],
  ['previous_hash', 'f'.repeat(64)],
  ['hash', 'f'.repeat(64)],
  ['kind', 'deposited'],
  ['payment_id', NOBODY.slice(1, -1)],
  ['token', OTHER.slice(1, -1)],
  ['transaction_hash', 'another'],
  ['units', '1'],
];

it('finds nothing before anything is changed', async () => {
  expect(await findings()).toEqual([]);
});

it('every column is tried, or there is a reason why not', () => {
  const namesOf = ({ columns }: Table) => columns.map(({ name }) => name).sort();
  const sorted = (names: readonly string[]) => [...new Set(names)].sort();
  const payments = [...ofPayments.map(([, column]) => column), ...Object.keys(otherColumnsOfPayments)];
  expect(sorted(payments)).toEqual(namesOf(paymentTable));
  const webhooks = [...ofWebhooks.map(([column]) => column), ...Object.keys(otherColumnsOfWebhooks)];
  expect(sorted(webhooks)).toEqual(namesOf(webhookTable));
  expect(sorted([...ofJournal.map(([column]) => column), 'number', 'recorded_at_ms'])).toEqual(
    namesOf(journalTable),
  );
});

it.each(ofPayments)('finds a changed column of the payment %s: %s = %s', async (at, column, value) => {
  const set = `${column} = ${value}`;
  expect(await findingsAfter(paymentTable, 'id', world.payments[at].id, set)).not.toEqual([]);
});

it.each(ofWebhooks)('finds a changed column of a webhook: %s = %s', async (column, value) => {
  expect(
    await findingsAfter(webhookTable, 'payment_id', world.payments.paid.id, `${column} = ${value}`),
  ).not.toEqual([]);
});

it('finds a webhook that waits as if it had never been sent, a day after its payment was paid', async () => {
  const set = "status = 'pending', claimed_at_ms = NULL, created_at_ms = -100000000";
  await opened.change(`CREATE TABLE kept AS SELECT * FROM webhooks; UPDATE webhooks SET ${set}`);
  expect(await findings()).toEqual(['webhook_status', 'webhook_status']);
  await opened.change('DELETE FROM webhooks; INSERT INTO webhooks SELECT * FROM kept; DROP TABLE kept');
});

it('finds a payment that was deleted with everything that was its own and the tail of the journal', async () => {
  const { id } = world.payments.releasedAfterCancel;
  const tables = ['journal', 'deposits', 'releases', 'webhooks', 'receipts', 'events', 'unnumbered_events'];
  const keep = (name: string) => `CREATE TABLE kept_${name} AS SELECT * FROM ${name};`;
  const remove = (name: string) => `DELETE FROM ${name} WHERE payment_id = '${id}';`;
  await opened.change(
    `BEGIN; ${[...tables, 'payments'].map(keep).join('')} ${opened.unguardBook} PRAGMA foreign_keys = OFF;
     ${tables.map(remove).join('')} DELETE FROM payments WHERE id = '${id}'; COMMIT`,
  );
  expect(await findings()).toContain('payment_missing');
  const restore = (name: string) => `DELETE FROM ${name}; INSERT INTO ${name} SELECT * FROM kept_${name};`;
  await opened.change(`PRAGMA foreign_keys = OFF; ${[...tables, 'payments'].map(restore).join('')}`);
  expect(await findings()).toEqual([]);
});

it.each(ofJournal)(
  'finds a changed column of the last entry, also where its hash follows: %s = %s',
  async (column, value) => {
    const entry = (await readJournal(store)).at(-1);
    if (entry === undefined) throw new Error('the journal is empty');
    expect(
      await findingsAfter(journalTable, 'number', String(entry.number), `${column} = '${value}'`),
    ).not.toEqual([]);
    if (column === 'hash' || column === 'previous_hash') return;
    const field = column.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    const forged = { ...entry, [field]: field === 'units' ? BigInt(value) : value };
    await opened.change(`UPDATE journal SET hash = '${hashOfEntry(forged)}' WHERE number = ${entry.number}`);
    expect(
      await findingsAfter(journalTable, 'number', String(entry.number), `${column} = '${value}'`),
    ).not.toEqual([]);
    await opened.change(`UPDATE journal SET hash = '${entry.hash}' WHERE number = ${entry.number}`);
  },
);
