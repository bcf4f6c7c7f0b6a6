/**
 * Converts a picture or an SVG on standard input to a PNG. `pictures.ts` runs this program with memory and time limits.
 * It is plain JavaScript, because Node strips types with WebAssembly, which `--jitless` disables.
 */
import { globSync, readFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import sharp from 'sharp';

/** Exit code for a refused picture. Standard error contains the reason. */
const refusedCode = 3;
/** Allowed libvips loaders by task. All others remain blocked. */
const loaders = {
  picture: ['VipsForeignLoadPngBuffer', 'VipsForeignLoadJpegBuffer', 'VipsForeignLoadWebpBuffer'],
  drawing: ['VipsForeignLoadSvgBuffer'],
};

/**
 * @param {Buffer} bytes
 * @param {number} maximumPixels maximum width and height
 * @param {number} fittedPixels size of the square that the result fits into
 */
async function encodePicture(bytes, maximumPixels, fittedPixels) {
  const { width, height } = await measure(bytes).catch(() => refuse('must be a PNG, JPEG or WebP image'));
  if (Math.max(width, height) > maximumPixels)
    refuse(`must be at most ${maximumPixels} pixels wide and high`);
  return sharp(bytes, { failOn: 'error', limitInputPixels: maximumPixels ** 2, autoOrient: true })
    .resize({ width: fittedPixels, height: fittedPixels, fit: 'inside', withoutEnlargement: true })
    .png({ palette: true })
    .toBuffer()
    .catch(() => refuse('is damaged: export it again as a PNG'));
}

/**
 * Reads only a picture's header, with the decoder that later reads the whole picture.
 * @param {Buffer} bytes
 */
async function measure(bytes) {
  return sharp(bytes, { limitInputPixels: false }).metadata();
}

/**
 * Removes characters that no font has from an SVG, because they would be drawn as boxes.
 * @param {Buffer} svg
 * @param {readonly string[]} fonts folders
 */
function withKnownCharacters(svg, fonts) {
  const text = svg.toString();
  if (!/[^\0-\x7f]/.test(text)) return svg;
  const ranges = fonts.flatMap((folder) =>
    globSync(join(folder, '*.ttf')).flatMap((file) => [...characterRanges(readFileSync(file))]),
  );
  return Buffer.from(
    text.replaceAll(/[^\0-\x7f]/gu, (character) => {
      const code = Number(character.codePointAt(0));
      return ranges.some(([first, last]) => first <= code && code <= last) ? character : '';
    }),
  );
}

/**
 * Yields the character ranges of a TrueType font, from format 12 of its `cmap` table, which all bundled fonts have.
 * @param {Buffer} font
 */
function* characterRanges(font) {
  const tables = Array.from({ length: font.readUInt16BE(4) }, (_, index) => 12 + 16 * index);
  const cmap = tables.find((at) => font.toString('latin1', at, at + 4) === 'cmap') ?? 0;
  const start = font.readUInt32BE(cmap + 8);
  for (let record = 0; record < font.readUInt16BE(start + 2); record++) {
    const table = start + font.readUInt32BE(start + 8 + 8 * record);
    if (font.readUInt16BE(table) !== 12) continue;
    for (let group = 0; group < font.readUInt32BE(table + 12); group++) {
      const at = table + 16 + 12 * group;
      yield/** @type {const} */ ([font.readUInt32BE(at), font.readUInt32BE(at + 4)]);
    }
    return;
  }
}

/**
 * @param {string} reason
 * @returns {never}
 */
function refuse(reason) {
  process.stderr.write(reason);
  process.exit(refusedCode);
}

const [task = '', ...options] = process.argv.slice(2);
try {
  setPriority(10);
} catch {
  // Ignores a refusal, because the systemd unit forbids changing the priority.
}
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({ operation: task === 'picture' ? loaders.picture : loaders.drawing });
const input = await buffer(process.stdin);
const png =
  task === 'picture'
    ? await encodePicture(input, Number(options[0]), Number(options[1]))
    : await sharp(withKnownCharacters(input, options)).png().toBuffer();
process.stdout.write(png);
