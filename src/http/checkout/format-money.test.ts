import fc from 'fast-check';
import { expect, it } from 'vitest';
import { currencies } from '../../domain/money.ts';
import { formatMoney, formatTime, formatUsdc } from './format-money.ts';
import { english, type LanguageCode, languages } from './languages.ts';

it('writes every amount as the language does', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...languages),
      fc.constantFrom(...currencies),
      fc.integer({ min: 0, max: 200_000_000 }),
      (language, currency, cents) => {
        const options = { style: 'currency', currency, currencyDisplay: 'narrowSymbol' } as const;
        expect(formatMoney(language, cents, currency)).toBe(
          new Intl.NumberFormat(language.locale, options)
            .format(cents / 100)
            .replaceAll(/[\u200e\u200f]/g, ''),
        );
      },
    ),
  );
});

it('groups thousands', () => {
  expect(formatMoney(english, 99_999, 'USD')).toBe('$999.99');
  expect(formatMoney(english, 100_000, 'USD')).toBe('$1,000.00');
  expect(formatMoney(english, 123_456_789, 'EUR')).toBe('€1,234,567.89');
});

it('writes money, USDC and times as each language does, always with the digits 0 to 9', () => {
  const timeMs = Date.UTC(2026, 10, 21, 13, 38);
  const written = Object.fromEntries(
    languages.map((language) => [
      language.code,
      [
        formatMoney(language, 102_610, 'EUR'),
        formatUsdc(language, 4_195_001n, 'up'),
        formatTime(language, timeMs),
      ].map((text) => text.replaceAll(/[\u00a0\u202f]/g, ' ').replaceAll(/[\u200e\u200f]/g, '')),
    ]),
  ) as Record<LanguageCode, string[]>;
  expect(written).toEqual({
    en: ['€1,026.10', '4.20 USDC', 'November 21, 2026 at 1:38 PM UTC'],
    es: ['1026,10 €', '4,20 USDC', '21 de noviembre de 2026 a las 13:38 UTC'],
    fr: ['1 026,10 €', '4,20 USDC', '21 novembre 2026 à 13:38 UTC'],
    de: ['1.026,10 €', '4,20 USDC', '21. November 2026 um 13:38 UTC'],
    pt: ['€ 1.026,10', '4,20 USDC', '21 de novembro de 2026 às 13:38 UTC'],
    hi: ['€1,026.10', '4.20 USDC', '21 नवंबर 2026 को 1:38 pm बजे UTC'],
    ar: ['1,026.10 €', '4.20 USDC', '21 نوفمبر 2026 في 1:38 م UTC'],
  });
});
