/**
 * Short forms of the scripts that README and CONTRIBUTING name: `npm run test:all` runs each once, so that none drifts away
 * from the code unnoticed. Null where a step of the check runs the script itself.
 */
export const shortForms: Readonly<Record<string, readonly string[] | null>> = {
  start: null,
  test: null,
  'test:all': null,
  format: null,
  docs: null,
  contracts: null,
  campaign: null,
  drills: null,
  interop: null,
  bench: ['--short'],
  'fresh-clone': ['--short'],
  mutation: ['src/payment/fees-and-paid-threshold.ts'],
  pictures: ['--short'],
  shape: [],
};
