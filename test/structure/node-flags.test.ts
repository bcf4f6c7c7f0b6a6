import { expect, it } from 'vitest';
import { read } from '../docs/markdown.ts';

it('Node is told the same by npm start, by the command that hands over to it, and in the image', () => {
  const flagsIn = (path: string) => read(path).match(/--max-[\w-]+=\d+/g);
  const flags = flagsIn('package.json');
  expect(flags).toHaveLength(1);
  expect(flagsIn('bin/card-checkout.js')).toEqual(flags);
  expect(flagsIn('Dockerfile')).toEqual(flags);
});
