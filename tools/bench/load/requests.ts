import { writeFileSync } from 'node:fs';
import { checksumAddress } from '../../../src/payment/address.ts';
import { countedDigits } from '../counted-address.ts';

/** One request in the file of a load generator: a line of tab-separated fields. */
export interface LoadRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly apiKey: string;
  /** `Idempotency-Key`, with `FRESH_DIGITS`; empty for none. */
  readonly idempotencyKey: string;
  /** JSON without tabs or line breaks; empty for none. */
  readonly body: string;
}

/** Placeholder that a load generator replaces with 40 new hex digits per request. */
export const FRESH_DIGITS = '{fresh}';

const DIFFERENT_BODIES = 512;
const MERCHANT_HOSTS = 32;
const SYLLABLES = [
  'ba',
  'co',
  'de',
  'fi',
  'gu',
  'ha',
  'jo',
  'ke',
  'li',
  'mu',
  'na',
  'po',
  're',
  'si',
  'tu',
  'va',
];

/** 512 different creates: half with a note of eight words and an email address, a third with `Idempotency-Key`. */
export function createRequests(apiKeys: readonly string[]): LoadRequest[] {
  return Array.from({ length: DIFFERENT_BODIES }, (_, index) => ({
    method: 'POST',
    path: '/api/v1/wallet',
    apiKey: apiKeys[index % apiKeys.length] as string,
    idempotencyKey: index % 3 === 0 ? `order-${FRESH_DIGITS}` : '',
    body: JSON.stringify({
      address: checksumAddress(countedDigits(index, 40)),
      callback: `https://shop-${index % MERCHANT_HOSTS}.example.com/callbacks/card?order=${100_000 + index}`,
      amount: `${20 + (index % 400)}.${String(index % 100).padStart(2, '0')}`,
      currency: 'USD',
      ...(hasNote(index) ? { note: noteOf(index), email: `customer.${index}@mail.example.com` } : {}),
    }),
  }));
}

/** Whether the create or the stored payment of this number has a note and an email address. */
export function hasNote(number: number): boolean {
  return number % 2 === 0;
}

export function noteOf(number: number): string {
  return Array.from({ length: 8 }, (_, word) => {
    const digits = countedDigits(8 * number + word, 3);
    return [...digits].map((digit) => SYLLABLES[Number.parseInt(digit, 16)]).join('');
  }).join(' ');
}

export function getRequests(paths: readonly string[], apiKeys: readonly string[]): LoadRequest[] {
  return paths.map((path, index) => ({
    method: 'GET' as const,
    path,
    apiKey: apiKeys[index % apiKeys.length] as string,
    idempotencyKey: '',
    body: '',
  }));
}

export function writeRequests(file: string, requests: readonly LoadRequest[]): void {
  const lines = requests.map(({ method, path, apiKey, idempotencyKey, body }) =>
    [method, path, apiKey, idempotencyKey, body].join('\t'),
  );
  writeFileSync(file, `${lines.join('\n')}\n`);
}
