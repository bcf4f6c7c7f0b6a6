import type { Account, ApiKey } from '../accounts/account.ts';
import { maskApiKey } from '../accounts/api-key.ts';
import { formatCents, formatUnits } from '../payment/money.ts';
import type { ChainPosition, Payment } from '../payment/payment.ts';
import type { PaymentView } from '../payment/payment-store.ts';
import { customerFacts, type ProviderId, providerCatalog } from '../payment/provider-catalog.ts';
import type { ProviderDescription } from '../providers/provider.ts';
import {
  describeOffByDefault,
  onlyCurrencyOf,
  readMinimumUsdCents,
  stateOfProvider,
} from '../providers/provider-availability.ts';
import { type ProvenPurchase, proofOf } from '../providers/provider-evidence.ts';
import { LATE_SCAN_MS } from '../settlement/chain/chain.ts';
import type { Webhook } from '../webhooks/send-webhook.ts';
import type { OperatorDirectory } from './operations-context.ts';
import type { VerifyReport } from './verify/verify-payments.ts';

export function presentAccount(account: Account) {
  return {
    account_id: account.id,
    name: account.name,
    email: account.email,
    fee_percent: account.feeBasisPoints / 100,
    wallet: account.wallet,
    features: account.features,
    providers: account.providers ?? 'all',
    suspended: account.suspended,
    wallet_locked: account.isWalletLocked,
    tolerance_percent: percentOf(account.toleranceBasisPoints),
    max_provider_fee_percent: percentOf(account.maxProviderFeeBasisPoints),
    direct_cent_tolerance: account.toleratesMissingCent,
    trouble_mails: account.receivesAlerts,
    email_retention_days: account.emailRetentionDays,
    brand_color: account.brandColor,
    terms_link: account.termsUrl,
    support_link: account.supportUrl,
    return_link: account.returnUrl,
    return_hosts: account.returnHosts,
    failure_link: account.failureUrl,
    logo: account.logoHash,
    time_zone: account.timeZone,
    base_currency: account.baseCurrency,
    default_callback: account.defaultCallbackUrl,
    pinned_provider: account.pinnedProvider,
    excluded_providers: account.excludedProviders,
    created_at: new Date(account.createdAtMs).toISOString(),
  };
}

export function timeOf(atMs: number | null | undefined): string | null {
  return atMs === null || atMs === undefined ? null : new Date(atMs).toISOString();
}

/** Converts basis points to a percentage; null if the account uses the operator's setting. */
function percentOf(basisPoints: number | null): number | null {
  return basisPoints === null ? null : basisPoints / 100;
}

export function presentKey(key: ApiKey) {
  return {
    key_id: key.id,
    account_id: key.accountId,
    name: key.name,
    key: maskApiKey(key.lastCharacters),
    scopes: key.scopes.join(' '),
    created_at: new Date(key.createdAtMs).toISOString(),
    last_used_at: timeOf(key.lastUsedAtMs),
    revoked_at: timeOf(key.revokedAtMs),
  };
}

/**
 * Presents a provider. Without a running server, `configured` and `evidence` are null, because only a server has
 * credentials and hosts. `active` is then null, too, unless the operator switched the provider off.
 */
