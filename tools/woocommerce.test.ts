import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { assets, drawIcon, iconSizes } from './woocommerce-icons.ts';
import { libraryCopy } from './woocommerce-library.ts';
import { findBrokenRules, type PluginFiles } from './woocommerce-rules.ts';

const root = join(import.meta.dirname, '..');
const folder = join(root, 'plugins', 'woocommerce', 'card-checkout');

function readPlugin(): Map<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return new Map(
    entries
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
      .map((path) => [path.slice(folder.length + 1), readFileSync(path, 'utf8')]),
  );
}

const plugin: PluginFiles = readPlugin();

/** Compression differs between processors. */
const pixelsOf = (png: Buffer) => sharp(png).raw().toBuffer();

describe('the assets of wordpress.org', () => {
  it('have icons that are drawn from the SVG', async () => {
    for (const size of iconSizes) {
      const png = readFileSync(join(assets, `icon-${size}x${size}.png`));
      expect(await sharp(png).metadata()).toMatchObject({ width: size, height: size, format: 'png' });
      expect(
        (await pixelsOf(png)).equals(await pixelsOf(await drawIcon(size))),
        `icon of ${size} pixels: run node tools/woocommerce-icons.ts`,
      ).toBe(true);
    }
    // The directory shows it as it is: it runs and loads nothing.
    expect(readFileSync(join(assets, 'icon.svg'), 'utf8')).not.toMatch(/<script|<image|href|on\w+=|@import/);
  });
});

describe('the rules of wordpress.org', () => {
  it('are kept by the plugin', () => {
    expect(findBrokenRules(plugin)).toEqual([]);
  });

  it('hold for the copy of the PHP library, which is as in plugins/php: run node tools/woocommerce-library.ts', () => {
    const copied = [...plugin].filter(([path]) => path.startsWith('library/'));
    expect(new Map(copied.map(([path, text]) => [path.slice('library/'.length), text]))).toEqual(
      libraryCopy(),
    );
  });

  const zipScript = join(root, 'tools', 'woocommerce-zip.ts');

  // An archive of the source has no commit.
  const commits = existsSync(join(root, '.git')) ? ['HEAD'] : [];
  it.each(commits)('are checked before the zip is built, which has the files of %s', (commit) => {
    const output = execFileSync(process.execPath, [zipScript], { cwd: root, encoding: 'utf8' });
    const committed = execFileSync(
      'git',
      ['ls-tree', '-r', '--name-only', commit, 'plugins/woocommerce/card-checkout/'],
      {
        cwd: root,
        encoding: 'utf8',
      },
    );
    const names = committed.trim().split('\n');
    expect(output).toContain(`${names.length} files. No rule is broken`);
    const zip = readFileSync(join(root, 'test-output', 'card-checkout.zip'), 'latin1');
    expect(zip.startsWith('PK')).toBe(true);
    for (const name of names) expect(zip, name).toContain(name.replace('plugins/woocommerce/', ''));
  });
});
