import { crc32, deflateSync } from 'node:zlib';

/** The smallest PNG: one transparent pixel. */
export const onePixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);

/**
 * A JPEG of 49 KB with a fill byte in front of its frame header. A reader that takes what follows for a length finds a
 * header of 100 by 100 pixels further on; a decoder unfolds 20,000 by 20,000.
 */
export function jpegBomb(side = 20_000): Buffer {
  const segment = (marker: number, body: readonly number[]) =>
    Buffer.of(0xff, marker, (body.length + 2) >> 8, (body.length + 2) & 255, ...body);
  const sizeOf = (pixels: number) => [pixels >> 8, pixels & 255];
  const frame = (pixels: number) => segment(0xc0, [8, ...sizeOf(pixels), ...sizeOf(pixels), 1, 1, 0x11, 0]);
  const codes = (table: number) => segment(0xc4, [table, 1, ...Array<number>(15).fill(0), 0]);
  const head = Buffer.concat([
    Buffer.of(0xff, 0xd8),
    segment(0xdb, [0, ...Array<number>(64).fill(1)]),
    Buffer.of(0xff),
  ]);
  const tail = [codes(0), codes(0x10), segment(0xda, [1, 1, 0, 0, 63, 0]), Buffer.of(0, 0xff, 0xd9)];
  const bytes = Buffer.alloc(head.length + 1 + 0xc000 + 20);
  Buffer.concat([head, frame(side), ...tail]).copy(bytes);
  frame(100).copy(bytes, head.length + 1 + 0xc000);
  return bytes;
}

/** A PNG of transparent pixels, with further chunks before them. */
export function blankPng(width: number, height: number, chunks: readonly (readonly [string, Buffer])[] = []) {
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 6, 0, 0, 0]);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  const pixels = deflateSync(Buffer.alloc((width * 4 + 1) * height));
  const all = [['IHDR', header], ...chunks, ['IDAT', pixels], ['IEND', Buffer.alloc(0)]] as const;
  const encoded = all.flatMap(([name, data]) => {
    const named = Buffer.concat([Buffer.from(name), data]);
    const numbers = [data.length, crc32(named)].map((number) => {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32BE(number);
      return bytes;
    });
    return [numbers[0] as Buffer, named, numbers[1] as Buffer];
  });
  return Buffer.concat([onePixel.subarray(0, 8), ...encoded]);
}
