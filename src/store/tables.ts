import type { Account, ApiKey } from '../accounts/account.ts';
import type { AccountRecord, OneTimeLink } from '../accounts/account-store.ts';
import type { AuditEntry } from '../accounts/audit-entry.ts';
import type { Membership, Passkey, User } from '../accounts/person.ts';
import type { DashboardSession } from '../accounts/session-lifetimes.ts';
import type { ReceiptStatus } from '../mail/mail.ts';
import type { HourlyRate } from '../payment/base-currency.ts';
import type { Deposit, Payment, PaymentId, Release } from '../payment/payment.ts';
import type { NumberedEvent } from '../payment/payment-events.ts';
import type { CountedChange, PaidCount } from '../payment/payment-statistics.ts';
import type { IdempotencyRecord } from '../payment/payment-store.ts';
import type { ProviderSession } from '../payment/provider-session.ts';
import type { ProviderSettings } from '../providers/provider.ts';
import type { JournalEntry } from '../settlement/journal.ts';
import type {
  BlockReference,
  RelayAttempt,
  RelayBatch,
  SettlementRecord,
} from '../settlement/settlement-store.ts';
import type { Webhook, WebhookResult } from '../webhooks/send-webhook.ts';
import type { Table } from './columns.ts';
import { tablesIn } from './scripts.ts';

// All persistent tables of the core, except short-lived tables of one engine (leases, release claims, rate windows) and
// the sums of dust, which are derived.

const described: Table[] = [];
const table = tablesIn(described);

/** All tables of the core, each after the tables that it references. */
export const coreTables: readonly Table[] = described;

export const accountTable = table<Account>('accounts', ['id'])(
  {
    text: [
      'id',
      'name',
      'email',
      'wallet',
      'logoHash',
      'brandColor',
      'termsUrl',
      'supportUrl',
      'returnUrl',
      'failureUrl',
      'timeZone',
      'defaultCallbackUrl',
      'baseCurrency',
      'pinnedProvider',
    ],
    integer: [
      'feeBasisPoints',
      'createdAtMs',
      'emailRetentionDays',
      'toleranceBasisPoints',
      'maxProviderFeeBasisPoints',
    ],
    texts: ['features', 'providers', 'excludedProviders', 'returnHosts', 'webhookSecrets'],
    flag: ['suspended', 'isWalletLocked', 'receivesAlerts', 'toleratesMissingCent'],
  },
  { renamed: { isWalletLocked: 'wallet_locked' } },
);

/** Table of logos. Images are stored as base64, so that a move can copy them as text. */
export const logoTable = table<{ accountId: string; hash: string; image: string }>('shop_logos', [
  'account_id',
])({ text: ['accountId', 'hash', 'image'] });

export const keyTable = table<ApiKey>('api_keys', ['id'])({
  text: ['id', 'accountId', 'name', 'hash', 'lastCharacters', 'callbackHost'],
  texts: ['scopes'],
  integer: ['createdAtMs', 'revokedAtMs', 'lastUsedAtMs'],
});

export const userTable = table<User>('users', ['id'])({
  text: ['id', 'email', 'passwordHash', 'totpSecret'],
  integer: ['totpStep', 'createdAtMs'],
  bit: ['isOperator'],
});

export const passkeyTable = table<Passkey>('passkeys', ['id'])({
  text: ['id', 'userId', 'name', 'publicKey', 'transports'],
  integer: ['counter', 'createdAtMs', 'lastUsedAtMs'],
  bit: ['isPasswordless'],
});

table<{ userId: string; hash: string }>('recovery_codes', ['user_id', 'hash'])({
  text: ['userId', 'hash'],
});

export const membershipTable = table<Membership>('memberships', ['account_id', 'user_id'])({
  text: ['accountId', 'userId', 'role'],
  integer: ['createdAtMs'],
});

export const dashboardSessionTable = table<DashboardSession>('dashboard_sessions', ['id'])(
  {
    text: ['id', 'tokenHash', 'userId', 'accountId', 'area', 'stage', 'address', 'userAgent'],
    integer: ['createdAtMs', 'lastSeenAtMs', 'expiresAtMs'],
  },
  { others: { challenge: 'text' } },
);

export const linkTable = table<OneTimeLink>('one_time_links', ['id'])({
  text: ['id', 'tokenHash', 'kind', 'email', 'userId', 'accountId', 'role'],
  integer: ['createdAtMs', 'expiresAtMs'],
});

export const auditTable = table<AuditEntry>('audit_entries', ['account_id', 'position'])({
  text: ['accountId', 'actor', 'userId', 'action', 'target', 'address'],
  integer: ['position', 'atMs'],
});

