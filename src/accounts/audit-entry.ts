export const auditActions = {
  'session.opened': 'signed in',
  'sign_in.failed': 'failed to sign in',
  'password.failed': 'gave a wrong password',
  'second_factor.failed': 'gave a wrong second factor',
  'session.came_over': 'switched from another account',
  'session.ended': 'ended a session',
  'password.set': 'set a new password',
  'second_factor.added': 'enabled the second factor of',
  'second_factor.removed': 'disabled the second factor of',
  'second_factor.codes_renewed': 'created new recovery codes for',
  'passkey.added': 'added the passkey',
  'passkey.removed': 'removed the passkey',
  'password.link_created': 'created a password link for',
  'operator.granted': 'granted operator access to',
  'operator.revoked': 'revoked operator access of',
  'member.added': 'added the member',
  'member.changed': 'changed the role of',
  'member.removed': 'removed the member',
  'invitation.created': 'invited',
  'invitation.withdrawn': 'withdrew the invitation of',
  'invitation.accepted': 'accepted an invitation',
  'account.created': 'created the account',
  'account.changed': 'changed the account:',
  'account.viewed': 'viewed the account as an operator',
  'provider.changed': 'changed the provider',
  'payment.released': 'released a payment',
  'payment.rebuilt': 'rebuilt and released a lost payment',
  'payment.rescued': 'rescued a token of a payment',
  'settings.changed': 'changed the settings',
  'wallet.changed': 'set the payout wallet to',
  'key.created': 'created the API key',
  'key.revoked': 'revoked the API key',
  'webhook_secret.created': 'created a signing secret of webhooks',
  'webhook_secret.removed': 'removed a signing secret of webhooks',
  'shop.approved': 'approved the connection of the shop',
  'shop.connected': 'connected a shop with the API key',
  'shop.refused': 'was named in a refused connection of the shop',
  'payment.noted': 'changed the note of a payment',
  'payment.settlement_noted': 'noted how a payment was settled',
  'alert.dismissed': 'dismissed an alert',
  'payment.email_erased': 'erased the customer’s email address of a payment',
  'customer.exported': 'downloaded what is kept of a customer in',
  'customer.erased': 'erased a customer’s email address from',
  'account.emails_erased': 'erased customers’ email addresses of payments older than',
  'payment.canceled': 'canceled a payment',
  'payment.accepted': 'accepted a partial payment as paid',
  'refund.opened': 'opened the refund',
  'refund.confirmed': 'confirmed the address of the refund',
  'refund.submitted': 'submitted a transaction for the refund',
  'refund.canceled': 'canceled the refund',
  'payments.exported': 'downloaded payments as CSV',
  'link.created': 'created a payment link',
  'notification.added': 'added the notification channel',
  'notification.removed': 'removed the notification channel',
  'page.created': 'created the payment page',
  'page.changed': 'changed the payment page',
  'page.paused': 'paused the payment page',
  'page.resumed': 'resumed the payment page',
} as const;
export type AuditAction = keyof typeof auditActions;

/** Audited action in an account, or on the whole service (`SERVICE_LOG`). */
export interface AuditEntry {
  readonly accountId: string;
  /** Sequential number within the account, starting at 1. The store assigns it. */
  readonly position: number;
  readonly atMs: number;
  /** User's email address at the time of the action, or `operator` for the command line. */
  readonly actor: string;
  readonly userId: string | null;
  readonly action: AuditAction;
  /** Text that identifies the object of the action: a name, an email address or an id. */
  readonly target: string | null;
  /** IPv4 address or IPv6 /64 network of the request; null for the command line. */
  readonly address: string | null;
}

export type NewAuditEntry = Omit<AuditEntry, 'position'>;

/** Account id of entries about the whole service. */
export const SERVICE_LOG = 'service';

/** Maximum entries of each action per account, so that frequent actions do not evict others. */
export const MAXIMUM_ENTRIES_OF_ACTION = 5_000;

/** Frequent actions. Repeats by the same actor within `MERGE_MS` are counted in a single entry. */
export const mergedActions: ReadonlySet<AuditAction> = new Set([
  'payments.exported',
  'session.came_over',
  'account.viewed',
  'sign_in.failed',
  'password.failed',
  'second_factor.failed',
]);

export const MERGE_MS = 3_600_000;

export function countRepeat(target: string | null): string {
  return `${Number(/^\d+(?= times)/.exec(target ?? '1 times')?.[0] ?? 1) + 1} times within an hour`;
}
