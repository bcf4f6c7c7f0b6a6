import { describe, expect, it } from 'vitest';
import { refundWords } from '../../src/features/refunds/locales.ts';
import {
  chosenLanguage,
  formatExactUsdc,
  formatMinutes,
  formatMoney,
  formatMoneyAndCode,
  formatTime,
  formatUsdc,
  type LanguageCode,
  languageNamed,
  languageOf,
  languages,
} from '../../src/web/checkout-layout/languages.ts';
import { en } from '../../src/web/locales/en.ts';
import { moneyText, formatUsdc as usdcOf, usdcText } from '../../src/web/signed-in/format.ts';

const codeFor = (headers: Record<string, string>, query: unknown = {}) => languageOf({ query, headers }).code;

describe('the language of a page', () => {
  it.each([
    ['', 'en'],
    ['de', 'de'],
    ['de-CH,de;q=0.9,en;q=0.8', 'de'],
    ['en-GB,en;q=0.9', 'en'],
    ['ko,hi;q=0.4,fr;q=0.7', 'fr'],
    ['ja-JP,ja;q=0.9', 'ja'],
    ['pt-BR', 'pt'],
    ['AR-eg', 'ar'],
    ['zh-Hant-TW, es-419;q=0.5', 'es'],
    ['fr;q=0, de;q=0.1', 'de'],
    ['*', 'en'],
    ['tlh, xx-yy;q=nonsense, ;;;', 'en'],
    [`${'x'.repeat(300)},de`, 'en'],
  ])('is the first that the browser asks for and we speak: %j', (header, code) => {
    expect(codeFor({ 'accept-language': header })).toBe(code);
  });

  it('is rather the one that was chosen, now or before', () => {
    const headers = { 'accept-language': 'de', cookie: 'other=1; language=ar' };
    expect([codeFor(headers), codeFor(headers, { lang: 'hi' })]).toEqual(['ar', 'hi']);
    expect(codeFor({ cookie: 'xlanguage=ar' })).toBe('en');
    expect(codeFor({ cookie: 'language=zz', 'accept-language': 'fr' })).toBe('fr');
  });

  it.each([{ lang: 'zz' }, { lang: ['de', 'fr'] }, { lang: 'toString' }, {}, null])(
    'is not chosen by %j',
    (query) => {
      expect(chosenLanguage(query)).toBeNull();
    },
  );
});

function textsOf(catalog: object, place = ''): [string, string][] {
  return Object.entries(catalog).flatMap(([key, value]) =>
    typeof value === 'string'
      ? [[`${place}${key}`, value] as [string, string]]
      : textsOf(value as object, `${place}${key}.`),
  );
}

const asEnglish = Object.fromEntries(textsOf({ ...en, refund: refundWords.en }));

describe.each(languages.map((language) => [language.code, language] as const))(
  'the catalog %s',
  (code, { words }) => {
    const texts = textsOf({ ...words, refund: refundWords[code] });

    it('says what the English one says, with the same to put in', () => {
      expect(texts.map(([place]) => place).sort()).toEqual(Object.keys(asEnglish).sort());
      const namesIn = (text: string) => [...new Set(text.match(/\{\w+\}/g) ?? [])].sort();
      for (const [place, text] of texts) {
        expect([place, ...namesIn(text)]).toEqual([place, ...namesIn(asEnglish[place] as string)]);
        expect(text).toBe(text.trim());
        expect(text).not.toBe('');
      }
    });

    it('is written in its own language throughout', () => {
      const script =
        {
          hi: /\p{Script=Devanagari}/u,
          ar: /\p{Script=Arabic}/u,
          ja: /[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}]/u,
        }[code as string] ?? /\p{Script=Latin}/u;
      const same = texts
        .filter(([place, text]) => code !== 'en' && text === asEnglish[place])
        .map(([place]) => place);
      for (const [place, text] of texts) {
        // What consists of what is put in has no words of its own.
        if (text.replaceAll(/\{\w+\}/g, '').match(/\p{Letter}/u) !== null)
          expect([place, text]).toEqual([place, expect.stringMatching(script)]);
      }
      // Some words are the same by chance; whole sentences are not.
      expect(same.filter((place) => (asEnglish[place] as string).split(' ').length > 3)).toEqual([]);
    });
  },
);

it('names the currency instead of a dollar behind the amount', () => {
  const inDollars = languages.map((language) => formatMoney(language, 100, 'USD'));
  expect(inDollars.filter((text) => /\u00a0\$$/.test(text))).toEqual([]);
  expect(inDollars.filter((text) => text.endsWith('\u00a0USD')).length).toBeGreaterThan(2);
});

it('leaves no line end between an amount and its currency, for customers and for merchants', () => {
  const amounts = languages.flatMap((language) => [
    formatMoney(language, 102_610, 'USD'),
    formatMoneyAndCode(language, 102_610, 'USD'),
    formatUsdc(language, 4_195_001n, 'up'),
  ]);
  const ours = [moneyText(102_610, 'EUR'), usdcText(4_195_001n), `${usdcOf(4_000_000n)}`];
  expect([...amounts, ...ours].filter((text) => / /.test(text))).toEqual([]);
});

it('writes money, USDC and times as each language does, always with the digits 0 to 9', () => {
  const timeMs = Date.UTC(2026, 10, 21, 13, 38);
  const written = Object.fromEntries(
    languages.map((language) => [
      language.code,
      [
        formatMoney(language, 102_610, 'EUR'),
        formatUsdc(language, 4_195_001n, 'up'),
        formatExactUsdc(language, 4_195_001n),
        formatTime(language, timeMs),
      ].map((text) => text.replaceAll(/[\u00a0\u202f]/g, ' ').replaceAll(/[\u200e\u200f]/g, '')),
    ]),
  ) as Record<LanguageCode, string[]>;
  expect(written).toEqual({
    en: ['€1,026.10', '4.20 USDC', '4.195001 USDC', 'November 21, 2026 at 1:38 PM UTC'],
    es: ['1026,10 €', '4,20 USDC', '4,195001 USDC', '21 de noviembre de 2026 a las 13:38 UTC'],
    fr: ['1 026,10 €', '4,20 USDC', '4,195001 USDC', '21 novembre 2026 à 13:38 UTC'],
    de: ['1.026,10 €', '4,20 USDC', '4,195001 USDC', '21. November 2026 um 13:38 UTC'],
    it: ['1026,10 €', '4,20 USDC', '4,195001 USDC', '21 novembre 2026 alle ore 13:38 UTC'],
    nl: ['€ 1.026,10', '4,20 USDC', '4,195001 USDC', '21 november 2026 om 13:38 UTC'],
    ja: ['€1,026.10', '4.20 USDC', '4.195001 USDC', '2026年11月21日 13:38 UTC'],
    pt: ['€ 1.026,10', '4,20 USDC', '4,195001 USDC', '21 de novembro de 2026 às 13:38 UTC'],
    hi: ['€1,026.10', '4.20 USDC', '4.195001 USDC', '21 नवंबर 2026 को 1:38 pm बजे UTC'],
    ar: ['1,026.10 €', '4.20 USDC', '4.195001 USDC', '21 نوفمبر 2026 في 1:38 م UTC'],
  });
  expect(formatMinutes(languageNamed('ja'), [1, 10])).toBe('1～10分');
});
