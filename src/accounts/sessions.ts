import { randomBytes } from 'node:crypto';
import { ServiceError } from '../payment/errors.ts';
import type { SecretBox } from '../platform/secret-box.ts';
import type { Account } from './account.ts';
import type { UserGuard } from './account-store.ts';
import { SERVICE_LOG } from './audit-entry.ts';
import {
  type Actor,
  beforeExpiry,
  createSecretToken,
  hashSecretToken,
  isSecretToken,
  type PeopleContext,
  recordAction,
  type SessionContext,
  withExpiry,
} from './people-context.ts';
import type { Role, User } from './person.ts';
import {
  type DashboardSession,
  isSessionAlive,
  LAST_SEEN_STEP_MS,
  SECOND_FACTOR_MS,
  SESSION_LIFETIME_MS,
  SET_UP_MS,
  type SessionArea,
  type SessionStage,
} from './session-lifetimes.ts';

/** IPv4 address (or IPv6 /64 network) and user agent of a sign-in. */
export type Caller = Pick<DashboardSession, 'address' | 'userAgent'>;

interface NewSession extends Pick<DashboardSession, 'userId' | 'accountId' | 'area' | 'stage'> {
  readonly lifetimeMs: number;
  readonly caller: Caller;
}

const MAXIMUM_USER_AGENT_CHARACTERS = 300;

/** Starts a session and returns its token; null if the guard does not hold. */
export async function createSession(
  { sessions, nowMs }: SessionContext,
  { lifetimeMs, caller, ...session }: NewSession,
  guard: UserGuard,
): Promise<string | null> {
  const token = createSecretToken();
  const createdAtMs = nowMs();
  const newSession = {
    ...session,
    id: `ses_${randomBytes(10).toString('hex')}`,
    tokenHash: hashSecretToken(token),
    createdAtMs,
    lastSeenAtMs: createdAtMs,
    expiresAtMs: createdAtMs + lifetimeMs,
    address: caller.address,
    userAgent: caller.userAgent.slice(0, MAXIMUM_USER_AGENT_CHARACTERS),
  };
  return (await sessions.createSession(newSession, guard)) ? token : null;
}

export interface OpenedSession {
  /** Secret token, only for the browser's cookie. */
  readonly token: string;
  readonly stage: SessionStage;
  readonly email: string;
}

const lifetimes: Record<SessionStage, number> = {
  second_factor: SECOND_FACTOR_MS,
  set_up: SET_UP_MS,
  open: SESSION_LIFETIME_MS,
};

/** Starts a session. Returns null if the user's password or rights changed after `user` was read. */
export async function openSession(
  context: PeopleContext,
  user: User,
  { area, stage, caller }: Pick<NewSession, 'area' | 'stage' | 'caller'>,
): Promise<OpenedSession | null> {
  const [membership] = area === 'dashboard' ? await context.people.listMemberships(user.id) : [];
  const accountId = membership?.accountId ?? null;
  const session = { userId: user.id, accountId, area, stage, lifetimeMs: lifetimes[stage], caller };
  const token = await createSession(context, session, { user, sessionId: null });
  if (token === null) return null;
  const log = area === 'operator' ? SERVICE_LOG : accountId;
  if (stage === 'open' && log !== null) {
    const actor = { name: user.email, userId: user.id, address: caller.address };
    await recordAction(context, log, actor, 'session.opened');
  }
  return { token, stage, email: user.email };
}

export interface SignedIn {
  readonly user: User;
  readonly session: DashboardSession;
}

export interface ChosenAccount {
  readonly account: Account;
  readonly role: Role;
  readonly otherAccounts: readonly Pick<Account, 'id' | 'name'>[];
}

