import type { IpnTokens } from '../payment/ipn-token.ts';
import { firstIdAtMs } from '../payment/payment-id.ts';
import type { PaymentStore } from '../payment/payment-store.ts';
import type { SecretBox } from '../platform/secret-box.ts';
import type { AccountStore, PeopleStore } from './account-store.ts';

/** Fingerprints of the service's secrets that stored data still needs. */
export interface SecretsInUse {
  /** Secret that signs the newest payment's token; null if there are no payments. */
  readonly newest: string | null;
  /** Secrets that sign the tokens of all unfinished payments (`listOpenFingerprints`). */
  readonly open: readonly string[];
  readonly secondFactors: readonly string[];
  /** Secrets that seal webhook signing secrets, each with the account of the signing secret. */
  readonly signing: readonly (readonly [fingerprint: string, accountId: string])[];
}

interface Stores {
  readonly payments: Pick<PaymentStore, 'findNewest' | 'listOpenFingerprints'>;
  readonly people: Pick<PeopleStore, 'listUsers'>;
  readonly accounts: Pick<AccountStore, 'listAccounts'>;
}

/** Maximum number of users to read, above that of any expected service. */
const MAXIMUM_USERS = 10_000;

export async function readNewestSecret({ payments }: Pick<Stores, 'payments'>): Promise<string | null> {
  return (await payments.findNewest())?.tokenFingerprint ?? null;
}

/** @param openSinceMs creation time of the oldest payments that may still be open */
export async function readSecretsInUse(stores: Stores, openSinceMs: number): Promise<SecretsInUse> {
  const users = await stores.people.listUsers(MAXIMUM_USERS);
  return {
    newest: await readNewestSecret(stores),
    open: await stores.payments.listOpenFingerprints(firstIdAtMs(openSinceMs)),
    secondFactors: [...new Set(users.flatMap(({ totpSecret }) => totpSecret?.split('.')[0] ?? []))],
    signing: (await stores.accounts.listAccounts()).flatMap(({ id, webhookSecrets }) =>
      webhookSecrets.map((sealed) => [sealed.split('.')[0] ?? '', id] as const),
    ),
  };
}

interface KnownSecrets {
  readonly tokens: Pick<IpnTokens, 'knows'>;
  readonly secondFactors: Pick<SecretBox, 'knows'>;
  readonly signingSecrets: Pick<SecretBox, 'isCurrent'>;
}

/** Describes secrets that `SECRET_KEY_PREVIOUS` lacks or must keep, with the remedy; null if there are none. */
export function describeMissingSecrets(
  { open, secondFactors, signing }: SecretsInUse,
  known: KnownSecrets,
): string | null {
  const sentences: string[] = [];
  const missing = open.filter((fingerprint) => !known.tokens.knows(fingerprint));
  if (missing.length > 0)
    sentences.push(
      `open payments need earlier secrets, with the fingerprints ${missing.join(', ')}: add them to ` +
        'SECRET_KEY_PREVIOUS, or their webhooks are not sent and their ipn_token is refused',
    );
  if (secondFactors.some((fingerprint) => !known.secondFactors.knows(fingerprint)))
    sentences.push(
      'second factors of users need an earlier secret: add it to SECRET_KEY_PREVIOUS, or they cannot sign in with a code ' +
        'until user reset-second-factor',
    );
  const older = new Set(
    signing.flatMap(([sealed, id]) => (known.signingSecrets.isCurrent(`${sealed}.`) ? [] : id)),
  );
  if (older.size > 0)
    sentences.push(
      `an earlier SECRET_KEY seals signing secrets of ${[...older].join(', ')}: keep it in SECRET_KEY_PREVIOUS until their ` +
        'owners replaced them, or their webhooks lack the second signature',
    );
  return sentences.length === 0 ? null : sentences.join('; ');
}
