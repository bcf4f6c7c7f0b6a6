/** Values of a create's parameters: most of them right, the others wrong in every way we know. */
import fc from 'fast-check';
import { providerIds } from '../../../src/domain/provider-catalog.ts';
import { PAYOUT_ADDRESS } from '../../support/api-service.ts';
import { RESERVED_ADDRESS } from '../../support/payment-context.ts';

/** Unicode that looks like digits, spaces, letters or nothing; halves of characters; what ends or breaks texts. */
const oddTexts = [
  '\0',
  '\n',
  '\r\n',
  '\t',
  ' ',
  '\u00a0',
  '\u2007',
  '\u3000',
  '\ufeff',
  '\u200b',
  '\u202e',
  '\u2028',
  '\ud800',
  '\udc00',
  '\u0661',
  '\uff11',
  '\u0967',
  '\u{1d7d9}',
  '\u212a',
  '\u0130',
  '\ufb00',
  'e\u0301',
  '%00',
  '%2e',
  '%0d%0a',
  '+',
  '-',
  '_',
  "'",
  '"',
  '<',
  '>',
  '&',
  '\\',
  '/',
  '@',
  '#',
  '?',
  ':',
  '[',
  ']',
  '{',
  '}',
  '(',
  ')',
  ';',
  ',',
  '.',
  '..',
  '$',
  '`',
  '|',
];
export const oddText = fc.constantFrom(...oddTexts);

/** The text with one odd piece put in, one letter left out or doubled, or its case turned. */
export function nearText(texts: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc
    .tuple(
      texts,
      fc.nat({ max: 3000 }),
      oddText,
      fc.constantFrom('put', 'leave out', 'double', 'upper', 'append'),
    )
    .map(([text, place, odd, kind]) => {
      const at = text === '' ? 0 : place % text.length;
      if (kind === 'put') return text.slice(0, at) + odd + text.slice(at);
      if (kind === 'leave out') return text.slice(0, at) + text.slice(at + 1);
      if (kind === 'double') return text.slice(0, at + 1) + text.slice(at);
      return kind === 'upper' ? text.toUpperCase() : text + odd;
    });
}

const wildNumber = fc.constantFrom(
  -0,
  0,
  0.1 + 0.2,
  1e-7,
  1e21,
  Number.MAX_SAFE_INTEGER,
  Number.MAX_VALUE,
  Number.MIN_VALUE,
  -1,
  10_000.01,
  0.005,
  2 ** 53,
);
export const wildValue: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(null, true, false, '', 'null', 'undefined', 'NaN', [], {}, [[]], ['10.00'], {
    toString: 1,
  }),
  wildNumber,
  fc.string({ unit: 'binary', maxLength: 40 }),
  oddText,
  fc.jsonValue({ maxDepth: 3 }),
);

/** Mostly the right ones. */
function mostly(right: fc.Arbitrary<unknown>, near: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 12, arbitrary: right },
    { weight: 3, arbitrary: near },
    { weight: 1, arbitrary: wildValue },
  );
}

const cents = fc.oneof(
  fc.nat({ max: 1_000_100 }),
  fc.constantFrom(0, 1, 99, 100, 999_999, 1_000_000, 1_000_001),
);
const amountText = cents.map((value) => (value / 100).toFixed(2));
export const amount = mostly(
  fc.oneof(
    amountText,
    cents.map((value) => value / 100),
    fc.nat({ max: 10_000 }).map(String),
  ),
  fc.oneof(
    nearText(amountText),
    fc.double({ min: -1, max: 20_000 }),
    fc.bigInt({ min: 0n, max: 10n ** 40n }).map(String),
    fc.constantFrom(
      '1e3',
      '0x10',
      '01.00',
      '.5',
      '5.',
      '1.100',
      '+5',
      '1_000',
      '1,00',
      '1.0.0',
      'Infinity',
      '0b1',
      '00',
      '-0.01',
    ),
  ),
);