export const paymentTable = table<Payment>('payments', ['id'])({
  text: [
    'id',
    'accountId',
    'currency',
    'provider',
    'callbackUrl',
    'email',
    'orderLine',
    'origin',
    'reference',
    'tokenFingerprint',
    'factory',
    'payoutAddress',
    'feeWallet',
    'note',
    'status',
    'forwardStatus',
    'txidIn',
    'txidOut',
    'releaseRefusalReason',
    'cancelReason',
    'amountMismatch',
  ],
  integer: [
    'createdAtMs',
    'amountCents',
    'originalAmountCents',
    'customerFeeCents',
    'feeBasisPoints',
    'chainId',
    'toleranceBasisPoints',
    'maxProviderFeeBasisPoints',
    'paidAtMs',
    'releaseDueAtMs',
    'releaseRefusals',
    'noOpBatches',
    'relayBatchId',
    'deadlineMs',
  ],
  json: ['metadata', 'orderDetails'],
  flag: ['passFeeToCustomer', 'releaseRequested'],
  address: ['depositAddress'],
  units: ['usdUnits', 'paidThresholdUnits'],
  amount: ['receivedUnits', 'forwardedUnits'],
});

// Orders records by age, so that SQLite, which stores rows in key order, finds the oldest quickly.
table<IdempotencyRecord & { paymentId: string }>('idempotency_records', [
  'created_at_ms',
  'account_id',
  'key',
])({ text: ['accountId', 'key', 'fingerprint', 'paymentId'], integer: ['createdAtMs'] });

export const providerSessionTable = table<ProviderSession>('provider_sessions', ['id'])({
  text: [
    'id',
    'paymentId',
    'provider',
    'redirectUrl',
    'providerReference',
    'progress',
    'language',
    'customerIpHash',
    'customerCountry',
  ],
  integer: ['chargedCents', 'createdAtMs', 'expiresAtMs', 'progressAtMs', 'approvedAtMs'],
  amount: ['receivedUnits', 'quotedUnits'],
  flag: ['hasEmail'],
});

export const checkpointTable = table<BlockReference>('checkpoints', ['number'])({
  integer: ['number', 'timestampMs'],
  text: ['hash'],
});

const chainFields = { text: ['transactionHash'], integer: ['logIndex', 'blockNumber'] } as const;
const depositFields = { ...chainFields, amount: ['units'] } as const;
const releaseFields = { ...chainFields, amount: ['toMerchantUnits', 'feeUnits'] } as const;
const ofPayment = { others: { payment_id: 'text' } } as const;
const rowKey = ['transaction_hash', 'log_index'];

export const depositTable = table<Deposit>('deposits', rowKey)(depositFields, ofPayment);

export const releaseTable = table<Release>('releases', rowKey)(releaseFields, ofPayment);

/** Sums of final dust for payments with many rows. A move omits these tables, which are derived from other rows. */
export const depositSumTable = tablesIn([])<Deposit>('deposit_sums', ['payment_id'])(
  depositFields,
  ofPayment,
);

export const releaseSumTable = tablesIn([])<Release>('release_sums', ['payment_id'])(
  releaseFields,
  ofPayment,
);

export const journalTable = table<JournalEntry>('journal', ['number'])({
  integer: ['number', 'recordedAtMs', 'logIndex', 'blockNumber'],
  text: ['previousHash', 'hash', 'kind', 'paymentId', 'token', 'transactionHash'],
  amount: ['units'],
});

table<{ name: string; paymentId: string }>('watermarks', ['name'])({
  text: ['name', 'paymentId'],
});

export const relayBatchTable = table<Omit<RelayBatch, 'paymentIds' | 'attempts'>>('relay_batches', ['id'])(
  { integer: ['id', 'nonce', 'createdAtMs'], text: ['relayer', 'kind', 'rescueToken'], amount: ['gasLimit'] },
  { others: { outcome: 'text', closed_at_ms: 'integer' }, numberedBy: 'id' },
);

export const relayBatchPaymentTable = table<{ batchId: number; position: number; paymentId: string }>(
  'relay_batch_payments',
  ['batch_id', 'position'],
)({ integer: ['batchId', 'position'], text: ['paymentId'] });

export const relayAttemptTable = table<RelayAttempt>('relay_attempts', ['batch_id', 'position'])(
  {
    text: ['hash', 'rawTransaction'],
    amount: ['maxFeePerGas', 'maxPriorityFeePerGas'],
    integer: ['signedAtMs'],
  },
  { others: { batch_id: 'integer', position: 'integer' } },
);

/** Webhook without its payment's fields. The fields of the result are null until the webhook is sent. */
export type StoredWebhook = Omit<Webhook, 'url' | 'tokenFingerprint' | 'sealedSecrets' | 'result'> & {
  readonly [Field in keyof Omit<WebhookResult, 'outcome'>]: WebhookResult[Field] | null;
};

