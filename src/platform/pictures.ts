import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { delimiter, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Limit on the child process's private memory, of which Node itself takes 90 MiB. */
const MEMORY_LIMIT_KIB = 320 * 1024;
const PROCESSOR_LIMIT_SECONDS = 5;
const TIMEOUT_MS = 10_000;
const MAXIMUM_OUTPUT_BYTES = 4 * 1024 * 1024;
/** Maximum pictures in a queue, including the picture in progress. */
const MAXIMUM_QUEUED = 6;
/** Child's exit code for a refused picture. Standard error contains the reason. */
const REFUSED_CODE = 3;

export type Pictures = ReturnType<typeof createPictures>;

/** Error for a picture that cannot be processed. The message continues a sentence that begins with the field's name. */
export class PictureRefusedError extends Error {}

/** Error for a queue that is full or already has a picture of the same owner. */
export class PicturesBusyError extends Error {}

/**
 * Creates separate queues for uploads and drawings. Each queue runs one process at a time, and has at most one picture
 * per owner. Each picture has a separate process, because hostile input can exhaust memory or crash the decoder.
 */
export function createPictures() {
  const inUploads = createQueue();
  const inDrawings = createQueue();
  return {
    /**
     * Converts a PNG, JPEG or WebP of at most `maximumPixels` in width and height to a PNG that fits into a square of
     * `fittedPixels`. Throws `PictureRefusedError`, or `PicturesBusyError` if the queue cannot take the picture.
     */
    encode: (owner: string, bytes: Uint8Array, maximumPixels: number, fittedPixels: number) =>
      inUploads(owner, () => runProcess(bytes, ['picture', String(maximumPixels), String(fittedPixels)])),
    /** Renders an SVG as a PNG, with text in Inter. Throws the same errors as `encode`. */
    draw: (owner: string, svg: string) =>
      inDrawings(owner, () => runProcess(Buffer.from(svg), ['drawing', ...fonts])),
  };
}

function createQueue() {
  const owners = new Set<string>();
  let last: Promise<unknown> = Promise.resolve();
  return async (owner: string, make: () => Promise<Buffer>): Promise<Buffer> => {
    if (owners.has(owner) || owners.size >= MAXIMUM_QUEUED) throw new PicturesBusyError();
    owners.add(owner);
    const made = last.then(make).finally(() => owners.delete(owner));
    last = made.catch(() => {});
    return made;
  };
}

const { resolve } = createRequire(import.meta.url);
const program = fileURLToPath(new URL('./picture-process.js', import.meta.url));
/** Folders of fonts from npm packages. DejaVu has letters and symbols that the other fonts lack. */
const fonts = [
  '@expo-google-fonts/inter/400Regular/Inter_400Regular.ttf',
  '@expo-google-fonts/inter/700Bold/Inter_700Bold.ttf',
  '@expo-google-fonts/noto-sans-arabic/400Regular/NotoSansArabic_400Regular.ttf',
  '@expo-google-fonts/noto-sans-devanagari/400Regular/NotoSansDevanagari_400Regular.ttf',
  '@expo-google-fonts/sawarabi-gothic/400Regular/SawarabiGothic_400Regular.ttf',
  'dejavu-fonts-ttf/ttf/DejaVuSans.ttf',
].map((file) => dirname(resolve(file)));
/** Environment of the child process. Contains none of the service's variables, and thus no secrets. */
const environment = {
  FONTCONFIG_FILE: fileURLToPath(new URL('./picture-fonts.conf', import.meta.url)),
  XDG_DATA_HOME: fonts[0],
  XDG_DATA_DIRS: fonts.slice(1).join(delimiter),
  VIPS_CONCURRENCY: '1',
};
/** Shell command that sets resource limits, which Node cannot set. A lower limit of the system remains in force. */
const LIMITED = `{ ulimit -d ${MEMORY_LIMIT_KIB}; ulimit -t ${PROCESSOR_LIMIT_SECONDS}; } 2>/dev/null; exec "$0" "$@"`;

function runProcess(input: Uint8Array, task: readonly string[]): Promise<Buffer> {
  // Uses `--jitless`, because Node would otherwise reserve more memory for compiled code than the limit allows.
  const command = [process.execPath, '--jitless', program, ...task];
  return new Promise((fulfil, reject) => {
    const child = execFile(
      '/bin/sh',
      ['-c', LIMITED, ...command],
      {
        encoding: 'buffer',
        env: environment,
        timeout: TIMEOUT_MS,
        killSignal: 'SIGKILL',
        maxBuffer: MAXIMUM_OUTPUT_BYTES,
      },
      (error, stdout, stderr) => {
        if (error === null) fulfil(stdout);
        else if (error.code === REFUSED_CODE) reject(new PictureRefusedError(stderr.toString().trim()));
        else if (error.signal)
          reject(new PictureRefusedError('needs too much memory or time', { cause: error }));
        else reject(error);
      },
    );
    // Ignores write errors, which occur if the process exits before it has read all input.
    child.stdin?.on('error', () => {}).end(input);
  });
}
