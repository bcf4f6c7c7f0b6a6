import { hash } from 'node:crypto';
import type { Account } from '../../accounts/account.ts';
import { type KeyScope, parseScopes, roleForScopes } from '../../accounts/api-key.ts';
import { type CreatedKey, createKey, describeKey } from '../../accounts/api-keys.ts';
import {
  type Actor,
  createLink,
  hashSecretToken,
  type PeopleContext,
  recordAction,
} from '../../accounts/people-context.ts';
import { roleIncludes } from '../../accounts/person.ts';
import type { ShowOnceContext } from '../../accounts/sessions.ts';
import { parseName } from '../../accounts/shop-profile.ts';
import { invalidField, ServiceError } from '../../payment/errors.ts';
import { isLoopbackHost, isSecureUrl } from '../../platform/public-address.ts';

/* Simplified OAuth 2.0 authorization code flow with PKCE (RFC 7636). A shop exchanges the code for an API key. */

/** Shop's request for an API key. All fields are untrusted. */
export interface ConnectRequest {
  readonly name: string;
  /** URL with https, or with http on loopback, without user information or fragment. */
  readonly returnUrl: string;
  readonly state: string;
  /** SHA-256 of the shop's verifier, in base64url. */
  readonly codeChallenge: string;
  readonly scopes: readonly KeyScope[];
}

/** Approved connection, sealed in its code. The store has only the code's hash. */
interface Grant extends Pick<ConnectRequest, 'name' | 'codeChallenge' | 'scopes'> {
  readonly accountId: string;
  readonly userId: string;
  /** Hash of the normalized return URL, because shops may vary the case of its host or a trailing slash. */
  readonly returnHash: string;
  readonly expiresAtMs: number;
  /** Only host allowed in callback URLs with the new key; null allows any host. */
  readonly callbackHost: string | null;
}

export type ConnectContext = Omit<PeopleContext, 'passwords'> & Pick<ShowOnceContext, 'shownOnce'>;

export const CONNECT_CODE_MS = 60_000;
const CODE_OWNER = 'code of a connection';
const MAXIMUM_URL_CHARACTERS = 500;
const MAXIMUM_CODE_CHARACTERS = 2_000;
const parameters = ['name', 'return', 'state', 'code_challenge', 'code_challenge_method', 'scopes'] as const;

export function parseConnectRequest(query: URLSearchParams): ConnectRequest {
  for (const name of parameters)
    if (query.getAll(name).length > 1) throw invalidField(name, 'must be given once');
  const text = (name: (typeof parameters)[number]) => query.get(name) ?? '';
  const matching = (name: (typeof parameters)[number], pattern: RegExp, rule: string) => {
    if (pattern.test(text(name))) return text(name);
    throw invalidField(name, rule);
  };
  if (!['', 'S256'].includes(text('code_challenge_method')))
    throw invalidField('code_challenge_method', 'must be S256');
  return {
    name: parseName(text('name')),
    returnUrl: parseReturn(text('return')),
    state: matching('state', /^[\w.~-]{8,200}$/, 'must have 8 to 200 letters, digits, or -._~'),
    codeChallenge: matching('code_challenge', /^[\w-]{43}$/, 'must be a SHA-256 in base64url'),
    scopes: parseScopes(text('scopes')),
  };
}

function parseReturn(text: string): string {
  const url = text.length > MAXIMUM_URL_CHARACTERS ? null : URL.parse(text);
  const isPlain = url !== null && url.username === '' && url.password === '' && !text.includes('#');
  if (isPlain && isSecureUrl(url)) return url.href;
  throw invalidField(
    'return',
    'must be an https URL of at most 500 characters, without user information and fragment',
  );
}

/** Returns the only host to allow in callback URLs; null for a shop in development on loopback. */
export function callbackHostOf({ returnUrl }: Pick<ConnectRequest, 'returnUrl'>): string | null {
  const { hostname } = new URL(returnUrl);
  return isLoopbackHost(hostname) ? null : hostname;
}

/** Creates a code for an approved connection and revokes the user's earlier codes. Returns the shop's URL with it. */
export async function approveConnection(
  context: ConnectContext,
  request: ConnectRequest,
  approved: {
    readonly account: Account;
    readonly actor: Actor & { readonly userId: string };
    readonly callbackHost: string | null;
  },
): Promise<string> {
  const { account, actor, callbackHost } = approved;
  const { name, codeChallenge, scopes, returnUrl, state } = request;
  const grant: Grant = {
    name,
    codeChallenge,
    scopes,
    accountId: account.id,
    userId: actor.userId,
    returnHash: hashSecretToken(returnUrl),
    callbackHost,
    expiresAtMs: context.nowMs() + CONNECT_CODE_MS,
  };
  const code = context.shownOnce.seal(JSON.stringify(grant), CODE_OWNER);
  // Binds the code to the user, so that a change of password or rights revokes the code.
  const link = { kind: 'connect', email: actor.name, userId: actor.userId } as const;
  await createLink(context, link, CONNECT_CODE_MS, code);
  await recordAction(context, account.id, actor, 'shop.approved', `${name} at ${new URL(returnUrl).host}`);
  const back = new URL(returnUrl);
  back.searchParams.set('code', code);
  back.searchParams.set('state', state);
  return back.href;
}

export interface Exchange {
  readonly code: string;
  readonly codeVerifier: string;
  readonly returnUrl: string;
  readonly address: string;
}

/** Exchanges a code for an API key. Throws `too_many_keys`, or `connect_code_invalid`, even if the user lost rights. */
export async function exchangeCode(
  context: ConnectContext,
  { code, codeVerifier, returnUrl, address }: Exchange,
): Promise<CreatedKey & { readonly account: Account }> {
  const opened = code.length > MAXIMUM_CODE_CHARACTERS ? null : context.shownOnce.open(code, CODE_OWNER);
  const grant: Grant | null = opened === null ? null : JSON.parse(opened);
  // Does not record refusals of expired codes, which could flood the audit log.
  if (grant === null || grant.expiresAtMs <= context.nowMs()) throw new ServiceError('connect_code_invalid');
  const user = await context.people.findUser(grant.userId);
  const actor = { name: user?.email ?? grant.userId, userId: grant.userId, address };
  const refuse = async (error: unknown): Promise<never> => {
    await recordAction(context, grant.accountId, actor, 'shop.refused', grant.name);
    throw error;
  };
  const isShop =
    /^[\w.~-]{43,128}$/.test(codeVerifier) &&
    hash('sha256', codeVerifier, 'base64url') === grant.codeChallenge &&
    hashSecretToken(URL.parse(returnUrl)?.href ?? '') === grant.returnHash;
  // Uses up the code only with the right verifier, so that a thief of the code cannot block the shop.
  const taken = isShop ? await context.sessions.takeLink(hashSecretToken(code), context.nowMs()) : null;
  const memberships = taken === null ? [] : await context.people.listMemberships(grant.userId);
  const membership = memberships.find(({ accountId }) => accountId === grant.accountId);
  const account = membership === undefined ? null : await context.accounts.findAccount(grant.accountId);
  const { name, scopes, callbackHost } = grant;
  if (membership === undefined || !roleIncludes(membership.role, roleForScopes(scopes)) || account === null)
    return refuse(new ServiceError('connect_code_invalid'));
  const created = await createKey(context, account.id, { name, scopes, callbackHost }).catch(refuse);
  await recordAction(context, account.id, actor, 'shop.connected', describeKey(created.key));
  return { ...created, account };
}
