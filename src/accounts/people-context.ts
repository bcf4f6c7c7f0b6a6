import { hash, randomBytes } from 'node:crypto';
import type { Mail, Mailer } from '../mail/mail.ts';
import { invalidField, type ServiceError } from '../payment/errors.ts';
import type { AccountStore, AuditStore, OneTimeLink, PeopleStore, SessionStore } from './account-store.ts';
import { type AuditAction, SERVICE_LOG } from './audit-entry.ts';
import type { Passwords } from './passwords.ts';
import type { User } from './person.ts';

export interface PeopleContext {
  readonly accounts: AccountStore;
  readonly people: PeopleStore;
  readonly sessions: SessionStore;
  readonly audit: AuditStore;
  readonly passwords: Passwords;
  readonly nowMs: () => number;
  /** Mailer for notifying users of changes to their credentials; null if email is not configured. */
  readonly mailer?: Mailer | null;
}

export interface Actor {
  readonly name: string;
  readonly userId: string | null;
  readonly address: string | null;
}

export const operatorActor: Actor = { name: 'operator', userId: null, address: null };

export type SessionContext = Pick<PeopleContext, 'sessions' | 'nowMs'>;

export type RecordContext = Pick<PeopleContext, 'people' | 'audit' | 'nowMs' | 'mailer'>;

const MAXIMUM_TARGET_CHARACTERS = 300;

export async function recordAction(
  { audit, nowMs }: Pick<PeopleContext, 'audit' | 'nowMs'>,
  accountId: string,
  actor: Actor,
  action: AuditAction,
  target: string | null = null,
): Promise<void> {
  const { name, userId, address } = actor;
  const shownTarget = target?.slice(0, MAXIMUM_TARGET_CHARACTERS) ?? null;
  await audit.appendEntry({
    accountId,
    atMs: nowMs(),
    actor: name,
    userId,
    action,
    target: shownTarget,
    address,
  });
}

type UserAction = Extract<
  AuditAction,
  `sign_in.${string}` | `password.${string}` | `second_factor.${string}` | `passkey.${string}`
>;

/** Records an action in all of the user's accounts and, for an operator, the service log. Emails credential changes. */
export async function recordForUser(
  context: RecordContext,
  user: Pick<User, 'id' | 'email' | 'isOperator'>,
  actor: Actor,
  action: UserAction,
  target: string | null = user.email,
): Promise<void> {
  for (const { accountId } of await context.people.listMemberships(user.id)) {
    await recordAction(context, accountId, actor, action, target);
  }
  if (user.isOperator) await recordAction(context, SERVICE_LOG, actor, action, target);
  const change = credentialChanges[action];
  // Ignores failures of the mail server, because the change has been made and recorded.
  if (change !== undefined) void context.mailer?.send(changeMail(user.email, change, actor)).catch(() => {});
}

/** Credential changes that are emailed to the user, because an intruder may have made them. */
const credentialChanges: Readonly<Partial<Record<UserAction, string>>> = {
  'password.set': 'Your password was changed',
  'second_factor.added': 'An authenticator app was added',
  'second_factor.removed': 'Your authenticator app was removed',
  'second_factor.codes_renewed': 'New recovery codes were created',
  'passkey.added': 'A passkey was added',
  'passkey.removed': 'A passkey was removed',
};

function changeMail(to: string, change: string, { name, address }: Actor): Mail {
  const by = name === to ? '' : ` by ${name === 'operator' ? 'the operator' : name}`;
  return {
    to,
    subject: change,
    text: `${change}${by}${address === null ? '' : `, from the address ${address}`}.

If this was not you, set a new password with "Forgot your password?" on the sign-in page, end your other sessions under "Security", and tell an owner of your account or the operator.
A new password makes every passkey a second factor again: remove and add yours again to sign in with it alone. Only the operator can remove second factors that are not yours.
`,
  };
}

/** Returns the error for a request during which the user's password, rights or session changed. */
export function accessChanged(): ServiceError {
  return invalidField('Your password or your permissions', 'have changed. Please sign in again.');
}

export function withExpiry(text: string, untilMs: number): string {
  return `${untilMs} ${text}`;
}

/** Returns the text that was passed to `withExpiry`; null if there is none or if it has expired. */
export function beforeExpiry(stored: string | null, nowMs: number): string | null {
  const [untilMs, text] = stored?.split(' ') ?? [];
  return text !== undefined && nowMs < Number(untilMs) ? text : null;
}

/** Stores a one-time link under the hash of its token. Returns the token, by default 256 random bits. */
export async function createLink(
  { sessions, nowMs }: SessionContext,
  link: Pick<OneTimeLink, 'kind' | 'email'> & Partial<Pick<OneTimeLink, 'userId' | 'accountId' | 'role'>>,
  lifetimeMs: number,
  token = createSecretToken(),
): Promise<string> {
  const createdAtMs = nowMs();
  await sessions.createLink({
    id: `${link.kind === 'invitation' ? 'inv' : 'lnk'}_${randomBytes(10).toString('hex')}`,
    tokenHash: hashSecretToken(token),
    userId: null,
    accountId: null,
    role: null,
    ...link,
    createdAtMs,
    expiresAtMs: createdAtMs + lifetimeMs,
  });
  return token;
}

/** Creates the secret token of a session or link: 256 random bits. Only its hash is stored. */
export function createSecretToken(): string {
  return randomBytes(32).toString('base64url');
}

/** Returns the SHA-256 in hex. A token has 256 random bits, so the hash needs no salt. */
export function hashSecretToken(token: string): string {
  return hash('sha256', token, 'hex');
}

export function isSecretToken(text: string): boolean {
  return /^[A-Za-z0-9_-]{43}$/.test(text);
}
