import { deflateSync } from 'node:zlib';
import sharp, { type Sharp } from 'sharp';
import { describe, expect, it } from 'vitest';
import { blankPng, jpegBomb, onePixel } from '../../test/support/pictures.ts';
import { createPictures, PictureRefusedError, PicturesBusyError } from './pictures.ts';

const pictures = createPictures();
const encode = (bytes: Uint8Array) => pictures.encode('shop', bytes, 1_024, 320);
const red = { width: 200, height: 100, channels: 3, background: '#e00000' } as const;
const drawn = (finish: (picture: Sharp) => Sharp) => finish(sharp({ create: red })).toBuffer();
const unfolding = deflateSync(Buffer.alloc(40_000_000), { level: 9 });

describe('an uploaded picture', () => {
  it.each<[string, () => Buffer | Promise<Buffer>, number, number]>([
    [
      'a PNG of 16 bits, interlaced',
      () => drawn((it) => it.toColourspace('rgb16').png({ progressive: true })),
      200,
      100,
    ],
    ['a JPEG for print', () => drawn((it) => it.toColourspace('cmyk').jpeg({ progressive: true })), 200, 100],
    [
      'a JPEG that is to be turned',
      () => drawn((it) => it.jpeg().withMetadata({ orientation: 6 })),
      100,
      200,
    ],
    ['a WebP', () => drawn((it) => it.webp()), 200, 100],
    ['a large PNG', () => blankPng(1_024, 512), 320, 160],
    [
      'a PNG with a text that unfolds',
      () => blankPng(4, 4, [['zTXt', Buffer.concat([Buffer.from('a\0\0'), unfolding])]]),
      4,
      4,
    ],
  ])('may be %s and becomes a small PNG', async (_, bytes, width, height) => {
    const png = await encode(await bytes());
    expect(await sharp(png).metadata()).toMatchObject({ format: 'png', width, height });
    expect(png.length).toBeLessThan(1_000);
  });

  it('keeps its colors, and loses what was appended', async () => {
    const png = await encode(Buffer.concat([await drawn((it) => it.png()), Buffer.from('<script>')]));
    expect(png.toString('latin1')).not.toContain('script');
    expect([...(await sharp(png).raw().toBuffer()).subarray(0, 3)]).toEqual([0xe0, 0, 0]);
  });

  it.each<[string, () => Buffer | Promise<Buffer>, string]>([
    [
      'a JPEG that two readers measure differently',
      () => jpegBomb(),
      'must be at most 1024 pixels wide and high',
    ],
    ['too wide', () => blankPng(1_025, 1), 'must be at most 1024 pixels wide and high'],
    [
      'cut off',
      async () => (await drawn((it) => it.jpeg())).subarray(0, -40),
      'is damaged: export it again as a PNG',
    ],
    [
      'an SVG',
      () => Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'),
      'must be a PNG, JPEG or WebP image',
    ],
    ['a GIF', () => drawn((it) => it.gif()), 'must be a PNG, JPEG or WebP image'],
    ['nothing', () => Buffer.alloc(0), 'must be a PNG, JPEG or WebP image'],
  ])('is refused if it is %s', async (_, bytes, reason) => {
    await expect(encode(await bytes())).rejects.toThrow(new PictureRefusedError(reason));
  });
});

it('a drawing that needs a gigabyte fails, and the next one succeeds', async () => {
  const drawing = (side: number) =>
    `<svg xmlns="http://www.w3.org/2000/svg" width="${side}" height="${side}"><g opacity="0.5"><rect width="9" height="9"/></g></svg>`;
  await expect(pictures.draw('shop', drawing(15_000))).rejects.toThrow();
  expect(await sharp(await pictures.draw('shop', drawing(9))).metadata()).toMatchObject({ width: 9 });
});

it('draws the letters of our languages in fonts that have them, and leaves out a letter that none has', async () => {
  const png = (text: string) =>
    pictures.draw(
      'shop',
      `<svg xmlns="http://www.w3.org/2000/svg" width="90" height="30"><text y="20" font-family="Inter">${text}</text></svg>`,
    );
  expect(await png('한국 𓀀🥐')).toEqual(await png(' '));
  const empty = await png('');
  const drawn = [];
  for (const text of ['Aé', 'م', 'क', '京', '\u{10ffff}A']) drawn.push(await png(text));
  for (const picture of drawn) expect(picture.equals(empty)).toBe(false);
  expect(drawn.at(-1)).toEqual(await png('A'));
});

it('takes one picture of each owner and six in all at a time', async () => {
  const busy = createPictures();
  const owners = ['a', 'b', 'c', 'd', 'e', 'f'];
  const made = owners.map((owner) => busy.encode(owner, onePixel, 1_024, 320));
  for (const owner of ['a', 'g'])
    await expect(busy.encode(owner, onePixel, 1_024, 320)).rejects.toThrow(PicturesBusyError);
  expect(await Promise.all(made)).toHaveLength(6);
  expect(await busy.encode('a', onePixel, 1_024, 320)).toEqual(await made[0]);
});
