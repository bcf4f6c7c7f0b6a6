/** The token with another end: the same length, and never the token itself by chance. */
export const withOtherEnd = (token: string): string =>
  `${token.slice(0, -2)}${token.endsWith('AA') ? 'QQ' : 'AA'}`;

/** Numbers from 0 to below 1 that the same seed brings about again (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
