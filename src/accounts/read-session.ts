import type { Account } from '../domain/account.ts';
import {
  type DashboardSession,
  isSessionAlive,
  LAST_SEEN_STEP_MS,
  type SessionArea,
} from '../domain/dashboard-session.ts';
import type { Membership, Role, User } from '../domain/person.ts';
import type { PeopleContext } from './people-context.ts';
import { hashSecretToken, looksLikeSecretToken } from './secret-token.ts';

/** Who makes a request. */
export interface SignedIn {
  readonly user: User;
  readonly session: DashboardSession;
}

/** The account somebody looks at, and what they may do there. */
export interface ChosenAccount {
  readonly account: Account;
  readonly role: Role;
  /** All of the user's memberships. */
  readonly memberships: readonly Membership[];
  /** The user's other accounts. */
  readonly otherAccounts: readonly Pick<Account, 'id' | 'name'>[];
}

/** Whose session a token opens; null when it opens none (any more). */
export async function readSession(
  { people, sessions, nowMs }: Pick<PeopleContext, 'people' | 'sessions' | 'nowMs'>,
  token: string,
  area: SessionArea,
): Promise<SignedIn | null> {
  if (!looksLikeSecretToken(token)) return null;
  const session = await sessions.findSession(hashSecretToken(token));
  const now = nowMs();
  if (session === null || session.area !== area || !isSessionAlive(session, now)) return null;
  const user = await people.findUser(session.userId);
  if (user === null || (area !== 'dashboard' && !user.isOperator)) return null;
  if (now - session.lastSeenAtMs >= LAST_SEEN_STEP_MS) await sessions.touchSession(session.id, now);
  return { user, session };
}

/** The account of a session, or the user's first one where the right to that was taken away; null for none. */
export async function readChosenAccount(
  { people, accounts }: Pick<PeopleContext, 'people' | 'accounts'>,
  { user, session }: SignedIn,
): Promise<ChosenAccount | null> {
  const memberships = await people.listMemberships(user.id);
  const membership = memberships.find(({ accountId }) => accountId === session.accountId) ?? memberships[0];
  if (membership === undefined) return null;
  const account = await accounts.findAccount(membership.accountId);
  if (account === null) return null;
  const others = memberships.filter(({ accountId }) => accountId !== account.id);
  const found = await Promise.all(others.map(({ accountId }) => accounts.findAccount(accountId)));
  const otherAccounts = found.filter((other) => other !== null);
  return { account, role: membership.role, memberships, otherAccounts };
}