export async function presentProvider(
  { adapters, settings, evidence, isOffByDefault = false }: OperatorDirectory,
  { unverified }: ProviderDescription,
  id: ProviderId,
) {
  const stored = await settings.readProviderSettings(id);
  const adapter = adapters?.get(id);
  // Health as observed by this process; undefined without a running server.
  const health = adapter?.health?.();
  const state = adapters === null ? null : stateOfProvider({ adapters, isOffByDefault }, id, stored);
  return {
    provider: id,
    name: providerCatalog[id].name,
    active: state === null && stored.active !== false ? null : state === 'offered',
    switch: stored.active === null ? 'default' : stored.active ? 'on' : 'off',
    pinned: stored.pinned === true,
    configured: adapters?.has(id) ?? null,
    minimum_usd: formatCents(await readMinimumUsdCents({ settings }, id)),
    only_currency: onlyCurrencyOf(adapters, id),
    means: customerFacts[id].means,
    blocked_because: adapter?.blockedBecause ?? (state === 'off' ? describeOffByDefault([id]) : null),
    evidence:
      adapters === null ? null : proofOf((await evidence?.readEvidence(id)) ?? null, adapter?.endpoint).text,
    unverified,
    resting: health?.isCircuitOpen ?? null,
    failures_in_a_row: health?.failuresInARow ?? null,
    last_answer_at: timeOf(health?.lastAnswerAtMs),
    last_failure_at: timeOf(health?.lastFailureAtMs),
    last_failure: health?.lastFailure ?? null,
  };
}

export function presentPayment(payment: Payment) {
  return {
    payment_id: payment.id,
    account_id: payment.accountId,
    status: payment.status,
    forward_status: payment.forwardStatus,
    amount: formatCents(payment.amountCents),
    currency: payment.currency,
    provider: payment.provider,
    enough: formatUnits(payment.paidThresholdUnits),
    value_coin: formatUnits(payment.receivedUnits),
    forwarded_amount: formatUnits(payment.forwardedUnits),
    deposit_address: payment.depositAddress,
    payout_address: payment.payoutAddress,
    factory: payment.factory,
    fee_wallet: payment.feeWallet,
    fee_percent: payment.feeBasisPoints / 100,
    txid_in: payment.txidIn,
    txid_out: payment.txidOut,
    cancel_reason: payment.cancelReason,
    release_refusal: payment.releaseRefusalReason,
    created_at: new Date(payment.createdAtMs).toISOString(),
    paid_at: timeOf(payment.paidAtMs),
  };
}

export function presentPaymentInFull(view: PaymentView, webhooks: readonly Webhook[]) {
  return {
    ...presentPayment(view.payment),
    deposits: view.observations.deposits.map(({ units, ...position }) => ({
      ...placeOf(position),
      amount: formatUnits(units),
    })),
    releases: view.observations.releases.map(({ toMerchantUnits, feeUnits, ...position }) => ({
      ...placeOf(position),
      to_merchant: formatUnits(toMerchantUnits),
      fee: formatUnits(feeUnits),
    })),
    final_block: view.observations.finalBlock,
    sessions: view.sessions.map((session) => ({
      provider: session.provider,
      reference: session.providerReference,
      charged_amount: formatCents(session.chargedCents),
      quoted_amount: session.quotedUnits === null ? null : formatUnits(session.quotedUnits),
      progress: session.progress,
      created_at: timeOf(session.createdAtMs),
      expires_at: timeOf(session.expiresAtMs),
    })),
    webhooks: webhooks.map(presentWebhook),
  };
}

const placeOf = ({ transactionHash, blockNumber, logIndex }: ChainPosition) => ({
  transaction: transactionHash,
  block_number: blockNumber,
  log_index: logIndex,
});

/** Presents a webhook with its request and response, which are null until the delivery has ended. */
const presentWebhook = ({ event, url, status, result }: Webhook) => ({
  event,
  url,
  status,
  http_status: result?.httpStatus ?? null,
  reason: result?.reason ?? null,
  duration_ms: result?.durationMs ?? null,
  finished_at: timeOf(result?.finishedAtMs),
  body: result?.body ?? null,
  signature: result?.signature ?? null,
  response_excerpt: result?.responseExcerpt ?? null,
});

export function presentPurchase({ paidAtMs, isNativeUsdc, ...purchase }: ProvenPurchase) {
  return { paid_at: timeOf(paidAtMs), ...purchase, native_usdc: isNativeUsdc };
}

