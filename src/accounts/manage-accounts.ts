import { randomBytes } from 'node:crypto';
import { type Feature, features } from '../payment/create-payment.ts';
import { invalidField, ServiceError } from '../payment/errors.ts';
import { MAXIMUM_FEE_BASIS_POINTS } from '../payment/fees-and-paid-threshold.ts';
import { PictureRefusedError, type Pictures, PicturesBusyError } from '../platform/pictures.ts';
import type { CallbackGuard } from '../webhooks/delivery-types.ts';
import type { Account, AccountChange } from './account.ts';
import type { AccountStore, AuditStore } from './account-store.ts';
import { type Actor, accessChanged, type PeopleContext, recordAction } from './people-context.ts';
import type { User } from './person.ts';
import { VIEWING_MS } from './session-lifetimes.ts';
import { type Caller, createSession, type SignedIn } from './sessions.ts';
import {
  MAXIMUM_LOGO_BYTES,
  MAXIMUM_LOGO_PIXELS,
  parseName,
  plainProfile,
  requirePublicLink,
  requireWalletForLock,
  type ShopLogo,
  STORED_LOGO_PIXELS,
  shopLogoOf,
  textSettings,
} from './shop-profile.ts';

interface ProfileContext extends AccountsContext {
  readonly callbacks: CallbackGuard;
  readonly pictures: Pictures;
  /** Whether links to this machine and private networks are allowed. */
  readonly isTestMode: boolean;
}

type TextSetting = keyof typeof textSettings;
export const textSettingNames = Object.keys(textSettings) as TextSetting[];

/** Account settings that a merchant may change. Absent settings stay unchanged. */
export interface ProfileUpdate
  extends Pick<
    AccountChange,
    | 'wallet'
    | 'isWalletLocked'
    | 'toleratesMissingCent'
    | 'receivesAlerts'
    | 'pinnedProvider'
    | 'excludedProviders'
  > {
  readonly texts?: Readonly<Partial<Record<TextSetting, string>>>;
  readonly defaultCallback?: string;
  /** Bytes of a picture; null removes the logo. */
  readonly logo?: Uint8Array | null;
}

/** Validates a profile update. Throws `invalid_request` for invalid values, or `rate_limited` for too many pictures. */
export async function readProfileUpdate(
  { callbacks, pictures, isTestMode }: Omit<ProfileContext, keyof AccountsContext>,
  account: Account,
  { texts = {}, defaultCallback, logo, ...asGiven }: ProfileUpdate,
): Promise<AccountChange> {
  const { wallet, isWalletLocked } = asGiven;
  requireWalletForLock(
    wallet === undefined ? account.wallet : wallet,
    isWalletLocked ?? account.isWalletLocked,
  );
  const parsed = textSettingNames.map((name) => {
    if (texts[name] === undefined) return {};
    const change = textSettings[name](texts[name]);
    if (!isTestMode && name.endsWith('-link')) requirePublicLink(name, Object.values(change)[0]);
    if (!isTestMode && 'returnHosts' in change)
      for (const host of change.returnHosts) requirePublicLink(name, `https://${host}/`);
    return change;
  });
  return {
    ...asGiven,
    ...Object.assign({}, ...parsed),
    ...(logo === undefined ? {} : { logo: logo && (await encodeLogo(pictures, account.id, logo)) }),
    // Checks the callback last, because this may need a DNS lookup.
    ...(defaultCallback === undefined
      ? {}
      : { defaultCallbackUrl: await requireCallback(callbacks, defaultCallback) }),
  };
}

async function requireCallback(callbacks: CallbackGuard, callback: string): Promise<string | null> {
  if (callback === '') return null;
  const refusal = await callbacks.refusalOf(callback);
  if (refusal !== null) throw invalidField('default-callback', refusal);
  return callback;
}

export interface AccountsContext {
  readonly accounts: AccountStore;
  readonly nowMs: () => number;
}

export async function findExistingAccount(
  { accounts }: Pick<AccountsContext, 'accounts'>,
  accountId: string,
): Promise<Account> {
  const account = await accounts.findAccount(accountId);
  if (account === null) throw unknownAccount(accountId);
  return account;
}

function unknownAccount(accountId: string): ServiceError {
  return new ServiceError('not_found', `The account ${accountId} does not exist.`);
}

export const DEFAULT_FEE_BASIS_POINTS = 250;

export type NewAccount = Pick<Account, 'name' | 'email' | 'feeBasisPoints' | 'wallet'>;

/** Creates an account with all features and providers. Throws `invalid_request` for an invalid name or fee. */
export async function createAccount(
  context: AccountsContext,
  { name, email, feeBasisPoints, wallet }: NewAccount,
): Promise<Account> {
  const account: Account = {
    ...plainProfile,
    id: `acc_${randomBytes(10).toString('hex')}`,
    name: parseName(name),
    email,
    feeBasisPoints: requireFee(feeBasisPoints),
    wallet,
    features,
    providers: null,
    suspended: false,
    createdAtMs: context.nowMs(),
  };
  await context.accounts.createAccount(account);
  return account;
}

export function requireFee(feeBasisPoints: number): number {
  if (feeBasisPoints >= 0 && feeBasisPoints <= MAXIMUM_FEE_BASIS_POINTS) return feeBasisPoints;
  throw invalidField('fee-percent', `must be from 0 to ${MAXIMUM_FEE_BASIS_POINTS / 100}`);
}

