import type { AuditAction } from '../domain/audit-entry.ts';
import type { AccountStore } from '../domain/ports/account-store.ts';
import type { AuditStore } from '../domain/ports/audit-store.ts';
import type { PeopleStore } from '../domain/ports/people-store.ts';
import type { SessionStore } from '../domain/ports/session-store.ts';
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