export function describeScan(ageMs: number | null): string {
  if (ageMs === null) return 'no block has been scanned yet';
  const found = `the newest scanned block is ${Math.round(ageMs / 1000)} s old`;
  return ageMs <= LATE_SCAN_MS
    ? found
    : `${found}, and nothing becomes paid until blocks are scanned again: a process with the role all or worker must run, and its RPC endpoints must answer`;
}

export function presentVerification(report: VerifyReport) {
  const { totals, journal, finalBlockAgeMs } = report;
  return {
    payments: report.payments,
    deposited: formatUnits(totals.depositedUnits),
    forwarded: formatUnits(totals.forwardedUnits),
    fees: formatUnits(totals.feeUnits),
    held: formatUnits(totals.heldUnits),
    final_block: report.finalBlock,
    final_block_age_seconds: finalBlockAgeMs === null ? null : Math.round(finalBlockAgeMs / 1000),
    ...(finalBlockAgeMs === null || finalBlockAgeMs > LATE_SCAN_MS
      ? { warning: describeScan(finalBlockAgeMs) }
      : {}),
    chain: report.isChainChecked ? 'checked' : 'not checked',
    book_entries: journal.number,
    book_hash: journal.hash,
    discrepancy_count: report.discrepancyCount,
    discrepancies: report.discrepancies.map(({ paymentId, kind, expected, found }) => ({
      payment_id: paymentId,
      what: kind,
      expected,
      found,
    })),
  };
}

/** Columns of lists that are printed as a table; `--json` prints all fields. */
export const listColumns: Readonly<Record<string, readonly string[] | undefined>> = {
  'provider list': ['provider', 'active', 'configured', 'minimum_usd', 'evidence', 'last_failure'],
  'move-store': ['table', 'source_rows', 'target_rows', 'equal'],
};

/** Prints a result as unchanged JSON or as readable lines. `columns` selects the columns of a table. */
export function printResult(
  result: unknown,
  { json, columns }: { readonly json?: boolean; readonly columns?: readonly string[] | undefined },
): void {
  const isTable = columns !== undefined && Array.isArray(result);
  const text =
    json === true
      ? JSON.stringify(result)
      : (isTable ? tableLines(columns, result) : linesOf(result)).join('\n');
  process.stdout.write(`${text}\n`);
}

function tableLines(columns: readonly string[], records: readonly Readonly<Record<string, unknown>>[]) {
  const rows = [columns, ...records.map((record) => columns.map((name) => shown(record[name])))];
  const widths = columns.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

function linesOf(result: unknown): string[] {
  if (Array.isArray(result)) return result.length === 0 ? ['(none)'] : result.flatMap(entryLines);
  if (isRecord(result)) return fieldLines(result, '');
  return [visible(String(result))];
}

/** Returns the lines of a list's entry. An empty line separates entries, unless they are single lines. */
function entryLines(entry: unknown, index: number): string[] {
  if (!isRecord(entry)) return [visible(String(entry))];
  return index === 0 ? fieldLines(entry, '') : ['', ...fieldLines(entry, '')];
}

function fieldLines(record: Readonly<Record<string, unknown>>, indent: string): string[] {
  const width = Math.max(...Object.keys(record).map((name) => name.length));
  return Object.entries(record).flatMap(([name, value]) => {
    if (Array.isArray(value) && value.some(isRecord)) {
      return [
        `${indent}${name}`,
        ...value.flatMap((item) => fieldLines(item as Record<string, unknown>, `${indent}  `)),
      ];
    }
    if (isRecord(value)) return [`${indent}${name}`, ...fieldLines(value, `${indent}  `)];
    return [`${indent}${name.padEnd(width)}  ${shown(value)}`];
  });
}

function shown(value: unknown): string {
  if (value === null || value === undefined) return '–';
  return visible(Array.isArray(value) ? value.join(', ').replaceAll('., ', '. ') || '–' : String(value));
}

/** Escapes control characters, because texts such as a webhook receiver's answer must not control the terminal. */
export function visible(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
