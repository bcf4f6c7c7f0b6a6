import { createPublicKey, type KeyObject } from 'node:crypto';
import { type ProviderId, providerIds } from '../src/payment/provider-catalog.ts';
import { CONFIRMED } from '../src/providers/adapters/cryptocom.ts';
import type { ProviderValues } from '../src/providers/adapters/define-provider.ts';
import { deriveHex, ed25519KeyOf, secp256k1KeyOf } from './development-keys.ts';

/** Key of each simulated on-ramp, from which all of its secrets are derived. */
export type OnrampKeys = Readonly<Record<ProviderId, string>>;

export function providerValuesOf(provider: ProviderId, keys: OnrampKeys): ProviderValues {
  const derived = (purpose: string) => deriveHex(keys[provider], purpose);
  switch (provider) {
    case 'paypal':
      return { ...providerValuesOf('moonpay', keys), ROUTE: 'moonpay' };
    case 'klarna':
      return { ...providerValuesOf('banxa', keys), ROUTE: 'banxa', PAYMENT_METHOD: 'klarna' };
    case 'cryptocom':
      return { API_KEY: `sk_test_${derived('api')}`, ONRAMP: CONFIRMED };
    case 'moonpay':
      return {
        API_KEY: `pk_test_${derived('api')}`,
        SECRET_KEY: `sk_test_${derived('secret')}`,
        WEBHOOK_KEY: `wk_test_${derived('webhook')}`,
      };
    case 'wert':
      return { API_KEY: derived('api'), PARTNER_ID: derived('partner'), NOTICE_TOKEN: derived('webhook') };
    case 'revolut':
      return { API_KEY: derived('api'), WEBHOOK_SECRET: `wsk_${derived('webhook')}` };
    case 'coinbase':
      return {
        API_KEY: derived('api'),
        API_SECRET: ed25519SecretOf(derived('signing')),
        WEBHOOK_SECRET: derived('webhook'),
      };
    case 'banxa':
      return { API_KEY: derived('api'), PARTNER: 'sandbox-shop', WEBHOOK_SECRET: derived('webhook') };
    case 'rampnetwork':
      return {
        API_KEY: derived('api'),
        SIGNING_KEY: pemOf(ed25519KeyOf(derived('signing')), 'pkcs8'),
        WEBHOOK_PUBLIC_KEY: pemOf(createPublicKey(secp256k1KeyOf(derived('webhook'))), 'spki'),
      };
    case 'stripe':
      return { API_KEY: `sk_test_${derived('api')}`, WEBHOOK_SECRET: `whsec_${derived('webhook')}` };
    case 'transak':
      return { API_KEY: derived('api'), API_SECRET: derived('secret') };
  }
}

/** Encodes the seed and the public key in base64, as in Coinbase's API secrets. */
function ed25519SecretOf(seedHex: string): string {
  const { x = '' } = createPublicKey(ed25519KeyOf(seedHex)).export({ format: 'jwk' });
  return Buffer.concat([Buffer.from(seedHex, 'hex'), Buffer.from(x, 'base64url')]).toString('base64');
}

function pemOf(key: KeyObject, type: 'pkcs8' | 'spki'): string {
  return key.export({ format: 'pem', type }).toString().trim();
}

/** Returns each adapter's settings for its simulated on-ramp, by variable name without the provider's prefix. */
export function allProviderValues(
  keys: OnrampKeys,
  baseUrl: string,
): Readonly<Record<ProviderId, ProviderValues>> {
  const values = providerIds.map((id): [ProviderId, ProviderValues] => [
    id,
    { ...providerValuesOf(id, keys), BASE_URL: `${baseUrl}/${id}` },
  ]);
  return Object.fromEntries(values) as Record<ProviderId, ProviderValues>;
}
