import type { Account, ApiKey } from '../domain/account.ts';
import type { AuditEntry } from '../domain/audit-entry.ts';
import type { HourlyRate } from '../domain/base-currency.ts';
import type { DashboardSession, OneTimeLink } from '../domain/dashboard-session.ts';
import type { JournalEntry } from '../domain/journal.ts';
import type { NotificationChannel } from '../domain/notification.ts';
import type { Deposit, Payment, Release } from '../domain/payment.ts';
import type { Membership, Passkey, User } from '../domain/person.ts';
import type { Alert } from '../domain/ports/mail.ts';
import type { IdempotencyRecord } from '../domain/ports/payment-store.ts';
import type { ProviderSettings } from '../domain/ports/provider.ts';
import type { AccountRecord } from '../domain/ports/record-store.ts';
import type {
  BlockReference,
  RelayAttempt,
  RelayBatch,
  RowOwner,
  SettlementRecord,
} from '../domain/ports/settlement-store.ts';
import type { ProviderSession } from '../domain/provider-session.ts';
import type { Refund } from '../domain/refund.ts';
import type { PagePayment, ReusablePage } from '../domain/reusable-page.ts';
import type { Webhook, WebhookResult } from '../domain/webhook.ts';
import { type Fields, type Table, table } from './columns.ts';

/**
 * All that is stored, but for what lives for seconds only and for one engine (leases, claims of releases, rate windows),
 * and what is made anew from the payments (pages of the address book; what lists, searches and statistics rest on).
 */

export const accountTable = table<Account>('accounts', ['id'], {
  id: 'text',
  name: 'text',
  email: 'text',
  feeBasisPoints: 'integer',
  wallet: 'text',
  features: 'texts',
  providers: 'texts',
  suspended: 'flag',
  createdAtMs: 'integer',
  logoHash: 'text',
  brandColor: 'text',
  termsUrl: 'text',
  supportUrl: 'text',
  returnUrl: 'text',
  failureUrl: 'text',
  timeZone: 'text',
  defaultCallbackUrl: 'text',
  emailRetentionDays: 'integer',
  isWalletLocked: ['flag', 'wallet_locked'],
  receivesAlerts: 'flag',
  toleranceBasisPoints: 'integer',
  maxProviderFeeBasisPoints: 'integer',
  toleratesMissingCent: 'flag',
  baseCurrency: 'text',
  pinnedProvider: 'text',
  excludedProviders: 'texts',
});

/** The picture as base64, so that it can be carried from one engine to the other as text. */
export const logoTable = table<{ accountId: string; hash: string; type: string; image: string }>(
  'shop_logos',
  ['account_id'],
  { accountId: 'text', hash: 'text', type: 'text', image: 'text' },
);

export const keyTable = table<ApiKey>('api_keys', ['id'], {
  id: 'text',
  accountId: 'text',
  name: 'text',
  hash: 'text',
  lastCharacters: 'text',
  scopes: 'texts',
  callbackHost: 'text',
  createdAtMs: 'integer',
  revokedAtMs: 'integer',
  lastUsedAtMs: 'integer',
});

export const userTable = table<User>('users', ['id'], {
  id: 'text',
  email: 'text',
  passwordHash: 'text',
  totpSecret: 'text',
  totpStep: 'integer',
  isOperator: 'bit',
  createdAtMs: 'integer',
});

export const passkeyTable = table<Passkey>('passkeys', ['id'], {
  id: 'text',
  userId: 'text',
  name: 'text',
  publicKey: 'text',
  counter: 'integer',
  transports: 'text',
  createdAtMs: 'integer',
  lastUsedAtMs: 'integer',
});

const recoveryCodeTable = table<{ userId: string; hash: string }>('recovery_codes', ['user_id', 'hash'], {
  userId: 'text',
  hash: 'text',
});

export const membershipTable = table<Membership>('memberships', ['account_id', 'user_id'], {
  accountId: 'text',
  userId: 'text',
  role: 'text',
  createdAtMs: 'integer',
});

export const dashboardSessionTable = table<DashboardSession>(
  'dashboard_sessions',
  ['id'],
  {
    id: 'text',
    tokenHash: 'text',
    userId: 'text',
    accountId: 'text',
    area: 'text',
    stage: 'text',
    createdAtMs: 'integer',
    lastSeenAtMs: 'integer',
    expiresAtMs: 'integer',
    address: 'text',
    userAgent: 'text',
  },
  { others: { challenge: 'text' } },
);