export interface AccountUpdate extends Pick<AccountChange, 'feeBasisPoints' | 'providers' | 'suspended'> {
  readonly profile?: ProfileUpdate;
  readonly enable?: Feature;
  readonly disable?: Feature;
}

/** Changes an account. Existing payments keep their fee. Throws `not_found`, or like `readProfileUpdate`. */
export async function updateAccount(
  context: ProfileContext,
  accountId: string,
  { profile, enable, disable, ...fields }: AccountUpdate,
): Promise<Account> {
  if (fields.feeBasisPoints !== undefined) requireFee(fields.feeBasisPoints);
  if (enable !== undefined && enable === disable)
    throw invalidField('enable', `and disable both name ${enable}`);
  const account = await findExistingAccount(context, accountId);
  const kept = account.features.filter((name) => name !== disable);
  const changed = features.filter((name) => name === enable || kept.includes(name));
  const updated = await context.accounts.updateAccount(accountId, {
    ...fields,
    ...(profile === undefined ? {} : await readProfileUpdate(context, account, profile)),
    // Omits unchanged features, so that a concurrent change is not reverted.
    ...(enable === undefined && disable === undefined ? {} : { features: changed }),
  });
  if (updated === null) throw unknownAccount(accountId);
  return updated;
}

/** Changes an account and records the old and new values in the audit log. Throws the errors of `updateAccount`. */
export async function changeAccount(
  context: ProfileContext & { readonly audit: AuditStore },
  accountId: string,
  update: AccountUpdate,
  actor: Actor,
): Promise<Account> {
  const before = await findExistingAccount(context, accountId);
  const after = await updateAccount(context, accountId, update);
  const changes = describeAccountChange(before, after);
  if (changes !== null) await recordAction(context, accountId, actor, 'account.changed', changes);
  return after;
}

/** Describes the old and new values of changed settings, named after their fields; null if none changed. */
export function describeAccountChange(before: Account, after: Account): string | null {
  // Omits signing secrets, which have separate entries in the audit log.
  const { webhookSecrets: _, ...settings } = after;
  const changes = (Object.keys(settings) as (keyof typeof settings)[])
    .map((name) => [name, shownSetting(name, before[name]), shownSetting(name, after[name])] as const)
    .filter(([, was, is]) => was !== is)
    .map(([name, was, is]) => `${settingWords(name)} from ${was} to ${is}`);
  return changes.length === 0 ? null : changes.join('; ');
}

/** Returns a setting's name in words, such as "brand color" for `brandColor` and "fee" for `feeBasisPoints`. */
function settingWords(name: string): string {
  return name
    .replace(/^is(?=[A-Z])|BasisPoints$|Hash$/g, '')
    .replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    .trim();
}

function shownSetting(name: string, value: unknown): string {
  if (value === null) return name === 'providers' ? 'all' : 'not set';
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (Array.isArray(value)) return value.join(' ') || 'none';
  return name.endsWith('BasisPoints') ? `${Number(value) / 100} %` : String(value);
}

/** Starts an operator's session in an account and ends earlier ones. Returns its token. Throws `not_found`. */
export async function viewAccount(
  context: PeopleContext,
  operator: User,
  accountId: string,
  caller: Caller,
): Promise<string> {
  await findExistingAccount(context, accountId);
  const actor = { name: operator.email, userId: operator.id, address: caller.address };
  // Records the view before the session exists, so that no view goes unrecorded.
  await recordAction(context, accountId, actor, 'account.viewed');
  // Allows one view at a time, because many would evict the operator's console session.
  for (const { id, area } of await context.sessions.listSessions(operator.id)) {
    if (area === 'viewing') await context.sessions.endSession(operator.id, id);
  }
  const place = { userId: operator.id, accountId, area: 'viewing', stage: 'open' } as const;
  const guard = { user: operator, sessionId: null };
  const token = await createSession(context, { ...place, lifetimeMs: VIEWING_MS, caller }, guard);
  if (token === null) throw accessChanged();
  return token;
}

/** Switches this session to another of the user's accounts. Throws `not_found` if the user is not a member. */
export async function chooseAccount(
  context: Pick<PeopleContext, 'people' | 'sessions' | 'audit' | 'nowMs'>,
  { user, session }: SignedIn,
  accountId: string,
  actor: Actor,
): Promise<void> {
  const memberships = await context.people.listMemberships(user.id);
  if (!memberships.some((membership) => membership.accountId === accountId))
    throw new ServiceError('not_found');
  await context.sessions.chooseAccount(session.id, accountId);
  // Records the switch in the chosen account, whose audit log would otherwise not show the sign-in.
  await recordAction(context, accountId, actor, 'session.came_over');
}

const BUSY_SECONDS = 5;

/** Re-encodes a picture as a logo. Throws `invalid_request` for a refused picture, or `rate_limited` if busy. */
export async function encodeLogo(pictures: Pictures, owner: string, bytes: Uint8Array): Promise<ShopLogo> {
  if (bytes.length > MAXIMUM_LOGO_BYTES)
    throw invalidField('logo', `must have at most ${MAXIMUM_LOGO_BYTES / 1024} KiB`);
  try {
    return shopLogoOf(await pictures.encode(owner, bytes, MAXIMUM_LOGO_PIXELS, STORED_LOGO_PIXELS));
  } catch (error) {
    if (error instanceof PictureRefusedError) throw invalidField('logo', error.message);
    if (!(error instanceof PicturesBusyError)) throw error;
    const text = 'Another picture is being processed. Retry shortly.';
    throw new ServiceError('rate_limited', text, { retryAfterSeconds: BUSY_SECONDS });
  }
}
