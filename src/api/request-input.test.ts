import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseQuery } from './request-input.ts';

it('reads whatever was encoded properly', () => {
  const text = fc.string({ unit: 'binary', maxLength: 50 }).map((value) => value.toWellFormed());
  const anyParameters = fc.dictionary(text, text).map((fields) => Object.entries(fields));
  fc.assert(
    fc.property(anyParameters, (pairs) => {
      const parameters = pairs.filter(([name]) => name !== '__proto__');
      const url = `/x?${parameters.map((pair) => pair.map(encodeURIComponent).join('=')).join('&')}`;
      // An empty name with an empty value is written as "=", which parses as a parameter.
      expect(Object.entries(parseQuery(url)).sort()).toEqual(parameters.sort());
    }),
  );
});

it.each([
  ['/x', {}],
  ['/x?', {}],
  ['/x?&&', {}],
  ['/x?a', { a: '' }],
  ['/x?a=', { a: '' }],
  ['/x?a=b=c', { a: 'b=c' }],
  ['/x?a=b+c%2Bd', { a: 'b c+d' }],
  ['/x?constructor=1&toString=2', { constructor: '1', toString: '2' }],
  ['/x?a=1?b=2', { a: '1?b=2' }],
])('reads %s', (url, parameters) => {
  expect({ ...parseQuery(url) }).toEqual(parameters);
});