export const linkTable = table<OneTimeLink>('one_time_links', ['id'], {
  id: 'text',
  tokenHash: 'text',
  kind: 'text',
  email: 'text',
  userId: 'text',
  accountId: 'text',
  role: 'text',
  createdAtMs: 'integer',
  expiresAtMs: 'integer',
});

export const channelTable = table<NotificationChannel>('notification_channels', ['id'], {
  id: 'text',
  accountId: 'text',
  userId: 'text',
  kind: 'text',
  sealedTarget: 'text',
  hint: 'text',
  events: 'texts',
  createdAtMs: 'integer',
  readThrough: 'integer',
  dailyDueAtMs: 'integer',
  notBeforeMs: 'integer',
  hourStartMs: 'integer',
  sentInHour: 'integer',
  failuresInARow: 'integer',
  pausedReason: 'text',
  lastSentAtMs: 'integer',
});

export const auditTable = table<AuditEntry>('audit_entries', ['account_id', 'position'], {
  accountId: 'text',
  position: 'integer',
  atMs: 'integer',
  actor: 'text',
  userId: 'text',
  action: 'text',
  target: 'text',
  address: 'text',
});

/** The fields of a payment that change. */
const changingPaymentFields = {
  note: 'text',
  paidThresholdUnits: 'units',
  status: 'text',
  forwardStatus: 'text',
  paidAtMs: 'integer',
  receivedUnits: 'amount',
  forwardedUnits: 'amount',
  txidIn: 'text',
  txidOut: 'text',
  releaseDueAtMs: 'integer',
  releaseRefusals: 'integer',
  releaseRefusalReason: 'text',
  noOpBatches: 'integer',
  relayBatchId: 'integer',
  cancelReason: 'text',
  releaseRequested: 'flag',
  amountMismatch: 'text',
} as const satisfies Partial<Fields<Payment>>;

const fixedPaymentFields = {
  id: 'text',
  accountId: 'text',
  createdAtMs: 'integer',
  amountCents: 'integer',
  currency: 'text',
  originalAmountCents: 'integer',
  customerFeeCents: 'integer',
  passFeeToCustomer: 'flag',
  feeBasisPoints: 'integer',
  provider: 'text',
  callbackUrl: 'text',
  email: 'text',
  orderLine: 'text',
  origin: 'text',
  tokenFingerprint: 'text',
  chainId: 'integer',
  factory: 'text',
  payoutAddress: 'text',
  feeWallet: 'text',
  depositAddress: 'text',
  usdUnits: 'units',
  toleranceBasisPoints: 'integer',
  maxProviderFeeBasisPoints: 'integer',
} as const satisfies Fields<Omit<Payment, keyof typeof changingPaymentFields>>;

export const paymentTable = table<Payment>(
  'payments',
  ['row'],
  { ...fixedPaymentFields, ...changingPaymentFields },
  { others: { row: 'integer' }, numberedBy: 'row' },
);

/** Number of the first columns of a payment, which never change. */
export const FIXED_PAYMENT_COLUMNS = Object.keys(fixedPaymentFields).length;

// In the order of their age, which is how the oldest are found for deletion where rows are kept in order.
const idempotencyTable = table<IdempotencyRecord & { paymentId: string }>(
  'idempotency_records',
  ['created_at_ms', 'account_id', 'key'],
  { accountId: 'text', key: 'text', fingerprint: 'text', paymentId: 'text', createdAtMs: 'integer' },
);

export const providerSessionTable = table<ProviderSession>(
  'provider_sessions',
  ['id'],
  {
    id: 'text',
    paymentId: 'text',
    provider: 'text',
    redirectUrl: 'text',
    providerReference: 'text',
    chargedCents: 'integer',
    receivedUnits: 'amount',
    quotedUnits: 'amount',
    createdAtMs: 'integer',
    expiresAtMs: 'integer',
    progress: 'text',
    progressAtMs: 'integer',
    language: 'text',
    hasEmail: 'flag',
    customerIpHash: 'text',
    customerCountry: 'text',
  },
  { others: { account_id: 'text' } },
);

export const checkpointTable = table<BlockReference>('checkpoints', ['number'], {
  number: 'integer',
  hash: 'text',
  timestampMs: 'integer',
});

export const depositTable = table<Deposit>(
  'deposits',
  ['transaction_hash', 'log_index'],
  { transactionHash: 'text', logIndex: 'integer', blockNumber: 'integer', units: 'amount' },
  { others: { payment_id: 'text', account_id: 'text' } },
);

