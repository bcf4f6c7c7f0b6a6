import fc from 'fast-check';
import { expect, it } from 'vitest';
import { redactJson, redactText } from './redact.ts';

it('removes query strings, email and IP addresses, keys and tokens, and keeps wallets and words', () => {
  const wallet = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
  const text = `banxa answered 422 for ada@shop.example at 203.0.113.7 and 2001:db8::1 with sk_live_0123456789abcdefgh:
https://user:pass@api.example.com/v2/buy?apiKey=pk_1&signature=x#f to ${wallet}, simple_full_restrict`;
  expect(redactText(text)).toBe(`banxa answered 422 for <email> at <ip> and <ip> with <removed>:
https://api.example.com/v2/buy to ${wallet}, simple_full_restrict`);
});

it('removes what sensitive keys hold, at any depth', () => {
  const answer = {
    accessToken: 'short',
    customer: [{ email: 'a@b.example', ip: '10.0.0.1', country: 'DE', amount: 20.5, note: null }],
  };
  expect(redactJson(answer)).toEqual({
    accessToken: '<removed>',
    customer: [{ email: '<removed>', ip: '<removed>', country: 'DE', amount: 20.5, note: null }],
  });
});

it('removes ids that happen to have no digit', () => {
  expect(redactText('session kXbQwErTyUiOpAsDfGhJk is gone')).toBe('session <removed> is gone');
  expect(redactJson({ session_id: 'abcdefghijklmnopqrstu' })).toEqual({ session_id: '<removed>' });
});

it('leaves no query of a URL and no long key, whatever surrounds them', () => {
  const secret = fc.stringMatching(/^[a-z0-9]{22,40}$/).filter((text) => /\d/.test(text));
  fc.assert(
    fc.property(secret, fc.string({ maxLength: 10 }), (key, around) => {
      for (const text of [`${around} ${key} ${around}`, `https://a.example/p?x=${key}`, `"${key}"`])
        expect(redactText(text)).not.toContain(key);
    }),
  );
});
