import {
  computePaidThreshold,
  directThreshold,
  feeUnits,
  thresholdAfterSessions,
} from '../../payment/fees-and-paid-threshold.ts';
import { formatSigned, formatUnits, UNITS_PER_CENT } from '../../payment/money.ts';
import { isDirect, type Payment } from '../../payment/payment.ts';
import { forwardedWebhook, type NewWebhook, paidWebhook } from '../../payment/payment-events.ts';
import { stateOf } from '../../payment/payment-states.ts';
import { ERASED } from '../../payment/redact-email.ts';
import { settle, sumObservations } from '../../payment/settle.ts';
import { hostOfCallback, type Webhook } from '../../webhooks/send-webhook.ts';
import type { Findings } from './discrepancies.ts';
import { type CheckContext, finalRowsOf, type PaymentFacts } from './verify-context.ts';
import { checkJournal } from './verify-journal.ts';

/** Checks one payment against the journal and its recorded deposits and releases. Changes only `findings`. */
export function checkPayment(facts: PaymentFacts, context: CheckContext, findings: Findings): Findings {
  const { payment } = facts.view;
  checkJournal(facts, findings);
  checkReleases(facts, findings);
  checkAmounts(facts, findings);
  checkTransactions(facts, findings);
  checkState(facts, context, findings);
  checkTerms(facts, findings);
  checkWebhooks(facts, context, findings);
  checkBatch(payment, context, findings);
  const address = context.depositAddressOf(payment);
  findings.compare('deposit_address', address ?? 'of a factory that is known', payment.depositAddress);
  return findings;
}

/** Checks each release's fee, which must follow the payment's terms or be zero if the fee wallet could not be paid. */
function checkReleases({ view }: PaymentFacts, findings: Findings): void {
  for (const { toMerchantUnits, feeUnits: fee, transactionHash } of view.observations.releases) {
    const expected = feeUnits(toMerchantUnits + fee, view.payment.feeBasisPoints);
    if (fee === expected || fee === 0n) continue;
    findings.add('fee', `${formatUnits(expected)} in ${transactionHash}`, formatUnits(fee));
  }
  const deposited = sumOf(finalRowsOf(view).deposits, ({ units }) => units);
  const released = sumOf(finalRowsOf(view).releases, (release) => release.toMerchantUnits + release.feeUnits);
  if (released > deposited) {
    findings.add('released_too_much', `at most ${formatUnits(deposited)}`, formatUnits(released));
  }
}

function sumOf<Row>(rows: readonly Row[], unitsOf: (row: Row) => bigint): bigint {
  return rows.reduce((sum, row) => sum + unitsOf(row), 0n);
}

/** Checks the amounts. After a release, they must equal the journal's running totals after one of the releases. */
function checkAmounts({ view, entries }: PaymentFacts, findings: Findings): void {
  const { payment, observations } = view;
  const { status, receivedUnits, forwardedUnits, paidThresholdUnits } = payment;
  const { seenUnits, finalSeenUnits, finalReleasedUnits } = sumObservations(observations);
  const written = amountsInWords(receivedUnits, forwardedUnits);
  const threshold = formatUnits(paidThresholdUnits);
  if (status === 'paid' && payment.forwardStatus !== 'completed') {
    // A direct payment is paid before anything is forwarded, so its received amount must have been deposited.
    const isDeposited = receivedUnits >= paidThresholdUnits && receivedUnits <= finalSeenUnits;
    const expected = `from ${threshold} to ${formatUnits(finalSeenUnits)} received, nothing forwarded`;
    const isRight = isDeposited && forwardedUnits === 0n && isDirect(payment);
    if (!isRight) findings.add('amounts', expected, written);
    return;
  }
  if (status === 'unpaid' || (status === 'canceled' && payment.txidOut === null)) {
    // Nothing counts yet. The payment shows the units seen at its deposit address.
    const isRight = receivedUnits === seenUnits && forwardedUnits === 0n;
    if (!isRight) findings.add('amounts', `${formatUnits(seenUnits)} seen, nothing forwarded`, written);
    return;
  }

  let received = 0n;
  let forwarded = 0n;
  let wasReached = false;
  for (const { kind, units } of entries) {
    if (kind !== 'forwarded' && kind !== 'fee') continue;
    received += units;
    if (kind === 'forwarded') forwarded += units;
    wasReached ||= received === receivedUnits && forwarded === forwardedUnits;
  }
  if (!wasReached) findings.add('amounts', amountsInWords(received, forwarded), written);

  if (status !== 'paid') return;
  if (receivedUnits < paidThresholdUnits) {
    findings.add('amounts', `at least ${threshold} received`, written);
  }
  if (finalReleasedUnits < receivedUnits) {
    findings.add('amounts', `${written}, and still released`, formatUnits(finalReleasedUnits));
  }
}

