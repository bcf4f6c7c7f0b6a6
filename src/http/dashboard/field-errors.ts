import { ServiceError } from '../../domain/errors.ts';
import { type Html, html } from '../design/html.ts';

/** Errors of a form's fields as sentences, by the fields' names. */
export type FieldErrors = ReadonlyMap<string, string>;

/** The fields of a form: name and label, in their order. */
export type FieldLabels = Readonly<Record<string, string>>;

export const noErrors: FieldErrors = new Map();

/**
 * Runs each check, so that a page names all errors at once. A client error of a check becomes the error of its field;
 * any other error is thrown.
 */
export async function collectFieldErrors(
  checks: Readonly<Record<string, () => unknown>>,
): Promise<FieldErrors> {
  const errors = new Map<string, string>();
  for (const [name, check] of Object.entries(checks)) {
    try {
      await check();
    } catch (error) {
      if (!(error instanceof ServiceError) || error.errorName !== 'invalid_request') throw error;
      errors.set(name, sentenceOf(error.problem ?? error.message));
    }
  }
  return errors;
}

/** "must be a date" → "Must be a date."; "is no date" → "This is no date." */
function sentenceOf(problem: string): string {
  const whole = /^(?:is|has|needs) /.test(problem) ? `this ${problem}` : problem;
  const sentence = `${whole.charAt(0).toUpperCase()}${whole.slice(1)}`;
  return /[.?!]$/.test(sentence) ? sentence : `${sentence}.`;
}

/** The summary above the form: the failed action, and links to the fields by their labels. */
export function errorSummary(sentence: string, labels: FieldLabels, errors: FieldErrors): Html {
  const links = Object.entries(labels)
    .filter(([name]) => errors.has(name))
    .map(([name, label], index) => html`${index === 0 ? '' : ', '}<a href="#${name}">${label}</a>`);
  return html`<p class="banner bad" role="alert">${sentence} Check: ${links}.</p>`;
}
