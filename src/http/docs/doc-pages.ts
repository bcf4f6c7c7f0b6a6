/** A page of the documentation that is served. */
export interface DocPage {
  /** Its address below `/docs/`. */
  readonly slug: string;
  /** From the project's root. */
  readonly file: string;
  readonly title: string;
  /** What it is for, in half a sentence. */
  readonly summary: string;
  readonly group: DocGroup;
}

export type DocGroup = 'Begin' | 'Integrate' | 'Look up' | 'Operate';

function page(slug: string, group: DocGroup, title: string, summary: string): DocPage {
  return { slug, file: `docs/${slug}.md`, title, summary, group };
}

/** Where the page made of the OpenAPI document is. */
export const REFERENCE_SLUG = 'reference';

const merchantPages: readonly DocPage[] = [
  page('start', 'Begin', 'Ten-minute start', 'from a clone to a paid order and a verified webhook'),
  page('concepts', 'Begin', 'Concepts', 'the few words everything else is said in'),
  page('api', 'Integrate', 'The API by example', 'both operations with their parameters and answers'),
  { ...page('sdk', 'Integrate', 'SDK', 'the client for the server of a shop'), file: 'sdk/README.md' },
  page('webhooks', 'Integrate', 'Webhooks', 'the five obligations of a receiver, each with code'),
  {
    ...page('examples', 'Integrate', 'Examples', 'small shops in several languages, which run'),
    file: 'examples/README.md',
  },
  page('dashboard', 'Integrate', 'Dashboard', 'keys, people and payments, for merchants'),
  page('testing', 'Integrate', 'Testing', 'what to try before the first real order'),
  page('sandbox', 'Integrate', 'The sandbox', 'test cards, simulated on-ramps, and ways to break things'),
  page('payment-lifecycle', 'Look up', 'The life of a payment', 'every state and what leads to it'),
  page('errors', 'Look up', 'Errors', 'every error, and whether a retry helps'),
  page('limits', 'Look up', 'Limits', 'every bound, and what happens beyond it'),
  page('faq', 'Look up', 'Questions', 'what merchants ask'),
  page('versioning', 'Look up', 'Versions', 'what may change, and how long before you are told'),
];

const operatorPages: readonly DocPage[] = [
  page('going-live', 'Operate', 'Going live', 'the steps, and what to read first'),
  page('operating', 'Operate', 'Operating', 'metrics, alerts, and what to do about each'),
  page('configuration', 'Operate', 'Configuration', 'every environment variable'),
  page('providers', 'Operate', 'Providers', 'which on-ramps there are, and what each needs'),
  page('command-line', 'Operate', 'Command line', 'every command'),
  page('scaling', 'Operate', 'Scaling', 'several instances, and what grows with what'),
  page('reliability', 'Operate', 'Reliability', 'what is promised, and how it is shown'),
  page('threat-model', 'Operate', 'Threat model', 'who could do what'),
];

/** For merchants everywhere; what is written for operators where the reader is one: in the sandbox. */
export function docPagesFor({ isSandbox }: { readonly isSandbox: boolean }): readonly DocPage[] {
  return isSandbox ? [...merchantPages, ...operatorPages] : merchantPages;
}
