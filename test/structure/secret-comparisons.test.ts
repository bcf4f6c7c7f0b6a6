import { expect, it } from 'vitest';
import { projectFiles } from './project-files.ts';
import { secretComparisons } from './secret-comparisons.ts';

it('compares nothing that is named like a secret in a time that depends on it', () => {
  const files = projectFiles(/^(src|sandbox|sdk)\/.*(?<!\.test)\.ts$/);
  expect(files.length).toBeGreaterThan(100);
  expect(files.flatMap(secretComparisons)).toEqual([]);
});

const found = (code: string) => secretComparisons({ path: 'a.ts', text: code }).length;

it.each([
  'if (mac === given) open();',
  'if (given !== expectedMac) throw error;',
  'const isKnown = key.secretKey == given;',
  'const isKnown = stored.keyHash === hashOf(key);',
  'const isSigned = signature.startsWith(given);',
  'const isSigned = Buffer.from(x).equals(signature);',
])('catches: %s', (code) => {
  expect(found(code)).toBe(1);
});