export const webhookTable = table<StoredWebhook>('webhooks', ['id'])({
  text: [
    'id',
    'accountId',
    'paymentId',
    'host',
    'event',
    'status',
    'reason',
    'responseExcerpt',
    'body',
    'signature',
  ],
  json: ['fields'],
  integer: ['createdAtMs', 'claimedAtMs', 'httpStatus', 'finishedAtMs'],
  real: ['durationMs'],
});

export const accountRecordTable = table<AccountRecord>('account_records', ['account_id', 'kind', 'name'])({
  text: ['accountId', 'kind', 'name'],
  texts: ['texts'],
  integer: ['atMs'],
});

table<{ accountId: string; paymentId: string }>('email_watermarks', ['account_id'])({
  text: ['accountId', 'paymentId'],
});

export const receiptTable = table<{
  paymentId: PaymentId;
  status: ReceiptStatus;
  email: string | null;
  language: string | null;
  createdAtMs: number;
  claimedAtMs: number | null;
  finishedAtMs: number | null;
}>('receipts', ['payment_id'])({
  text: ['paymentId', 'status', 'email', 'language'],
  integer: ['createdAtMs', 'claimedAtMs', 'finishedAtMs'],
});

export const stateChangeTable = table<{ paymentId: PaymentId; atMs: number; state: string }>(
  'state_changes',
  ['payment_id', 'at_ms', 'state'],
)({ text: ['paymentId', 'state'], integer: ['atMs'] });

interface PaymentOfAccount {
  readonly accountId: string;
  readonly paymentId: PaymentId;
}

export const unindexedTable = table<PaymentOfAccount>('unindexed_payments', ['account_id', 'payment_id'])({
  text: ['accountId', 'paymentId'],
});

const termKey = ['account_id', 'term', 'payment_id'];
export const termTable = table<PaymentOfAccount & { term: number }>(
  'payment_terms',
  termKey,
)({
  text: ['accountId', 'paymentId'],
  integer: ['term'],
});

export const slotSums = ['created', 'converted', 'paid', 'paidCents', 'receivedUnits', 'feeUnits'] as const;

/** Changes that are not yet included in `payment_buckets` and `paid_days`. */
export const changeTable = table<CountedChange>('uncounted_changes', ['row'])(
  { text: ['accountId', 'currency', 'provider'], integer: ['startMs', 'settleClass', ...slotSums] },
  { others: { row: 'integer' }, numberedBy: 'row' },
);

const bucketKey = ['account_id', 'start_ms', 'currency'];
table<Omit<CountedChange, 'provider' | 'settleClass'>>(
  'payment_buckets',
  bucketKey,
)({
  text: ['accountId', 'currency'],
  integer: ['startMs', ...slotSums],
});

const dayKey = ['account_id', 'day_ms', 'provider', 'settle_class'];
table<PaidCount & { accountId: string; dayMs: number }>(
  'paid_days',
  dayKey,
)({
  text: ['accountId', 'provider'],
  integer: ['dayMs', 'settleClass', 'paid'],
});

type StoredEvent = PaymentOfAccount & NumberedEvent;

/** Column name of `subjectId`, from the first feature with events. */
const renamed = { subjectId: 'refund_id' };

/** Events without a number, in order of insertion. A task numbers them shortly after. */
export const unnumberedEventTable = table<Omit<StoredEvent, 'number'> & { row: number }>(
  'unnumbered_events',
  ['row'],
)(
  { text: ['accountId', 'paymentId', 'type', 'subjectId'], integer: ['row', 'atMs'] },
  { numberedBy: 'row', renamed },
);

export const eventTable = table<StoredEvent>('events', ['account_id', 'number'])(
  { text: ['accountId', 'type', 'paymentId', 'subjectId'], integer: ['number', 'atMs'] },
  { renamed },
);

table<{ accountId: string; newest: number; deletedThrough: number }>('event_numbers', ['account_id'])({
  text: ['accountId'],
  integer: ['newest', 'deletedThrough'],
});

export const providerSettingsTable = table<ProviderSettings & { provider: string }>('provider_settings', [
  'provider',
])({ text: ['provider'], flag: ['active', 'pinned'], integer: ['minimumUsdCents'] });

export const hourlyRateTable = table<HourlyRate>('hourly_rates', ['currency', 'hour_ms'])({
  text: ['currency'],
  integer: ['hourMs'],
  amount: ['usdRate'],
});

export const settlementTable = table<SettlementRecord>('settlements', ['chain_id', 'factory', 'fee_wallet'])({
  integer: ['chainId', 'lastStartedAtMs'],
  text: ['token', 'factory', 'implementation', 'factoryCodeHash', 'feeWallet'],
});
