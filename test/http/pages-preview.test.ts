import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { createPreviewDrawer, previewDrawing } from '../../src/pages/checkout/preview-picture.ts';
import type { Payment } from '../../src/payment/payment.ts';
import { shortCodeOf } from '../../src/payment/payment-id.ts';
import { PicturesBusyError } from '../../src/platform/pictures.ts';
import {
  createCheckoutPages,
  pagePayment,
  pageView,
  shopAccount,
  shopLogo,
} from '../support/checkout-pages.ts';

const pages = createCheckoutPages({ account: { name: 'Café <Tortuga> & Söhne' } });

const drawingOf = (change: Partial<Payment> = {}, name = 'Café Tortuga') =>
  previewDrawing({ payment: pagePayment(change), account: { ...shopAccount, name } });

async function readPng(png: Buffer) {
  const { data, info } = await sharp(png).ensureAlpha().raw().toBuffer({ resolveWithObject: true });
  const colors = new Set<number>();
  for (let at = 0; at < data.length; at += 4) colors.add(data.readUInt32BE(at));
  return { width: info.width, height: info.height, colors };
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
    const { width, height, colors } = await readPng(answer.rawPayload);
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
    const { colors } = await readPng(answer.rawPayload);
    expect([colors.has(0xa0_18_30_ff), colors.has(0x0f_3d_33_ff)]).toEqual([true, false]);
    const account = { ...shopAccount, name: 'Café Tortuga' };
    expect(previewDrawing({ payment: pagePayment(), account }, shopLogo)).toContain(
      '<image x="98" y="88" width="96" height="96" href="data:image/png;base64,',
    );
  });

  it('is not there for a link that leads nowhere', async () => {
    expect((await pages.server.inject({ url: '/s/23456789abcdefgh/preview.png' })).statusCode).toBe(404);
  });

  it('names shop, amount and order line, or else the note, and nothing else of the payment', () => {
    const drawing = drawingOf({
      orderLine: 'Table 4',
      note: 'canary',
      email: 'canary@example.com',
      callbackUrl: 'https://canary',
    });
    for (const part of ['Tortuga', '$26.10\u00a0USD', 'Table 4']) expect(drawing).toContain(part);
    expect(drawingOf({ orderLine: null, note: 'Table 5' })).toContain('Table 5');
    for (const words of ['canary', pagePayment().depositAddress]) expect(drawing).not.toContain(words);
  });

  it('takes whatever a shop is called and a note says for text, and stays small', () => {
    const hostile = `</text><image href="file:///etc/passwd"/>&x;\u0000\uD800]]>${'W'.repeat(2_000)}`;
    const drawing = drawingOf({ note: `${hostile} ${'word '.repeat(90)}` }, hostile);
    for (const words of ['<image', '\u0000']) expect(drawing).not.toContain(words);
    expect(drawing.length).toBeLessThan(4_000);
    expect(drawing.match(/<text/g)).toHaveLength(5);
  });
});

describe('drawing', () => {
  const waiting: PromiseWithResolvers<Buffer>[] = [];
  const failures: unknown[] = [];
  let nowMs = 0;
  const drawer = () => {
    waiting.length = 0;
    return createPreviewDrawer({
      monotonicMs: () => nowMs,
      onFailure: (error) => failures.push(error),
      draw: () => {
        const drawing = Promise.withResolvers<Buffer>();
        waiting.push(drawing);
        return drawing.promise;
      },
    });
  };
  const png = Buffer.from('drawn');

  it('happens once for all who ask for the same', async () => {
    const draw = drawer();
    const both = [draw('shop', 'one'), draw('shop', 'one')];
    expect(waiting).toHaveLength(1);
    waiting[0]?.resolve(png);
    expect(await Promise.all(both)).toEqual([
      { png, isPlain: false },
      { png, isPlain: false },
    ]);
    expect(await draw('shop', 'one')).toEqual({ png, isPlain: false });
    expect(waiting).toHaveLength(1);
  });

  it('happens at most ten times a minute for one account and sixty for all, and is plain beyond', async () => {
    const draw = drawer();
    const isPlain = async (account: string, drawing: string) => {
      const picture = draw(account, drawing);
      waiting.at(-1)?.resolve(png);
      return (await picture).isPlain;
    };
    for (let count = 0; count < 30; count++) expect(await isPlain('greedy', `${count}`)).toBe(count >= 10);
    for (let count = 0; count < 50; count++)
      expect(await isPlain(`shop ${count % 5}`, `other ${count}`)).toBe(false);
    expect(await isPlain('last', 'one more')).toBe(true);
    nowMs += 60_000;
    expect(await isPlain('greedy', 'one more')).toBe(false);
  });

  it('that fails is reported and gives the plain picture; that finds no place is not', async () => {
    const draw = drawer();
    const answers = [draw('shop', 'one'), draw('shop', 'two')];
    waiting[0]?.reject(new Error('no font'));
    waiting[1]?.reject(new PicturesBusyError());
    const [failed, busy] = await Promise.all(answers);
    expect([failed?.isPlain, busy?.isPlain]).toEqual([true, true]);
    expect((await readPng(failed?.png as Buffer)).colors.size).toBe(2);
    expect(failures).toEqual([new Error('no font')]);
  });
});
