import { describe, expect, it } from 'vitest';
import { apiDescription } from '../src/app/features.ts';
import { documents, sorted } from '../test/docs/markdown.ts';
import { listCommands } from './docs-commands.ts';
import { errorAdvice } from './docs-errors.ts';

describe('the command line', () => {
  const commands = new Map(listCommands().map(({ name, command }) => [name, command]));
  it('is called rightly in every example of every document', () => {
    const calls = documents.flatMap(({ path, text }) =>
      [...text.matchAll(/(?:npx card-checkout|bin\/card-checkout\.js|`card-checkout) ([a-z][^`\n#]*)/g)].map(
        ([, call]) => ({ path, words: (call ?? '').trim().split(/\s+/) }),
      ),
    );
    expect(calls.length).toBeGreaterThan(25);
    for (const { path, words } of calls) {
      const name = [3, 2, 1]
        .map((count) => words.slice(0, count).join(' '))
        .find((each) => commands.has(each));
      expect(name, `${path}: ${words.join(' ')}`).toBeDefined();
      const flags = words.filter((word) => word.startsWith('--'));
      const known = commands.get(name ?? '')?.options.map(({ long }) => long);
      expect(known, `${path}: ${words.join(' ')}`).toEqual(expect.arrayContaining(flags));
    }
  });
});

it('the OpenAPI document names for its operations just the errors that the error table has for the API', () => {
  const used = new Set(apiDescription.operations.flatMap(({ errors }) => errors.map(({ name }) => name)));
  // Of everywhere else, and of paths and methods that are no operation.
  const elsewhere = ['not_found', 'method_not_allowed'];
  const ofTheApi = (Object.keys(errorAdvice) as (keyof typeof errorAdvice)[]).filter(
    (name) => /API|everywhere/.test(errorAdvice[name].where) && !elsewhere.includes(name),
  );
  expect(sorted([...used])).toEqual(sorted(ofTheApi));
});