/** Returns a token's user and session; null if invalid, expired or for another area, or if the user lost access. */
export async function readSession(
  { people, sessions, nowMs }: Pick<PeopleContext, 'people' | 'sessions' | 'nowMs'>,
  token: string,
  area: SessionArea,
): Promise<SignedIn | null> {
  if (!isSecretToken(token)) return null;
  const session = await sessions.findSession(hashSecretToken(token));
  const now = nowMs();
  if (session === null || session.area !== area || !isSessionAlive(session, now)) return null;
  const user = await people.findUser(session.userId);
  if (user === null || (area !== 'dashboard' && !user.isOperator)) return null;
  if (now - session.lastSeenAtMs >= LAST_SEEN_STEP_MS) await sessions.touchSession(session.id, now);
  return { user, session };
}

/** Returns the session's account if the user is still a member, or else the user's first account; null if none. */
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
  return { account, role: membership.role, otherAccounts };
}

/** Ends a session of the user, possibly the current one. Throws `not_found` for an unknown session. */
export async function endSession(
  context: Pick<PeopleContext, 'sessions' | 'audit' | 'nowMs'>,
  { id, userId, accountId }: Pick<DashboardSession, 'id' | 'userId' | 'accountId'>,
  actor: Actor,
): Promise<void> {
  if (!(await context.sessions.endSession(userId, id))) throw new ServiceError('not_found');
  if (accountId !== null) await recordAction(context, accountId, actor, 'session.ended', id);
}

// After a sign-in, the browser keeps a mark in a cookie. The mark grants no access. It only identifies the user's
// browsers, so that strangers who guess passwords cannot lock the user out
// (docs/decisions/0027-strangers-cannot-lock-users-out.md). Marks are sealed and not stored by the service.

export const BROWSER_MARK_MS = 400 * 24 * 3_600_000;
const BROWSER_LINK_MS = 3_600_000;

const ownerOfMark = (email: string) => `browser of ${email}`;
const OWNER_OF_LINKS = 'link to make a browser known';

/** Creates a mark for a user's browser. The email address must be normalized by `parseUserEmail`. */
export function markBrowser(box: SecretBox, email: string, nowMs: number): string {
  const name = randomBytes(12).toString('base64url');
  return box.seal(withExpiry(name, nowMs + BROWSER_MARK_MS), ownerOfMark(email));
}

/** Returns the identifier of a user's browser; null if the mark is invalid, expired or another user's. */
export function knownBrowser(box: SecretBox, mark: string, email: string, nowMs: number): string | null {
  return beforeExpiry(box.open(mark, ownerOfMark(email)), nowMs);
}

/** Creates the token of a link that marks a browser as known, valid for `BROWSER_LINK_MS`. */
export function createBrowserLink(box: SecretBox, email: string, nowMs: number): string {
  return box.seal(withExpiry(email, nowMs + BROWSER_LINK_MS), OWNER_OF_LINKS);
}

/** Returns the email address that a link was sent to; null if the link is invalid or expired. */
export function openBrowserLink(box: SecretBox, token: string, nowMs: number): string | null {
  return beforeExpiry(box.open(token, OWNER_OF_LINKS), nowMs);
}

export interface ShowOnceContext extends SessionContext {
  readonly shownOnce: SecretBox;
}

/** Maximum time between the form that creates a secret and the page that shows it. */
const KEPT_MS = 2 * 60_000;

const ownerOf = (sessionId: string, purpose: string) => `${purpose} for ${sessionId}`;

/** Seals and stores a secret for the page that a form redirects to, which reads the secret by the same `purpose`. */
export async function keepForNextPage(
  { sessions, shownOnce, nowMs }: ShowOnceContext,
  sessionId: string,
  purpose: string,
  secret: string,
  lifetimeMs = KEPT_MS,
): Promise<void> {
  const sealed = shownOnce.seal(secret, ownerOf(sessionId, purpose));
  await sessions.keepChallenge(sessionId, purpose, withExpiry(sealed, nowMs() + lifetimeMs));
}

/** Removes a stored secret and returns it; null if it is missing or expired. */
export async function takeForPage(
  { sessions, shownOnce, nowMs }: ShowOnceContext,
  sessionId: string,
  purpose: string,
): Promise<string | null> {
  const sealed = beforeExpiry(await sessions.takeChallenge(sessionId, purpose), nowMs());
  return sealed === null ? null : shownOnce.open(sealed, ownerOf(sessionId, purpose));
}
