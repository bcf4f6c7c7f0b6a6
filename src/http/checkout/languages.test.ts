import { describe, expect, it } from 'vitest';
import { chosenLanguage, languageOf, languages } from './languages.ts';
import { en } from './words/en.ts';

const codeFor = (headers: Record<string, string>, query: unknown = {}) => languageOf({ query, headers }).code;

describe('the language of a page', () => {
  it.each([
    ['', 'en'],
    ['de', 'de'],
    ['de-CH,de;q=0.9,en;q=0.8', 'de'],
    ['en-GB,en;q=0.9', 'en'],
    ['ja,hi;q=0.4,fr;q=0.7', 'fr'],
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
    expect(codeFor(headers)).toBe('ar');
    expect(codeFor(headers, { lang: 'hi' })).toBe('hi');
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

/** Every text of a catalogue by its place in it. */
function textsOf(catalogue: object, place = ''): [string, string][] {
  return Object.entries(catalogue).flatMap(([key, value]) =>
    typeof value === 'string'
      ? [[`${place}${key}`, value] as [string, string]]
      : textsOf(value as object, `${place}${key}.`),
  );
}

const english = Object.fromEntries(textsOf(en));

describe.each(languages.map((language) => [language.code, language] as const))(
  'the catalogue %s',
  (code, { words }) => {
    const texts = textsOf(words);

    it('says what the English one says, with the same to put in', () => {
      expect(texts.map(([place]) => place).sort()).toEqual(Object.keys(english).sort());
      const namesIn = (text: string) => [...new Set(text.match(/\{\w+\}/g) ?? [])].sort();
      for (const [place, text] of texts) {
        expect([place, ...namesIn(text)]).toEqual([place, ...namesIn(english[place] as string)]);
        expect(text).toBe(text.trim());
        expect(text).not.toBe('');
      }
    });

    it('is written in its own language throughout', () => {
      const script =
        { hi: /\p{Script=Devanagari}/u, ar: /\p{Script=Arabic}/u }[code as string] ?? /\p{Script=Latin}/u;
      const same = texts
        .filter(([place, text]) => code !== 'en' && text === english[place])
        .map(([place]) => place);
      for (const [place, text] of texts) {
        // What consists of what is put in has no words of its own.
        if (text.replaceAll(/\{\w+\}/g, '').match(/\p{Letter}/u) !== null)
          expect([place, text]).toEqual([place, expect.stringMatching(script)]);
      }
      // Some words are the same by chance; whole sentences are not.
      expect(same.filter((place) => (english[place] as string).split(' ').length > 3)).toEqual([]);
    });
  },
);
