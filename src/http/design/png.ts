import { promisify } from 'node:util';
import { crc32, deflate } from 'node:zlib';

const compress = promisify(deflate);
const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const BYTES_PER_PIXEL = 4;

/** Pixels (red, green, blue, alpha; rows from the top) as a PNG. What takes long happens beside the event loop. */
export async function encodePng(pixels: Uint8Array, width: number, height: number): Promise<Buffer> {
  const rowBytes = width * BYTES_PER_PIXEL;
  // Each row begins with its filter: none.
  const rows = Buffer.alloc(height * (rowBytes + 1));
  for (let row = 0; row < height; row++)
    rows.set(pixels.subarray(row * rowBytes, (row + 1) * rowBytes), row * (rowBytes + 1) + 1);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // Eight bits for each of four channels, no interlacing.
  header.set([8, 6, 0, 0, 0], 8);
  const data = await compress(rows, { level: 6 });
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('IDAT', data),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(named), 4);
  return Buffer.concat([frame.subarray(0, 4), named, frame.subarray(4)]);
}
