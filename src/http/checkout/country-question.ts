import type { Payment } from '../../domain/payment.ts';
import type { ProviderId } from '../../domain/provider-catalogue.ts';
import { type Html, html, nothing } from '../design/html.ts';
import { fillIn } from './fill-in.ts';
import { emailTokenField } from './known-email.ts';
import { type Language, type LanguageCode, languages } from './languages.ts';
import { visitPath } from './selector.ts';
import { nameOf } from './state-words.ts';

/** ISO 3166-1 alpha-2, all of them: which ones a provider serves it says itself. */
const countries =
  'AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW'.split(
    ' ',
  );
const known: ReadonlySet<string> = new Set(countries);

/** The country of a form's body, or null where it names none. */
export function countryOfForm(body: unknown): string | null {
  const country = body instanceof URLSearchParams ? body.get('country') : null;
  return country !== null && known.has(country) ? country : null;
}

/** Where the customer lives, to be asked for a provider that starts no session before it knows. */
export interface CountryQuestion {
  readonly provider: ProviderId;
  /** What was answered before; null where nothing was. */
  readonly chosen: string | null;
}

/** Asks it, and goes on to the provider. */
export function countryQuestion(
  payment: Payment,
  { provider, chosen }: CountryQuestion,
  { language, emailToken }: { readonly language: Language; readonly emailToken: string | null },
): Html {
  const { offers, actions } = language.words;
  const name = nameOf(provider);
  return html`<form class="ask" method="post" action="${visitPath(payment, provider)}">${emailTokenField(emailToken)}<div class="field"><label for="country">${offers.country}</label>
<select id="country" name="country" required autocomplete="country" aria-describedby="country-hint"><option value="">${offers.noneChosen}</option>${chosenOption(chosen, language)}${optionsIn(language)}</select>
<p class="hint" id="country-hint">${fillIn(offers.countryHint, { provider: name })}</p></div>
<button class="button primary wide" type="submit" data-provider="${name}"><span>${fillIn(actions.continueTo, { provider: name })}</span></button></form>`;
}

/** A copy of it on top of the list, which is made once for all visitors. */
function chosenOption(country: string | null, { locale }: Language): Html {
  if (country === null) return nothing;
  const name = new Intl.DisplayNames(locale, { type: 'region' }).of(country) ?? country;
  return html`<option value="${country}" selected>${name}</option>`;
}

/** Made when first asked for, because few are. */
const optionsByLanguage = new Map<LanguageCode, Html>();

function optionsIn({ code, locale }: Language): Html {
  const made = optionsByLanguage.get(code);
  if (made !== undefined) return made;
  const names = new Intl.DisplayNames(locale, { type: 'region' });
  const { compare } = new Intl.Collator(locale);
  const options = countries
    .map((country) => ({ country, name: names.of(country) ?? country }))
    .sort((a, b) => compare(a.name, b.name))
    .map(({ country, name }) => html`<option value="${country}">${name}</option>`);
  const joined = html`${options}`;
  if (optionsByLanguage.size < languages.length) optionsByLanguage.set(code, joined);
  return joined;
}