export const releaseTable = table<Release>(
  'releases',
  ['transaction_hash', 'log_index'],
  {
    transactionHash: 'text',
    logIndex: 'integer',
    blockNumber: 'integer',
    toMerchantUnits: 'amount',
    feeUnits: 'amount',
  },
  { others: { payment_id: 'text', account_id: 'text' } },
);

export const journalTable = table<JournalEntry>('journal', ['number'], {
  number: 'integer',
  previousHash: 'text',
  hash: 'text',
  recordedAtMs: 'integer',
  kind: 'text',
  paymentId: 'text',
  units: 'amount',
  token: 'text',
  transactionHash: 'text',
  logIndex: 'integer',
  blockNumber: 'integer',
});

const watermarkTable = table<{ name: string; paymentId: string }>('watermarks', ['name'], {
  name: 'text',
  paymentId: 'text',
});

export const relayBatchTable = table<Omit<RelayBatch, 'paymentIds' | 'attempts'>>(
  'relay_batches',
  ['id'],
  {
    id: 'integer',
    relayer: 'text',
    nonce: 'integer',
    kind: 'text',
    rescueToken: 'text',
    gasLimit: 'amount',
    createdAtMs: 'integer',
  },
  { others: { outcome: 'text', closed_at_ms: 'integer' }, numberedBy: 'id' },
);

export const relayBatchPaymentTable = table<{ batchId: number; position: number; paymentId: string }>(
  'relay_batch_payments',
  ['batch_id', 'position'],
  { batchId: 'integer', position: 'integer', paymentId: 'text' },
);

export const relayAttemptTable = table<RelayAttempt>(
  'relay_attempts',
  ['batch_id', 'position'],
  {
    hash: 'text',
    rawTransaction: 'text',
    maxFeePerGas: 'amount',
    maxPriorityFeePerGas: 'amount',
    signedAtMs: 'integer',
  },
  { others: { batch_id: 'integer', position: 'integer' } },
);

type ResultFields = Omit<WebhookResult, 'outcome'>;

/** A webhook without what it takes from its payment, and with the fields of its result: null until it was sent. */
export type StoredWebhook = Omit<Webhook, 'url' | 'tokenFingerprint' | 'result'> & {
  readonly [Field in keyof ResultFields]: ResultFields[Field] | null;
};

/** The fields of a webhook that waits to be sent. */
export const unsentWebhook = {
  status: 'pending',
  claimedAtMs: null,
  httpStatus: null,
  reason: null,
  durationMs: null,
  responseExcerpt: null,
  body: null,
  signature: null,
  finishedAtMs: null,
} as const satisfies Partial<StoredWebhook>;

export const webhookTable = table<StoredWebhook>('webhooks', ['id'], {
  id: 'text',
  accountId: 'text',
  paymentId: 'text',
  host: 'text',
  event: 'text',
  fields: 'json',
  status: 'text',
  createdAtMs: 'integer',
  claimedAtMs: 'integer',
  httpStatus: 'integer',
  reason: 'text',
  durationMs: 'real',
  responseExcerpt: 'text',
  body: 'text',
  signature: 'text',
  finishedAtMs: 'integer',
});

export const alertTable = table<Alert>('alerts', ['account_id', 'kind'], {
  accountId: 'text',
  kind: 'text',
  count: 'integer',
  sinceMs: 'integer',
  notifiedAtMs: 'integer',
});

const alertCursorTable = table<{ name: string; throughMs: number }>('alert_cursors', ['name'], {
  name: 'text',
  throughMs: 'integer',
});

export const accountRecordTable = table<AccountRecord>('account_records', ['account_id', 'kind', 'name'], {
  accountId: 'text',
  kind: 'text',
  name: 'text',
  texts: 'texts',
  atMs: 'integer',
});

const emailWatermarkTable = table<{ accountId: string; paymentId: string }>(
  'email_watermarks',
  ['account_id'],
  {
    accountId: 'text',
    paymentId: 'text',
  },
);

export const receiptTable = table<
  RowOwner & { status: string; createdAtMs: number; claimedAtMs: number | null; finishedAtMs: number | null }
>('receipts', ['payment_id'], {
  accountId: 'text',
  paymentId: 'text',
  status: 'text',
  createdAtMs: 'integer',
  claimedAtMs: 'integer',
  finishedAtMs: 'integer',
});

export const stateChangeTable = table<RowOwner & { atMs: number; state: string }>(
  'state_changes',
  ['payment_id', 'at_ms', 'state'],
  { accountId: 'text', paymentId: 'text', atMs: 'integer', state: 'text' },
);

