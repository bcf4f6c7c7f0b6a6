import { createRequire } from 'node:module';
import { createBriefCache } from '../../domain/brief-cache.ts';
import { encodePng } from '../design/png.ts';
import { createFixedWindowLimiter } from '../rate-limit.ts';
import { PREVIEW_COLOURS, PREVIEW_HEIGHT, PREVIEW_LINE_HEIGHT, PREVIEW_WIDTH } from './preview-drawing.ts';

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
  const limiter = createFixedWindowLimiter(MAXIMUM_DRAWINGS_PER_MINUTE, monotonicMs);
  let isDrawing = false;
  let plain: Promise<Buffer> | null = null;

  async function drawOne(svg: string): Promise<Buffer> {
    if (isDrawing || limiter.take('drawings') > 0) throw new BusyError();
    isDrawing = true;
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
  const pixels = Buffer.alloc(PREVIEW_WIDTH * PREVIEW_HEIGHT * 4, opaque(PREVIEW_COLOURS.ground));
  pixels.fill(opaque(PREVIEW_COLOURS.line), PREVIEW_WIDTH * (PREVIEW_HEIGHT - PREVIEW_LINE_HEIGHT) * 4);
  return encodePng(pixels, PREVIEW_WIDTH, PREVIEW_HEIGHT);
}

/** The four bytes of a pixel of this colour (`#rrggbb`). */
function opaque(colour: string): Buffer {
  return Buffer.from(`${colour.slice(1)}ff`, 'hex');
}
