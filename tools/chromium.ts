/** Unpacks the browser of the tests: tools/setup.js runs this. */
import { chmod, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { chromiumFolder, fontConfiguration, isUnpacked } from '../test/support/chromium.ts';

/**
 * Unpacks the browser unless that has been done. The package unpacks to fixed names below TMPDIR and takes a
 * half-written file for a whole one, so it gets a private folder, which takes its final name once complete.
 */
async function unpack(): Promise<void> {
  const folder = await chromiumFolder();
  if (await isUnpacked(folder)) return;
  const partial = `${folder}.${process.pid}.partial`;
  await rm(partial, { recursive: true, force: true });
  await mkdir(partial, { recursive: true });
  process.env['TMPDIR'] = partial;
  // Makes the package unpack its libraries too, which a minimal system lacks.
  process.env['AWS_LAMBDA_JS_RUNTIME'] = 'nodejs22.x';
  const { default: chromium } = await import('@sparticuz/chromium');
  const binary = await chromium.executablePath();
  // Unpacked by root, run by any user.
  await chmod(binary, 0o755);
  await writeFile(join(partial, 'fonts/fonts.conf'), fontConfiguration(folder));
  await writeFile(join(partial, 'complete'), fontConfiguration(folder));
  await rm(folder, { recursive: true, force: true });
  await rename(partial, folder);
}

await unpack();
