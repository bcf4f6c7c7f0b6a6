import { expect, it } from 'vitest';
import { html, newNonce, nothing } from './html.ts';

const hostile = `<script>alert("1")</script>&'`;

it('escapes text and numbers wherever they are inserted', () => {
  expect(`${html`<p title="${hostile}">${hostile}${3}</p>`}`).toBe(
    '<p title="&#60;script&#62;alert(&#34;1&#34;)&#60;/script&#62;&#38;&#39;">&#60;script&#62;alert(&#34;1&#34;)&#60;/script&#62;&#38;&#39;3</p>',
  );
});

it('leaves markup as it was written, alone and in lists, and escapes once only', () => {
  const item = html`<li>${'a & b'}</li>`;
  expect(`${html`<ul>${item}${[item, item]}${nothing}${null}</ul>`}`).toBe(
    '<ul><li>a &#38; b</li><li>a &#38; b</li><li>a &#38; b</li></ul>',
  );
});

it('takes text that looks like markup for text', () => {
  expect(`${html`${`${html`<b></b>`}`}`}`).toBe('&#60;b&#62;&#60;/b&#62;');
});

it('takes an exclamation mark before an insertion for text, which to ghtml would switch the escaping off', () => {
  const literals = Object.assign(['Hi!', ''], { raw: ['Hi!', ''] });
  expect(`${html(literals, '<b>')}`).toBe('Hi!&#60;b&#62;');
});

it('makes nonces of 144 bits that differ', () => {
  const nonces = Array.from({ length: 1_000 }, newNonce);
  for (const nonce of nonces) expect(nonce).toMatch(/^[A-Za-z0-9_-]{24}$/);
  expect(new Set(nonces).size).toBe(nonces.length);
});
