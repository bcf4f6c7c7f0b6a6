/**
 * Makes one PNG from a picture or an SVG on standard input. `pictures.ts` starts it with limits on memory and time.
 * Plain JavaScript: Node strips types with WebAssembly, which `--jitless` excludes.
 */
import { setPriority } from 'node:os';
import { buffer } from 'node:stream/consumers';
import sharp from 'sharp';

/** Exit code of a refusal, whose reason is on standard error. */
const refusedCode = 3;
/** Loaders of libvips; all others stay blocked. */
const loaders = {
  picture: ['VipsForeignLoadPngBuffer', 'VipsForeignLoadJpegBuffer', 'VipsForeignLoadWebpBuffer'],
  drawing: ['VipsForeignLoadSvgBuffer'],
};

/**
 * @param {Buffer} bytes
 * @param {number} maximumPixels wide and high
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
 * Reads the header alone, with the same decoder.
 * @param {Buffer} bytes
 */
async function measure(bytes) {
  return sharp(bytes, { limitInputPixels: false }).metadata();
}

/**
 * @param {string} reason
 * @returns {never}
 */
function refuse(reason) {
  process.stderr.write(reason);
  process.exit(refusedCode);
}

const [task = '', maximumPixels, fittedPixels] = process.argv.slice(2);
try {
  setPriority(10);
} catch {
  // The systemd unit does not permit a change of priority.
}
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({ operation: task === 'picture' ? loaders.picture : loaders.drawing });
const input = await buffer(process.stdin);
const png =
  task === 'picture'
    ? await encodePicture(input, Number(maximumPixels), Number(fittedPixels))
    : await sharp(input).png().toBuffer();
process.stdout.write(png);
