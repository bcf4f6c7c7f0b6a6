import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ServiceError } from './errors.ts';
import {
  MAXIMUM_LOGO_BYTES,
  parseName,
  parseReturnUrl,
  parseShopLogo,
  parseSupportUrl,
  parseTermsUrl,
  parseTimeZone,
  returnUrlOf,
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

describe('the terms link', () => {
  it('is an https address', () => {
    expect(parseTermsUrl(' https://shop.example/terms ')).toBe('https://shop.example/terms');
    expect(parseTermsUrl('')).toBeNull();
    for (const text of ['http://shop.example', 'help@shop.example', 'javascript:alert(1)'])
      expect(() => parseTermsUrl(text)).toThrow(/^terms-link must/);
  });
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

/** The beginning of a PNG of this size. */
function png(width: number, height: number): Buffer {
  const bytes = Buffer.alloc(64);
  bytes.write('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1');
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
}

function jpeg(width: number, height: number): Buffer {
  const bytes = Buffer.alloc(64);
  bytes.write('\xff\xd8\xff\xe0\0\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0\xff\xc0\0\x11\x08', 'latin1');
  bytes.writeUInt16BE(height, 25);
  bytes.writeUInt16BE(width, 27);
  return bytes;
}

function webp(width: number, height: number): Buffer {
  const bytes = Buffer.alloc(64);
  bytes.write('RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0', 'latin1');
  bytes.writeUIntLE(width - 1, 24, 3);
  bytes.writeUIntLE(height - 1, 27, 3);
  return bytes;
}

describe('a logo', () => {
  it.each([
    ['image/png', png(120, 40)],
    ['image/jpeg', jpeg(1024, 1024)],
    ['image/webp', webp(300, 100)],
  ])('may be %s, and is named by its bytes', (type, bytes) => {
    const logo = parseShopLogo(bytes);
    expect(logo).toEqual({ type, bytes, hash: expect.stringMatching(/^[0-9a-f]{32}$/) });
    expect(parseShopLogo(Buffer.concat([bytes, Buffer.of(1)])).hash).not.toBe(logo.hash);
  });

  it.each([
    ['nothing', Buffer.alloc(0)],
    [
      'an SVG, which can hold a script',
      Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'),
    ],
    ['a page', Buffer.from('<!doctype html><script>alert(1)</script>')],
    ['a GIF', Buffer.from('GIF89a\x01\0\x01\0', 'latin1')],
    ['a PNG without a size', png(0, 40)],
    ['a PNG that stops too early', png(40, 40).subarray(0, 18)],
    ['a PNG that unfolds', png(50_000, 50_000)],
    ['a JPEG that is too wide', jpeg(1025, 10)],
    ['a WebP that is too high', webp(10, 1025)],
    ['too many bytes', Buffer.concat([png(40, 40), Buffer.alloc(MAXIMUM_LOGO_BYTES)])],
  ])('is not %s', (_, bytes) => {
    expect(() => parseShopLogo(bytes)).toThrow(/^logo must/);
  });

  it('whatever is uploaded: it is taken or refused, and nothing else happens', () => {
    const heads = [png(4, 4), jpeg(4, 4), webp(4, 4)];
    fc.assert(
      fc.property(
        fc.constantFrom(...heads),
        fc.nat(63),
        fc.uint8Array({ maxLength: 200 }),
        (head, cut, tail) => {
          try {
            parseShopLogo(Buffer.concat([head.subarray(0, cut), tail]));
          } catch (error) {
            expect(error).toBeInstanceOf(ServiceError);
          }
        },
      ),
    );
  });
});
