import { parseEnv } from 'node:util';
import { expect, it } from 'vitest';
import { findAmbiguous } from './environment-file.ts';

it.each([
  'SECRET_KEY=abc',
  '# a comment, with $ and "quotes"',
  'MAIL_FROM=Shop <pay@example.com>',
  "DATABASE_URL='postgres://u:p$w#x@h/db'",
  'POLYGON_RPC_URL="https://a.example/#1,https://b.example"',
  'EMPTY=',
  '  PORT= 3000  ',
])('takes %s, which every reader of .env takes alike', (line) => {
  expect(findAmbiguous(`${line}\n`)).toEqual([]);
});

it.each([
  ['A=x#y', 'x'],
  ['A=x # comment', 'x'],
  ["A='x' # comment", 'x'],
  ['A=p$w', 'p$w'],
  ['A="p$w"', 'p$w'],
  ["A=it's", "it's"],
  ['A=`x`', 'x'],
  ['A="a\\nb"', 'a\nb'],
  ['A=C:\\x', 'C:\\x'],
  ['A=abc#def\u2028', 'abc'],
  ['A="first\nsecond"', 'first\nsecond'],
])('refuses %j, which Node alone reads as %j, by line and name', (text, byNode) => {
  expect(parseEnv(text)['A']).toBe(byNode);
  const [problem] = findAmbiguous(`# first\n${text}`);
  expect(problem).toMatch(/^\.env, line 2 \(A\): Node, systemd and docker read this value differently\./);
  expect(problem).not.toContain(byNode);
});

it.each(['export A=secret', 'A =secret', '=A=secret', 'A-B=secret', 'secret'])(
  'refuses %s, which systemd ignores',
  (line) => {
    expect(findAmbiguous(line)).toEqual([expect.stringMatching(/write name=value, without export/)]);
  },
);

it('refuses a byte order mark, which hides the first variable from Node', () => {
  expect(parseEnv('\ufeffA=x')['A']).toBeUndefined();
  expect(findAmbiguous('\ufeffA=x\nB=y')).toEqual([expect.stringMatching(/byte order mark/)]);
});
