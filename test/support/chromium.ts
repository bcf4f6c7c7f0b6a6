/** The browser of the tests: Chromium with its own libraries, so that no system package is needed. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** Options of playwright-core's `chromium.launch` for the unpacked browser. */
export interface ChromiumLaunch {
  executablePath: string;
  args: string[];
  env: Record<string, string>;
}

/** Folder of the unpacked package; below node_modules, so that `npm ci` clears it. */
export async function chromiumFolder(): Promise<string> {
  const manifest = await readFile(join(root, 'node_modules/@sparticuz/chromium/package.json'), 'utf8');
  const { version } = JSON.parse(manifest) as { version: string };
  return join(root, 'node_modules/.cache/card-checkout', `chromium-${version}`);
}

/** Whether the browser is unpacked in this folder: its font configuration has absolute paths. */
export async function isUnpacked(folder: string): Promise<boolean> {
  return readFile(join(folder, 'complete'), 'utf8').then(
    (configuration) => configuration === fontConfiguration(folder),
    () => false,
  );
}

/** Fonts for scripts on the pages that the bundled fonts lack, and a monospaced font. */
const fontPackages = [
  '@expo-google-fonts/noto-sans-arabic',
  '@expo-google-fonts/noto-sans-devanagari',
  '@expo-google-fonts/sawarabi-gothic',
  'dejavu-fonts-ttf',
];

/** The bundled configuration reads and writes fixed paths outside the private folder. */
export function fontConfiguration(folder: string): string {
  const folders = fontPackages.map((name) => `\n  <dir>${join(root, 'node_modules', name)}</dir>`);
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${folder}/fonts</dir>${folders.join('')}
  <cachedir>${folder}/fonts-cache</cachedir>
  <!-- Of several fonts, fontconfig would choose any where a page names none of them. -->
  <alias binding="strong"><family>monospace</family><prefer><family>DejaVu Sans Mono</family></prefer></alias>
  <match><edit name="family" mode="append_last"><string>Open Sans</string></edit></match>
</fontconfig>
`;
}

/**
 * The launch options of the unpacked browser. Deliberately without the package's own arguments: they switch
 * web security off and squeeze everything into one process.
 * `CHROMIUM_PATH` names another browser, for a machine that the package has none for.
 * @throws when the browser has not been unpacked.
 */
export async function chromiumLaunch(): Promise<ChromiumLaunch> {
  const environment = Object.fromEntries(
    Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  // Root and containers without user namespaces cannot use the sandbox; the tests open their own pages only.
  const args = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'];
  const { CHROMIUM_PATH: installed } = environment;
  if (installed) return { executablePath: installed, args, env: environment };
  const folder = await chromiumFolder();
  if (!(await isUnpacked(folder))) {
    throw new Error(
      'The browser is not unpacked: run `node tools/setup.js --tests`. Where npm has none for this machine, set ' +
        'CHROMIUM_PATH to the file of an installed Chromium or Chrome.',
    );
  }
  const [fonts, libraries] = [join(folder, 'fonts'), join(folder, 'al2023', 'lib')];
  return {
    executablePath: join(folder, 'chromium'),
    args,
    env: { ...environment, FONTCONFIG_PATH: fonts, LD_LIBRARY_PATH: libraries },
  };
}
