import type { Language } from '../../web/checkout-layout/languages.ts';
import { type Html, html, nothing } from '../../web/design/html.ts';

/** Id of the form of all provider buttons. It is outside the updated parts, so it keeps the visitor's token. */
export const SESSION_FORM = 'provider-session';

/** ISO 3166-1 alpha-2 codes, except AQ, BV, GS, HM, IO, TF and UM, which have no permanent residents. */
const countries = (
  'AD AE AF AG AI AL AM AO AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BW BY BZ CA CC CD CF ' +
  'CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH ' +
  'GI GL GM GN GP GQ GR GT GU GW GY HK HN HR HT HU ID IE IL IM IN IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW ' +
  'KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG ' +
  'NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN ' +
  'SO SR SS ST SV SX SY SZ TC TD TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW'
).split(' ');
const known: ReadonlySet<string> = new Set(countries);

export function countryOfForm(body: unknown): string | null {
  return knownCountry(body instanceof URLSearchParams ? body.get('country') : null);
}

export function knownCountry(code: string | null): string | null {
  return code !== null && known.has(code) ? code : null;
}

/** Renders the field for the customer's country, which every button submits. Required if every button needs it. */
export function countryField(
  { words, locale }: Language,
  country: string | null,
  isRequired: boolean,
  reason: Html | null = null,
): Html {
  const { offers } = words;
  const hint = reason === null ? nothing : html` <small id="country-reason">${reason}</small>`;
  return html`<p class="country"><label for="country">${offers.country}</label>${hint}
<select id="country" name="country" form="${SESSION_FORM}" autocomplete="country" aria-describedby="country-reason"${isRequired ? html` required` : nothing}>
<option value="">${offers.noneChosen}${optionsIn(locale, country)}</select></p>`;
}

export function countryName({ locale }: Language, country: string): string {
  return new Intl.DisplayNames(locale, { type: 'region' }).of(country) ?? country;
}

/** Countries by name for each language, cached because sorting them is slow. */
const sorted = new Map<string, readonly { readonly country: string; readonly name: string }[]>();

function optionsIn(locale: string, chosen: string | null): Html[] {
  const names = new Intl.DisplayNames(locale, { type: 'region' });
  const { compare } = new Intl.Collator(locale);
  const options =
    sorted.get(locale) ??
    countries
      .map((country) => ({ country, name: names.of(country) ?? country }))
      .sort((a, b) => compare(a.name, b.name));
  sorted.set(locale, options);
  // Omits the optional end tags to shorten the long list.
  return options.map(
    ({ country, name }) =>
      html`<option value="${country}"${country === chosen ? html` selected` : nothing}>${name}`,
  );
}