function amountsInWords(received: bigint, forwarded: bigint): string {
  return `${formatSigned(received)} received, ${formatSigned(forwarded)} forwarded`;
}

function checkTransactions({ view: { payment, observations } }: PaymentFacts, findings: Findings): void {
  const check = (
    hash: string | null,
    rows: readonly { readonly transactionHash: string }[],
    what: string,
    isExpected: boolean,
  ) => {
    const isKnown = rows.some(({ transactionHash }) => transactionHash === hash);
    if ((isExpected || hash !== null) && !isKnown) findings.add('transactions', what, hash ?? 'none');
  };
  check(payment.txidIn, observations.deposits, 'one of its deposits', payment.status === 'paid');
  const isReleased = payment.status === 'paid' && payment.forwardStatus === 'completed';
  check(payment.txidOut, observations.releases, 'one of its releases', isReleased);
}

/** Checks that `settle` would not change the payment now. */
function checkState({ view }: PaymentFacts, { nowMs }: CheckContext, findings: Findings): void {
  const { payment } = view;
  // Other checks cover the units and the transaction seen so far.
  const { receivedUnits, txidIn, ...change } = settle(view, { nowMs })?.change ?? {};
  const state = stateOf(payment);
  if (change.status !== undefined || change.forwardStatus !== undefined) {
    findings.add('state', stateOf({ ...payment, ...change }), state);
  } else if (Object.keys(change).length > 0) {
    const before = Object.keys(change).map((field) => [field, payment[field as keyof Payment]]);
    findings.add('release_plan', inWords(Object.entries(change)), inWords(before as [string, unknown][]));
  }
  const compare = (what: string, isExpected: boolean, value: unknown) => {
    const presence = (isThere: boolean) => `${isThere ? 'a' : 'no'} ${what}`;
    findings.compare('state', presence(isExpected), presence(value !== null));
  };
  compare('time at which it was paid', payment.status === 'paid', payment.paidAtMs);
  compare('reason why it was canceled', payment.status === 'canceled', payment.cancelReason);
}

function inWords(fields: readonly (readonly [string, unknown])[]): string {
  return fields.map(([name, value]) => `${name} ${String(value)}`).join(', ');
}

function checkBatch(payment: Payment, { openBatches }: CheckContext, findings: Findings): void {
  if (payment.relayBatchId === null) return;
  const batch = openBatches.find(({ id }) => id === payment.relayBatchId);
  if (batch?.kind === 'forward' && batch.paymentIds.includes(payment.id)) return;
  findings.add('relay_batch', 'a batch under way that carries it', `batch ${payment.relayBatchId}`);
}