/** Payments that became paid and are not in the statistics yet. Not carried over: they are made from the payments. */
export const uncountedTable = table<RowOwner>('uncounted_payments', ['account_id', 'payment_id'], {
  accountId: 'text',
  paymentId: 'text',
});

/** Events that are numbered a moment later, in the order in which they were added. */
export const unnumberedEventTable = table<
  RowOwner & { row: number; atMs: number; type: string; refundId: string | null }
>(
  'unnumbered_events',
  ['row'],
  {
    row: 'integer',
    accountId: 'text',
    paymentId: 'text',
    atMs: 'integer',
    type: 'text',
    refundId: 'text',
  },
  { numberedBy: 'row' },
);

export const eventTable = table<
  RowOwner & { number: number; atMs: number; type: string; refundId: string | null }
>('events', ['account_id', 'number'], {
  accountId: 'text',
  number: 'integer',
  atMs: 'integer',
  type: 'text',
  paymentId: 'text',
  refundId: 'text',
});

export const refundTable = table<Refund>('refunds', ['id'], {
  id: 'text',
  accountId: 'text',
  paymentId: 'text',
  createdAtMs: 'integer',
  units: 'amount',
  reason: 'text',
  status: 'text',
  expiresAtMs: 'integer',
  idempotencyKey: 'text',
  fingerprint: 'text',
  destination: 'text',
  scannedBlock: 'integer',
  submittedHash: 'text',
  transactionProblem: 'text',
  sender: 'text',
  transactionHash: 'text',
  logIndex: 'integer',
  blockNumber: 'integer',
  paidAtMs: 'integer',
});

export const reusablePageTable = table<ReusablePage>(
  'reusable_pages',
  ['id'],
  {
    id: 'text',
    accountId: 'text',
    slug: 'text',
    title: 'text',
    orderLine: 'text',
    currency: 'text',
    amountCents: 'integer',
    minimumCents: 'integer',
    maximumCents: 'integer',
    passFeeToCustomer: 'flag',
    payoutAddress: 'text',
    callbackUrl: 'text',
    endsAtMs: 'integer',
    stock: 'integer',
    question: 'text',
    isAnswerRequired: ['flag', 'answer_required'],
    isPaused: ['flag', 'paused'],
    createdAtMs: 'integer',
  },
  { others: { paid: 'integer', received_units: 'integer' } },
);

export const pagePaymentTable = table<PagePayment>('page_payments', ['payment_id'], {
  accountId: 'text',
  paymentId: 'text',
  pageId: 'text',
  submission: 'text',
  answer: 'text',
  heldUntilMs: 'integer',
});

const eventNumberTable = table<{ accountId: string; newest: number }>('event_numbers', ['account_id'], {
  accountId: 'text',
  newest: 'integer',
});

export const providerSettingsTable = table<ProviderSettings & { provider: string }>(
  'provider_settings',
  ['provider'],
  { provider: 'text', active: 'flag', pinned: 'flag', minimumUsdCents: 'integer' },
);

/** Exchange rates of the past. */
export const hourlyRateTable = table<HourlyRate>('hourly_rates', ['currency', 'hour_ms'], {
  currency: 'text',
  hourMs: 'integer',
  usdRate: 'amount',
});

export const settlementTable = table<SettlementRecord>('settlements', ['chain_id', 'factory', 'fee_wallet'], {
  chainId: 'integer',
  token: 'text',
  factory: 'text',
  implementation: 'text',
  factoryCodeHash: 'text',
  feeWallet: 'text',
  lastStartedAtMs: 'integer',
});

/** Every table, each after those that its rows refer to. */
export const tables: readonly Table[] = [
  accountTable,
  logoTable,
  keyTable,
  userTable,
  passkeyTable,
  recoveryCodeTable,
  membershipTable,
  dashboardSessionTable,
  linkTable,
  channelTable,
  auditTable,
  paymentTable,
  idempotencyTable,
  providerSessionTable,
  checkpointTable,
  depositTable,
  releaseTable,
  journalTable,
  watermarkTable,
  relayBatchTable,
  relayBatchPaymentTable,
  relayAttemptTable,
  webhookTable,
  alertTable,
  alertCursorTable,
  accountRecordTable,
  emailWatermarkTable,
  receiptTable,
  stateChangeTable,
  unnumberedEventTable,
  eventTable,
  eventNumberTable,
  refundTable,
  reusablePageTable,
  pagePaymentTable,
  providerSettingsTable,
  hourlyRateTable,
  settlementTable,
];
