import { pipeline, type Readable } from 'node:stream';
import { promisify } from 'node:util';
import {
  type BrotliOptions,
  brotliCompress,
  brotliCompressSync,
  constants,
  createBrotliCompress,
  createGzip,
  gzip,
  gzipSync,
  type ZlibOptions,
} from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** The codings this server supports, the preferred one first. */
const codings = ['br', 'gzip'] as const;
export type ContentCoding = (typeof codings)[number];

/** Answers smaller than this fit into one packet with their headers, compressed or not. */
const MIN_COMPRESSED_BYTES = 1_024;

/*
 * For pages rendered for each request: a checkout page costs 0.4 ms and shrinks from 26.7 to 7.2 kB. Level 2 would cost
 * 0.2 ms and leave another 1.1 kB (decision 0025). The window is as large as the largest pages; the default of 4 MB
 * would be reserved for each stream.
 */
const perRequest = {
  br: {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: 5,
      [constants.BROTLI_PARAM_LGWIN]: 17,
      [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
    },
  },
  gzip: { level: 6 },
} as const satisfies { readonly br: BrotliOptions; readonly gzip: ZlibOptions };

/** The best level, for content that is compressed once and kept. */
const once = {
  br: {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
    },
  },
  gzip: { level: constants.Z_BEST_COMPRESSION },
} as const satisfies { readonly br: BrotliOptions; readonly gzip: ZlibOptions };

/**
 * The coding to answer with according to `Accept-Encoding` (RFC 9110, 12.5.3): the one with the highest weight; if
 * weights are equal, the one with the smaller result. Null for an uncompressed answer, which every caller accepts
 * unless it refuses it.
 */
export function chooseCoding(acceptEncoding: string | undefined): ContentCoding | null {
  if (acceptEncoding === undefined) return null;
  const weights = new Map<string, number>();
  for (const element of acceptEncoding.toLowerCase().split(',')) {
    const [name = '', ...parameters] = element.split(';').map((part) => part.trim());
    weights.set(name === 'x-gzip' ? 'gzip' : name, weightOf(parameters));
  }
  const weightFor = (coding: string) => weights.get(coding) ?? weights.get('*') ?? 0;
  let chosen: ContentCoding | null = null;
  // An uncompressed answer wins only if it is requested by name and weighs more.
  let highest = weights.get('identity') ?? 0;
  for (const coding of codings) {
    const weight = weightFor(coding);
    if (weight > 0 && (chosen === null ? weight >= highest : weight > highest)) {
      [chosen, highest] = [coding, weight];
    }
  }
  return chosen;
}

/** A weight that is malformed counts as 0: the coding is not used. */
function weightOf(parameters: readonly string[]): number {
  const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
  if (weight === undefined) return 1;
  return /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(weight) ? Number(weight) : 0;
}

/**
 * Sends a page that was rendered for this request, compressed if the caller accepts it. The encoder is flushed after
 * each piece of a stream, so that the caller gets each piece at once.
 */
export function sendCompressed(reply: FastifyReply, page: Buffer | Readable): FastifyReply {
  reply.header('vary', 'Accept-Encoding');
  const coding = chooseCoding(reply.request.headers['accept-encoding']);
  if (coding === null || (Buffer.isBuffer(page) && page.length < MIN_COMPRESSED_BYTES)) {
    return reply.send(page);
  }
  reply.header('content-encoding', coding);
  if (Buffer.isBuffer(page)) {
    return reply.send(
      coding === 'br' ? brotliCompressSync(page, perRequest.br) : gzipSync(page, perRequest.gzip),
    );
  }
  const encoder =
    coding === 'br'
      ? createBrotliCompress({ ...perRequest.br, flush: constants.BROTLI_OPERATION_FLUSH })
      : createGzip({ ...perRequest.gzip, flush: constants.Z_SYNC_FLUSH });
  // A caller that disconnects ends the encoder, which ends the page. An error of the page ends the answer.
  return reply.send(pipeline(page, encoder, () => {}));
}

/**
 * Whether a page that shows secrets or personal data together with its URL's parameters may be compressed. The
 * compressed size reveals whether a parameter repeats text of the page (BREACH), to another site that makes the browser
 * open it and to an eavesdropper. So the page is compressed only if the browser states that no other site made the
 * request, or, if the browser states nothing, if the URL has no parameters.
 */
export function isSafeToCompress({ headers, url }: Pick<FastifyRequest, 'headers' | 'url'>): boolean {
  const site = headers['sec-fetch-site'];
  return site === undefined ? !url.includes('?') : site === 'same-origin' || site === 'none';
}

const brotliOnce = promisify<Buffer, BrotliOptions, Buffer>(brotliCompress);
const gzipOnce = promisify<Buffer, ZlibOptions, Buffer>(gzip);

export type ConstantAnswer = ReturnType<typeof createConstantAnswer>;

/** Content that is the same for all callers, in every coding. */
export function createConstantAnswer(body: Buffer) {
  const made = new Map<ContentCoding, Promise<Buffer>>();

  function compressed(coding: ContentCoding): Promise<Buffer> {
    const known = made.get(coding);
    if (known !== undefined) return known;
    // Runs on a thread of the pool: the best level takes a tenth of a second for a long page.
    const making = coding === 'br' ? brotliOnce(body, once.br) : gzipOnce(body, once.gzip);
    made.set(coding, making);
    return making;
  }

  return {
    /** Sends the content in the coding that the caller prefers. Each coding is compressed at its first use, and kept. */
    async send(reply: FastifyReply): Promise<FastifyReply> {
      reply.header('vary', 'Accept-Encoding');
      const coding = chooseCoding(reply.request.headers['accept-encoding']);
      if (coding === null || body.length < MIN_COMPRESSED_BYTES) return reply.send(body);
      const bytes = await compressed(coding);
      return reply.header('content-encoding', coding).send(bytes);
    },
  };
}
