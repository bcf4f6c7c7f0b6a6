import { describe, expect, it } from 'vitest';
import {
  parseName,
  parseReturnUrl,
  parseSupportUrl,
  parseTimeZone,
  returnUrlOf,
  textSettings,
} from './shop-profile.ts';

describe('the name of a shop', () => {
  it('is kept without the blanks around it', () => {
    expect(parseName('  Café Ñandú 茶  ')).toBe('Café Ñandú 茶');
  });

  it.each(['', '   ', 'x'.repeat(101), 'a\u0000b', 'a\nb', '\u202emoc.knab', 'half \ud800'])(
    'is not %j',
    (name) => {
      expect(() => parseName(name)).toThrow(/^name must/);
    },
  );
});

describe('the support link', () => {
  it.each([
    ['', null],
    ['https://shop.example/help?a=1#top', 'https://shop.example/help?a=1#top'],
    ['help@shop.example', 'mailto:help@shop.example'],
    ['MAILTO:help@shop.example', 'mailto:help@shop.example'],
    ['http://localhost:4000/help', 'http://localhost:4000/help'],
  ])('may be %j', (text, link) => expect(parseSupportUrl(text)).toBe(link));

  it.each([
    'http://shop.example/help',
    'javascript:alert(1)',
    'data:text/html,x',
    'mailto:a@b.example?bcc=c@d.example',
    'mailto:a%0ab@c.example',
    'https://user:secret@shop.example/',
    'https://user:secret@shop.example',
    'https://help@shop.example',
    'mailto:user:secret@shop.example',
    `https://shop.example/${'x'.repeat(500)}`,
    'shop.example',
    'tel:+491234',
  ])('is not %j', (text) => expect(() => parseSupportUrl(text)).toThrow(/^support-link must/));
});

it('the terms link is an https address', () => {
  const parse = (text: string) => textSettings['terms-link'](text).termsUrl;
  expect(parse(' https://shop.example/terms ')).toBe('https://shop.example/terms');
  expect(parse('')).toBeNull();
  for (const text of ['http://shop.example', 'help@shop.example', 'javascript:alert(1)'])
    expect(() => parse(text)).toThrow(/^terms-link must/);
});

describe('the return link', () => {
  const parse = (text: string) => parseReturnUrl(text, 'return-link');

  it('is an https address', () => {
    expect(parse('https://shop.example/thanks')).toBe('https://shop.example/thanks');
    expect(parse(' ')).toBeNull();
    expect(() => parse('help@shop.example')).toThrow(/^return-link must/);
    expect(() => parse('//shop.example')).toThrow(/^return-link must/);
    expect(() => parseReturnUrl('//shop.example', 'failure-link')).toThrow(/^failure-link must/);
  });

  it('carries the id of the payment in path and query', () => {
    const link = parse('https://shop.example/orders/{payment_id}?id={payment_id}#x');
    expect(link).toBe('https://shop.example/orders/{payment_id}?id={payment_id}#x');
    expect(returnUrlOf(link as string, 'abc')).toBe('https://shop.example/orders/abc?id=abc#x');
  });

  it.each([
    'https://{payment_id}.shop.example/',
    'https://shop.example{payment_id}/',
    'https://shop.example/?to={email}',
    'https://shop.example/{note}',
    'https://shop.example/{payment_id',
    'https://{payment_id}@shop.example/',
  ])('has a fixed host and no other placeholder: %j', (text) => {
    expect(() => parse(text)).toThrow(/^return-link must/);
  });
});

describe('the time zone', () => {
  it.each([
    ['', 'UTC'],
    ['europe/berlin', 'Europe/Berlin'],
    ['Asia/Kolkata', 'Asia/Calcutta'],
  ])('may be %j', (text, zone) => {
    const sameTime = (timeZone: string) => new Date(0).toLocaleString('en', { timeZone });
    expect(sameTime(parseTimeZone(text))).toBe(sameTime(zone));
  });

  it.each(['+02:00', 'Mars/Base', 'Europe/', 'x'.repeat(1000)])('is not %j', (text) =>
    expect(() => parseTimeZone(text)).toThrow(/^time-zone must/),
  );
});