const hex = fc
  .array(fc.constantFrom(...'0123456789abcdefABCDEF'), { minLength: 40, maxLength: 40 })
  .map((all) => all.join(''));
const rightAddress = fc.oneof(
  fc.constant<string>(PAYOUT_ADDRESS),
  hex.map((text) => `0x${text.toLowerCase()}`),
  hex.map((text) => `0x${text.toUpperCase()}`),
);
export const address = mostly(
  rightAddress,
  fc.oneof(
    nearText(rightAddress),
    hex.map((text) => `0x${text}`),
    fc.constantFrom<string>(
      `0x${'0'.repeat(40)}`,
      RESERVED_ADDRESS,
      RESERVED_ADDRESS.toLowerCase(),
      'vitalik.eth',
    ),
  ),
);

const label = fc.stringMatching(/^[a-z][a-z0-9]{0,10}$/);
const rightCallback = fc
  .tuple(
    label,
    fc.constantFrom('com', 'org', 'io'),
    fc.constantFrom('', ':443', ':8443'),
    fc.stringMatching(/^[a-z0-9/]{0,30}$/),
  )
  .map(([name, suffix, port, path]) => `https://shop.${name}.${suffix}${port}/${path}?order=1`);
const dangerousHost = fc.constantFrom(
  'localhost',
  '127.0.0.1',
  '127.1',
  '0x7f.1',
  '2130706433',
  '017700000001',
  '[::1]',
  '[::ffff:127.0.0.1]',
  '169.254.169.254',
  '10.0.0.1',
  '192.168.1.1',
  '[fd00::1]',
  'metadata.google.internal',
  'metadata',
  'localhost.',
  'a.local',
  '０.０.０.０',
  '127。0。0。1',
  'user:pw@example.com',
  ':@example.com',
  'example.com@10.0.0.1',
  '[64:ff9b::7f00:1]',
  'xn--',
  'a..b.com',
  '1.2.3',
  '0.0.0.0',
  '[::]',
);
const dangerousCallback = fc
  .tuple(
    fc.constantFrom('https://', 'HTTPS://', 'http://', 'https:/', 'https:', '//', 'ftp://', 'javascript:'),
    dangerousHost,
    fc.constantFrom('', '/', ':443/', ':0/', '/hook', '#x', '?x'),
  )
  .map((parts) => parts.join(''));
const longCallback = fc
  .integer({ min: 2030, max: 2060 })
  .map((length) => `https://shop.example.com/${'a'.repeat(length - 25)}`);
export const callback = mostly(
  rightCallback,
  fc.oneof(nearText(rightCallback), dangerousCallback, nearText(dangerousCallback), longCallback),
);

const rightNote = fc.oneof(
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }),
  fc.integer({ min: 495, max: 505 }).map((length) => '😀'.repeat(length)),
);
export const note = mostly(
  rightNote,
  fc.oneof(
    nearText(rightNote),
    fc.integer({ min: 495, max: 505 }).map((length) => 'n'.repeat(length)),
  ),
);

const rightEmail = fc.oneof(
  fc.emailAddress(),
  fc.constantFrom('', ' a@example.com ', 'a+b@example.com', 'a@b'),
);
export const email = mostly(
  rightEmail,
  fc.oneof(
    nearText(rightEmail),
    fc.integer({ min: 60, max: 70 }).map((length) => `${'a'.repeat(length)}@example.com`),
  ),
);
export const currency = mostly(
  fc.constantFrom('USD', 'EUR', 'CAD', 'INR'),
  fc.constantFrom('usd', 'GBP', '', 'EUR ', 'constructor'),
);
export const passFee = mostly(fc.boolean(), fc.constantFrom('true', 'false', 0, 1, 'TRUE', null));
export const provider = mostly(
  fc.oneof(
    { weight: 4, arbitrary: fc.constant('multi') },
    { weight: 1, arbitrary: fc.constantFrom(...providerIds) },
  ),
  fc.constantFrom('Multi', 'moonpay ', '__proto__', 'constructor', 'toString', 'hasOwnProperty', ''),
);
