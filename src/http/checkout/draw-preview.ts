import { createRequire } from 'node:module';
import { createBriefCache } from '../../domain/brief-cache.ts';
import { encodePng } from '../design/png.ts';
import { PREVIEW_HEIGHT, PREVIEW_WIDTH } from './preview-drawing.ts';

/** A picture for a link preview: its own, or the plain one that stands in where drawing would take too much. */
export interface PreviewPicture {
  readonly png: Buffer;
  readonly isPlain: boolean;
}

export interface PreviewDrawerOptions {
  readonly monotonicMs: () => number;
  /** Told of a drawing that failed. */
  readonly onFailure: (error: unknown) => void;
  /** Draws an SVG as a PNG; the library's unless a test says otherwise. */
  readonly draw?: (svg: string) => Promise<Buffer>;
}

export type DrawPreview = (svg: string) => Promise<PreviewPicture>;

const KEEP_MS = 60 * 60_000;
const MAXIMUM_KEPT_PICTURES = 100;
const MINUTE_MS = 60_000;
const MAXIMUM_DRAWINGS_PER_MINUTE = 60;

/** There is another picture being drawn, or there were too many. */
class BusyError extends Error {
  override readonly name = 'BusyError';
}

/**
 * Draws previews one at a time and beside the event loop, at most sixty a minute, and keeps the last hundred. Whoever
 * asks for another meanwhile is given the plain picture at once: nothing here may slow anything else. Never rejects.
 */
export function createPreviewDrawer(options: PreviewDrawerOptions): DrawPreview {
  const { monotonicMs, onFailure, draw = drawWithLibrary } = options;
  const reuse = createBriefCache<Buffer>({
    monotonicMs,
    keepMs: KEEP_MS,
    maximumEntries: MAXIMUM_KEPT_PICTURES,
  });
  let isDrawing = false;
  let minuteEndsAtMs = Number.NEGATIVE_INFINITY;
  let drawings = 0;
  let plain: Promise<Buffer> | null = null;

  async function drawOne(svg: string): Promise<Buffer> {
    if (monotonicMs() >= minuteEndsAtMs) {
      minuteEndsAtMs = monotonicMs() + MINUTE_MS;
      drawings = 0;
    }
    if (isDrawing || drawings >= MAXIMUM_DRAWINGS_PER_MINUTE) throw new BusyError();
    isDrawing = true;
    drawings++;
    return draw(svg).finally(() => {
      isDrawing = false;
    });
  }

  return async (svg) => {
    try {
      return { png: await reuse(svg, () => drawOne(svg)), isPlain: false };
    } catch (error) {
      if (!(error instanceof BusyError)) onFailure(error);
      plain ??= drawPlain();
      return { png: await plain, isPlain: true };
    }
  };
}

const { resolve } = createRequire(import.meta.url);

/** The library is loaded with the first preview. It draws, and the picture is packed, in threads of their own. */
async function drawWithLibrary(svg: string): Promise<Buffer> {
  const { renderAsync } = await import('@resvg/resvg-js');
  const fonts = ['DejaVuSans.ttf', 'DejaVuSans-Bold.ttf'];
  const image = await renderAsync(svg, {
    font: {
      loadSystemFonts: false,
      fontFiles: fonts.map((name) => resolve(`dejavu-fonts-ttf/ttf/${name}`)),
      defaultFontFamily: 'DejaVu Sans',
    },
  });
  return encodePng(image.pixels, image.width, image.height);
}

/** The colours of a preview without its words. */
function drawPlain(): Promise<Buffer> {
  const pixels = new Uint8Array(PREVIEW_WIDTH * PREVIEW_HEIGHT * 4);
  const words = new Uint32Array(pixels.buffer);
  const [ground, line] = [
    [0x0f, 0x3d, 0x33, 0xff],
    [0x7f, 0xd1, 0xb5, 0xff],
  ].map((colour) => new Uint32Array(Uint8Array.from(colour).buffer)[0] ?? 0);
  words.fill(ground ?? 0).fill(line ?? 0, PREVIEW_WIDTH * (PREVIEW_HEIGHT - 18));
  return encodePng(pixels, PREVIEW_WIDTH, PREVIEW_HEIGHT);
}
