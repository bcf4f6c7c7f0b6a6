import { type Feature, features, type MerchantTerms } from '../payment/create-payment.ts';
import type { KeyScope } from './api-key.ts';
import type { ShopLogo, ShopProfile } from './shop-profile.ts';

export function isFeature(value: string): value is Feature {
  return (features as readonly string[]).includes(value);
}

/** Merchant's account. Its fee, wallet and providers apply to all of its API keys. */
export interface Account extends ShopProfile, MerchantTerms {
  readonly name: string;
  readonly email: string | null;
  readonly createdAtMs: number;
}

export interface AccountChange extends Partial<Omit<Account, 'id' | 'createdAtMs' | 'logoHash'>> {
  /** New logo; null removes the logo. */
  readonly logo?: ShopLogo | null;
}

/** Stored description of an API key, without the key itself. */
export interface ApiKey {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  /** SHA-256 of the key, hex. */
  readonly hash: string;
  readonly lastCharacters: string;
  readonly scopes: readonly KeyScope[];
  /** Only host allowed in callback URLs, such as `shop.example`; null allows any host. */
  readonly callbackHost: string | null;
  readonly createdAtMs: number;
  readonly revokedAtMs: number | null;
  /** Time of the last request with this key, accurate to about a minute; null if the key was never used. */
  readonly lastUsedAtMs: number | null;
}

export interface ActiveKey extends Pick<ApiKey, 'scopes' | 'callbackHost'> {
  readonly account: Account;
}
