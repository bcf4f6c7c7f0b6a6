import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inflateSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import type { Payment } from '../../src/domain/payment.ts';
import { shortCodeOf } from '../../src/domain/payment-id.ts';
import { createPreviewDrawer, previewDrawing } from '../../src/http/checkout/preview-picture.ts';
import {
  createCheckoutPages,
  pagePayment,
  pageView,
  shopAccount,
  shopLogo,
} from '../support/checkout-pages.ts';

const pages = createCheckoutPages({ account: { name: 'Café <Tortuga> & Söhne' } });
afterAll(() => pages.server.close());

const drawingOf = (change: Partial<Payment> = {}, name = 'Café Tortuga') =>
  previewDrawing({ payment: pagePayment(change), account: { ...shopAccount, name } });

/** Width, height and the colors that there are in a PNG of four channels without interlacing. */
function readPng(png: Buffer) {
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
  expect([...png.subarray(24, 29)]).toEqual([8, 6, 0, 0, 0]);
  const data: Buffer[] = [];
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at))
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT')
      data.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)));
  const rows = inflateSync(Buffer.concat(data));
  const rowBytes = width * 4;
  const colors = new Set<number>();
  let above: Buffer = Buffer.alloc(rowBytes);
  for (let row = 0; row < height; row++) {
    const start = row * (rowBytes + 1);
    const line = unfiltered(rows[start] ?? 0, rows.subarray(start + 1, start + 1 + rowBytes), above);
    for (let column = 0; column < rowBytes; column += 4) colors.add(line.readUInt32BE(column));
    above = line;
  }
  return { width, height, colors };
}

/** A row without its filter (PNG, 9.2). */
function unfiltered(filter: number, bytes: Buffer, above: Buffer): Buffer {
  const line = Buffer.from(bytes);
  for (let at = 0; at < line.length; at++) {
    const [left = 0, up = 0, corner = 0] = [line[at - 4], above[at], above[at - 4]];
    const estimate = left + up - corner;
    const nearest = [left, up, corner].toSorted((a, b) => Math.abs(estimate - a) - Math.abs(estimate - b));
    const predicted = [0, left, up, (left + up) >> 1, nearest[0] ?? 0][filter] ?? 0;
    line[at] = (line[at] ?? 0) + predicted;
  }
  return line;
}

describe('the picture of a short link', () => {
  it('is a PNG with letters in it, which others may show and keep', async () => {
    const id = pages.put(pageView(pagePayment({ note: 'Table 4, two cakes <b>&amp;</b>' })));
    const answer = await pages.server.inject({ url: `/s/${shortCodeOf(id)}/preview.png` });
    expect(answer.statusCode).toBe(200);
    expect(answer.headers).toMatchObject({
      'content-type': 'image/png',
      'cache-control': 'public, max-age=3600',
      'cross-origin-resource-policy': 'cross-origin',
    });
    const { width, height, colors } = readPng(answer.rawPayload);
    expect([width, height]).toEqual([1_200, 630]);
    // The edges of letters are smoothed, so that there are many.
    expect(colors.size).toBeGreaterThan(20);
    const folder = join(import.meta.dirname, '../../test-output/screenshots');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'preview.png'), answer.rawPayload);
  });

  it('has the color and the logo of the shop, where it has them', async () => {
    const branded = createCheckoutPages({ account: { brandColor: '#a01830', logoHash: shopLogo.hash } });
    const id = branded.put(pageView(pagePayment()));
    const answer = await branded.server.inject({ url: `/s/${shortCodeOf(id)}/preview.png` });
    await branded.server.close();
    const { colors } = readPng(answer.rawPayload);
    expect([colors.has(0xa0_18_30_ff), colors.has(0x0f_3d_33_ff)]).toEqual([true, false]);
    const account = { ...shopAccount, name: 'Café Tortuga' };
    const withLogo = (type: 'image/png' | 'image/webp') =>
      previewDrawing({ payment: pagePayment(), account }, { ...shopLogo, type });
    expect(withLogo('image/png')).toContain(
      '<image x="96" y="64" width="84" height="84" href="data:image/png;base64,',
    );
    // It cannot be drawn.
    expect(withLogo('image/webp')).not.toContain('<image');
  });

  it('is not there for a link that leads nowhere', async () => {
    expect((await pages.server.inject({ url: '/s/23456789abcdefgh/preview.png' })).statusCode).toBe(404);
  });

  it('names shop, amount and note, and nothing else of the payment', () => {
    const drawing = drawingOf({
      note: 'Table 4',
      email: 'canary@example.com',
      callbackUrl: 'https://canary',
    });
    for (const part of ['Tortuga', '26.10 USD', 'Table 4']) expect(drawing).toContain(part);
    expect(drawing).not.toContain('canary');
    expect(drawing).not.toContain(pagePayment().depositAddress);
  });

  it('takes whatever a shop is called and a note says for text, and stays small', () => {
    const hostile = `</text><image href="file:///etc/passwd"/>&x;\u0000\uD800]]>${'W'.repeat(2_000)}`;
    const drawing = drawingOf({ note: `${hostile} ${'word '.repeat(90)}` }, hostile);
    expect(drawing).not.toContain('<image');
    expect(drawing).not.toContain('\u0000');
    expect(drawing.length).toBeLessThan(4_000);
    expect(drawing.match(/<text/g)).toHaveLength(5);
  });
});

describe('drawing', () => {
  const waiting: PromiseWithResolvers<Buffer>[] = [];
  const failures: unknown[] = [];
  let nowMs = 0;
  const drawer = () =>
    createPreviewDrawer({
      monotonicMs: () => nowMs,
      onFailure: (error) => failures.push(error),
      draw: () => {
        const drawing = Promise.withResolvers<Buffer>();
        waiting.push(drawing);
        return drawing.promise;
      },
    });
  const png = Buffer.from('drawn');

  it('happens once for all who ask for the same, and gives others the plain picture meanwhile', async () => {
    waiting.length = 0;
    const draw = drawer();
    const both = [draw('one'), draw('one')];
    const other = await draw('two');
    expect(other.isPlain).toBe(true);
    expect(readPng(other.png).colors.size).toBe(2);
    expect(waiting).toHaveLength(1);
    waiting[0]?.resolve(png);
    expect(await Promise.all(both)).toEqual([
      { png, isPlain: false },
      { png, isPlain: false },
    ]);
    expect(await draw('one')).toEqual({ png, isPlain: false });
    expect(waiting).toHaveLength(1);
  });

  it('happens at most sixty times a minute', async () => {
    waiting.length = 0;
    const draw = drawer();
    const ask = async (name: string) => {
      const picture = draw(name);
      waiting.at(-1)?.resolve(png);
      return (await picture).isPlain;
    };
    for (let count = 0; count < 60; count++) expect(await ask(`${count}`)).toBe(false);
    expect(await ask('one more')).toBe(true);
    nowMs += 60_000;
    expect(await ask('one more')).toBe(false);
  });

  it('that fails is told of, and gives the plain picture', async () => {
    waiting.length = 0;
    const failing = drawer()('one');
    waiting[0]?.reject(new Error('no font'));
    expect((await failing).isPlain).toBe(true);
    expect(failures).toEqual([new Error('no font')]);
  });
});
