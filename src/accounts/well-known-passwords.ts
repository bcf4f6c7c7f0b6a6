import { readFileSync } from 'node:fs';

/** Words that attackers try first, from `@zxcvbn-ts/language-common` 4.1.3 (MIT), with added words about payments. */
const known = readFileSync(new URL('common-passwords.txt', import.meta.url), 'utf8')
  .split('\n')
  .filter((word) => word !== '');

/** Predictable sequences: alphabets, digits, keyboard rows and columns, and alternations of two of these. */
const rows = [
  'abcdefghijklmnopqrstuvwxyz',
  '012345678901234567890',
  'qwertyuiop',
  'qwertzuiop',
  'azertyuiop',
  'asdfghjkl',
  'qsdfghjklm',
  'zxcvbnm',
  'yxcvbnm',
  '1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik',
  'qazwsxedcrfvtgbyhnujmik',
  '1q2w3e4r5t6y7u8i9o0p',
  'q1w2e3r4t5y6u7i8o9p0',
  'a1b2c3d4e5f6g7h8i9j0',
  '1a2b3c4d5e6f7g8h9i0j',
  'aabbccddeeffgghhiijj',
  'йцукенгшщзхъ',
  'фывапролджэ',
  'ячсмитьбю',
]
  .map(withoutAccents)
  .flatMap((row) => [row, [...row].reverse().join('')]);

/** Minimum number of characters outside well-known parts. */
const MINIMUM_OWN_CHARACTERS = 4;

const looksLike: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
  '!': 'i',
};

/** Returns whether a password is easy to guess. Ignores case, width, accents, separators and look-alike characters. */
export function isWellKnown(password: string, email: string): boolean {
  const typed = withoutAccents(password).toLowerCase();
  const core = typed.replaceAll(/^[^\p{L}@$]+|[^\p{L}@$]+$/gu, '');
  const spelled = [...core].map((character) => looksLike[character] ?? character).join('');
  const own = email.split(/[^\p{L}\p{N}]+/u).filter((part) => part.length >= MINIMUM_OWN_CHARACTERS);
  return (core === '' ? [typed] : [typed, spelled]).some((text) => {
    const plain = text.replaceAll(/[\s!-/:-@[-`{-~]/g, '');
    if (known.includes(plain) || /^(.{1,8})\1+.{0,3}$/u.test(plain)) return true;
    const rest = own.reduce((left, word) => left.replaceAll(word, ''), plain);
    if (isShort(rest)) return true;
    return known.some((word) => rest.includes(word) && isShort(rest.replaceAll(word, '')));
  });
}

function withoutAccents(text: string): string {
  return text.normalize('NFKD').replaceAll(/\p{M}/gu, '');
}

/** Returns whether too few characters remain after removal of sequences, repeated characters and digits. */
function isShort(text: string): boolean {
  const characters = [...text];
  let own = 0;
  for (let index = 0; index < characters.length; ) {
    const length = patternAt(characters, index);
    if (length === 0 && !/\d/.test(characters[index] as string)) own++;
    index += Math.max(1, length);
  }
  return own < MINIMUM_OWN_CHARACTERS;
}

/** Minimum length of a sequence. Shorter sequences occur in words, such as "wer" in "newer". */
const MINIMUM_PATTERN = 4;

/** Returns the length of the sequence or repeated character that begins at `start`; 0 below `MINIMUM_PATTERN`. */
function patternAt(characters: readonly string[], start: number): number {
  const isPattern = (text: string, [first = '']: readonly string[]) =>
    rows.some((row) => row.includes(text)) || text === first.repeat(text.length);
  let length = 0;
  for (let end = start + MINIMUM_PATTERN; end <= characters.length; end++) {
    const part = characters.slice(start, end);
    if (!isPattern(part.join(''), part)) break;
    length = end - start;
  }
  return length;
}
