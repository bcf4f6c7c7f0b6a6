import { createRandom } from '../../support/random.ts';

/** What a seed decides. Every choice of a run comes from here, so that the seed brings the same run about again. */
export interface Draws {
  /** True so many times out of a hundred. */
  chance(percent: number): boolean;
  /** A whole number, both ends included. */
  between(least: number, most: number): number;
  oneOf<T>(choices: readonly [T, ...T[]]): T;
  /** The same things in another order. */
  shuffled<T>(things: readonly T[]): T[];
  /** So many hexadecimal digits. */
  hex(digits: number): string;
}

export function createDraws(seed: number): Draws {
  const random = createRandom(seed);
  const between = (least: number, most: number) => least + Math.floor(random() * (most - least + 1));
  return {
    chance: (percent) => random() * 100 < percent,
    between,
    oneOf: (choices) => choices[between(0, choices.length - 1)] ?? choices[0],
    shuffled(things) {
      const shuffled = [...things];
      for (let last = shuffled.length - 1; last > 0; last--) {
        const other = between(0, last);
        [shuffled[last], shuffled[other]] = [shuffled[other] as never, shuffled[last] as never];
      }
      return shuffled;
    },
    hex: (digits) => Array.from({ length: digits }, () => between(0, 15).toString(16)).join(''),
  };
}
