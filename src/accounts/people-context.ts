import { hash, randomBytes } from 'node:crypto';
import { type AuditAction, SERVICE_LOG } from '../domain/audit-entry.ts';
import type { User } from '../domain/person.ts';
import type { AccountStore, AuditStore, PeopleStore } from '../domain/ports/account-store.ts';
import type { SessionStore } from '../domain/ports/payment-store.ts';
import type { Passwords } from './passwords.ts';

/** What the steps of people and their sessions need. */
export interface PeopleContext {
  readonly accounts: AccountStore;
  readonly people: PeopleStore;
  readonly sessions: SessionStore;
  readonly audit: AuditStore;
  readonly passwords: Passwords;
  readonly nowMs: () => number;
}

/** Who does something: a user at an address, or the operator at the command line. */
export interface Actor {
  /** The e-mail address, or `operator`. */
  readonly name: string;
  readonly userId: string | null;
  /** Where the request comes from; null for the command line. */
  readonly address: string | null;
}

/** Whoever may run the command line. */
export const operatorActor: Actor = { name: 'operator', userId: null, address: null };

const MAXIMUM_TARGET_CHARACTERS = 300;

/** Writes down what was done in an account, after it was done. */
export async function recordAction(
  { audit, nowMs }: Pick<PeopleContext, 'audit' | 'nowMs'>,
  accountId: string,
  actor: Actor,
  action: AuditAction,
  target: string | null = null,
): Promise<void> {
  await audit.appendEntry({
    accountId,
    atMs: nowMs(),
    actor: actor.name,
    userId: actor.userId,
    action,
    target: target?.slice(0, MAXIMUM_TARGET_CHARACTERS) ?? null,
    address: actor.address,
  });
}

/** What is done to a user, and not in an account. */
type UserAction = Extract<
  AuditAction,
  `password.${string}` | `second_factor.${string}` | `passkey.${string}`
>;

/**
 * Writes down in each of the user's accounts what was done to the user, and in the log of the service where they may
 * sign in to the operator's console: an operator need be in no account.
 */
export async function recordForUser(
  context: Pick<PeopleContext, 'people' | 'audit' | 'nowMs'>,
  user: Pick<User, 'id' | 'email' | 'isOperator'>,
  actor: Actor,
  action: UserAction,
  target: string | null = user.email,
): Promise<void> {
  for (const { accountId } of await context.people.listMemberships(user.id)) {
    await recordAction(context, accountId, actor, action, target);
  }
  if (user.isOperator) await recordAction(context, SERVICE_LOG, actor, action, target);
}

/** What opens a session or a link: 256 random bits, of which the store has a hash only. */
interface SecretToken {
  readonly token: string;
  readonly tokenHash: string;
}

export function createSecretToken(): SecretToken {
  const token = randomBytes(32).toString('base64url');
  return { token, tokenHash: hashSecretToken(token) };
}

/** SHA-256 in hex: with 256 random bits no salt is needed. */
export function hashSecretToken(token: string): string {
  return hash('sha256', token, 'hex');
}

/** Whether a text could be a token at all, before it is hashed. */
export function looksLikeSecretToken(text: string): boolean {
  return /^[A-Za-z0-9_-]{43}$/.test(text);
}
