import { type Feature, features, type MerchantTerms } from '../payment/create-payment.ts';
import type { KeyScope } from './api-key.ts';
import type { ShopLogo, ShopProfile } from './shop-profile.ts';

export function isFeature(value: string): value is Feature {
  return (features as readonly string[]).includes(value);
}

/** A merchant's account. Its API keys inherit its fee, wallet and providers. */
export interface Account extends ShopProfile, MerchantTerms {
  readonly name: string;
  readonly email: string | null;
  readonly createdAtMs: number;
}

export interface AccountChange extends Partial<Omit<Account, 'id' | 'createdAtMs' | 'logoHash'>> {
  /** Null removes the logo. */
  readonly logo?: ShopLogo | null;
}

/** An API key as stored, without the key itself. */
export interface ApiKey {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  /** SHA-256 of the key, hex. */
  readonly hash: string;
  readonly lastCharacters: string;
  readonly scopes: readonly KeyScope[];
  /** Only host that callback URLs may name, such as `shop.example`; null allows any host. */
  readonly callbackHost: string | null;
  readonly createdAtMs: number;
  readonly revokedAtMs: number | null;
  /** Time of the last request with this key, recorded up to about a minute late; null if never used. */
  readonly lastUsedAtMs: number | null;
}

export interface ActiveKey extends Pick<ApiKey, 'scopes' | 'callbackHost'> {
  readonly account: Account;
}