/** Checks the terms. The threshold comes from the creation, one of the sessions, or an accepted sum of deposits. */
function checkTerms({ view: { payment, sessions }, entries }: PaymentFacts, findings: Findings): void {
  const { amountCents, originalAmountCents, customerFeeCents, currency, usdUnits } = payment;
  if (originalAmountCents !== null) {
    const gross = originalAmountCents + (customerFeeCents ?? 0);
    findings.compare('terms', `an amount of ${gross} cents`, `an amount of ${amountCents} cents`);
  }
  if (currency === 'USD') {
    const value = BigInt(amountCents) * UNITS_PER_CENT;
    findings.compare('terms', `a value of ${formatUnits(value)}`, `a value of ${formatUnits(usdUnits)}`);
  }
  const { paidThresholdUnits, toleranceBasisPoints } = payment;
  const atCreation = isDirect(payment)
    ? [directThreshold(usdUnits, false), directThreshold(usdUnits, true)]
    : [computePaidThreshold(usdUnits, toleranceBasisPoints)];
  const [first] = atCreation as [bigint];
  const bySessions = sessions.map((session) =>
    thresholdAfterSessions({ ...payment, paidThresholdUnits: first }, [session], toleranceBasisPoints),
  );
  const possible = new Set([...atCreation, ...bySessions, ...depositedSums(entries)]);
  if (possible.has(paidThresholdUnits)) return;
  findings.add('terms', `a threshold such as ${formatUnits(first)}`, formatUnits(paidThresholdUnits));
}

function depositedSums(entries: PaymentFacts['entries']): bigint[] {
  let sum = 0n;
  return entries.flatMap(({ kind, units }) => {
    if (kind !== 'deposited') return [];
    sum += units;
    return [sum];
  });
}

/** Age from which a pending webhook counts as skipped. Webhooks are normally sent within seconds. */
const LATEST_CLAIM_MS = 24 * 3_600_000;

/** Checks that only pending webhooks are unclaimed, so that none is sent twice, and that none stays pending. */
function checkWebhookStatus(webhook: Webhook, { scannedToMs }: CheckContext, findings: Findings): void {
  const { event, status, claimedAtMs, createdAtMs } = webhook;
  const isClaimed = claimedAtMs !== null;
  const found = `${event}, ${status}`;
  if ((status === 'pending') === isClaimed) {
    findings.add('webhook_status', isClaimed ? 'sent, or being sent' : 'pending', found);
  } else if (status === 'pending' && scannedToMs - createdAtMs > LATEST_CLAIM_MS) {
    findings.add('webhook_status', 'sent within a day of its creation', found);
  }
}

/** Requires an event for a paid payment with a callback, and a second one for a completed direct payment. */
function checkWebhooks(
  { view: { payment }, webhooks }: PaymentFacts,
  context: CheckContext,
  findings: Findings,
): void {
  const expected = expectedWebhooks(payment);
  const isOf = ({ id, accountId, paymentId, event }: Webhook, { event: expectedEvent }: NewWebhook) =>
    event === expectedEvent &&
    id === `${payment.id}:${event}` &&
    paymentId === payment.id &&
    accountId === payment.accountId;
  for (const webhook of webhooks) {
    checkWebhookStatus(webhook, context, findings);
    if (expected.some((each) => isOf(webhook, each))) continue;
    findings.add('webhook_unfounded', 'no webhook', `${webhook.event}, ${webhook.status}`);
  }
  for (const each of expected) {
    const { event, fields } = each;
    const webhook = webhooks.find((candidate) => isOf(candidate, each));
    if (webhook === undefined) {
      findings.add('webhook_missing', event, 'no webhook');
      continue;
    }
    findings.compare('webhook_contents', `for ${hostOfCallback(webhook.url)}`, `for ${webhook.host}`);
    for (const [name, value] of Object.entries(fields)) {
      // The note may be edited later, and a direct payment may release more than its event reported.
      if (name === 'note' || (name === 'receivedAmount' && isDirect(payment))) continue;
      if (name === 'email' && value === null && webhook.fields[name] === ERASED) continue;
      findings.compare('webhook_contents', `${name}: ${value}`, `${name}: ${webhook.fields[name]}`);
    }
  }
}

function expectedWebhooks(payment: Payment): readonly NewWebhook[] {
  if (payment.status !== 'paid' || payment.callbackUrl === null) return [];
  const isForwarded = isDirect(payment) && payment.forwardStatus === 'completed';
  return [paidWebhook(payment), ...(isForwarded ? [forwardedWebhook(payment)] : [])];
}
