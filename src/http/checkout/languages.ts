import type { IncomingHttpHeaders } from 'node:http';
import { ar } from './words/ar.ts';
import { de } from './words/de.ts';
import { en } from './words/en.ts';
import { es } from './words/es.ts';
import { fr } from './words/fr.ts';
import { hi } from './words/hi.ts';
import { pt } from './words/pt.ts';
import type { Words } from './words/words.ts';

export type LanguageCode = 'en' | 'es' | 'fr' | 'de' | 'pt' | 'hi' | 'ar';

/** A language the pages speak. */
export interface Language {
  readonly code: LanguageCode;
  readonly direction: 'ltr' | 'rtl';
  /** For `Intl`. Digits are 0 to 9 in all of them: amounts have to look as they do at the provider. */
  readonly locale: string;
  readonly words: Words;
}

export const english: Language = { code: 'en', direction: 'ltr', locale: 'en', words: en };

/** All of them, in the order in which they are offered. */
export const languages: readonly Language[] = [
  english,
  { code: 'es', direction: 'ltr', locale: 'es', words: es },
  { code: 'fr', direction: 'ltr', locale: 'fr', words: fr },
  { code: 'de', direction: 'ltr', locale: 'de', words: de },
  { code: 'pt', direction: 'ltr', locale: 'pt-BR', words: pt },
  { code: 'hi', direction: 'ltr', locale: 'hi-u-nu-latn', words: hi },
  { code: 'ar', direction: 'rtl', locale: 'ar-u-nu-latn', words: ar },
];

/** The language of a code that was kept, or English. */
export function languageNamed(code: string | null): Language {
  return byCode.get(code ?? '') ?? english;
}

const byCode = new Map<string, Language>(languages.map((language) => [language.code, language]));

/** In which the customer's choice of a language is kept. */
export const LANGUAGE_COOKIE = 'language';
/** More of Accept-Language than that nobody needs. */
const LONGEST_ACCEPT_LANGUAGE = 200;

/** The language a visitor has just chosen by a link (`?lang=de`), or null. */
export function chosenLanguage(query: unknown): Language | null {
  const code = (query as Readonly<Record<string, unknown>> | null | undefined)?.['lang'];
  return typeof code === 'string' ? (byCode.get(code) ?? null) : null;
}

/** The language to answer in: the one chosen now, the one chosen before, the browser's first that we speak, English. */
export function languageOf(request: {
  readonly query: unknown;
  readonly headers: IncomingHttpHeaders;
}): Language {
  return (
    chosenLanguage(request.query) ??
    rememberedLanguage(request.headers.cookie) ??
    acceptedLanguage(request.headers['accept-language']) ??
    english
  );
}

const cookiePattern = new RegExp(`(?:^|;\\s*)${LANGUAGE_COOKIE}=(\\w{2})(?:;|$)`);

function rememberedLanguage(cookies: string | undefined): Language | null {
  if (cookies === undefined) return null;
  return byCode.get(cookiePattern.exec(cookies)?.[1] ?? '') ?? null;
}

function acceptedLanguage(header: string | undefined): Language | null {
  if (header === undefined) return null;
  let best: Language | null = null;
  let bestWeight = 0;
  for (const entry of header.slice(0, LONGEST_ACCEPT_LANGUAGE).split(',')) {
    const [, code, weight = '1'] =
      /^\s*([a-z]{2})(?:-[\w-]*)?\s*(?:;\s*q=(\d(?:\.\d+)?)\s*)?$/i.exec(entry) ?? [];
    const language = byCode.get(code?.toLowerCase() ?? '');
    if (language === undefined || Number(weight) <= bestWeight) continue;
    best = language;
    bestWeight = Number(weight);
  }
  return best;
}
