import { writeFileSync } from 'node:fs';
import { checksumAddress } from '../../src/domain/payout-address.ts';

/** One request, as every load generator takes it from a file: a line, its parts parted by tabs. */
export interface LoadRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly apiKey: string;
  /** JSON without tabs or line breaks; empty for none. */
  readonly body: string;
}

/** What a load generator replaces by 40 new hex digits each time it sends the request. */
export const FRESH_DIGITS = '{fresh}';

const DIFFERENT_BODIES = 512;
const MERCHANT_HOSTS = 32;

/** Creates with 512 different bodies, each with a payout address of its own, or a fresh one each time it is sent. */
export function createRequests(apiKeys: readonly string[], isFresh: boolean): LoadRequest[] {
  return Array.from({ length: DIFFERENT_BODIES }, (_, index) => ({
    method: 'POST',
    path: '/api/v1/wallet',
    apiKey: apiKeys[index % apiKeys.length] as string,
    body: JSON.stringify({
      address: isFresh ? `0x${FRESH_DIGITS}` : checksumAddress(scatter(index)),
      callback: `https://shop-${index % MERCHANT_HOSTS}.example.com/callbacks/card?order=${100_000 + index}`,
      amount: `${20 + (index % 400)}.${String(index % 100).padStart(2, '0')}`,
      currency: 'USD',
      email: `customer.${index}@mail.example.com`,
    }),
  }));
}

/** Forty hex digits that look like no others. */
function scatter(index: number): string {
  let digits = '';
  for (let word = 1; digits.length < 40; word++) {
    digits += (Math.imul(index + 1, 0x9e3779b1 * word) >>> 0).toString(16).padStart(8, '0');
  }
  return digits;
}

export function getRequests(paths: readonly string[], apiKeys: readonly string[]): LoadRequest[] {
  return paths.map((path, index) => ({
    method: 'GET' as const,
    path,
    body: '',
    apiKey: apiKeys[index % apiKeys.length] as string,
  }));
}

export function writeRequests(file: string, requests: readonly LoadRequest[]): void {
  const lines = requests.map(({ method, path, apiKey, body }) => [method, path, apiKey, body].join('\t'));
  writeFileSync(file, `${lines.join('\n')}\n`);
}
