import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { assets, drawIcon, iconSizes } from '../../scripts/woocommerce-icons.ts';
import { findBrokenRules, type PluginFiles } from '../../scripts/woocommerce-rules.ts';

const root = join(import.meta.dirname, '..', '..');
const folder = join(root, 'woocommerce', 'card-checkout');

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

/** What is found after this file was changed. */
function findAfter(path: string, change: (text: string) => string): string {
  const text = plugin.get(path) ?? '';
  const changed = change(text);
  expect(changed).not.toBe(text);
  return findBrokenRules(new Map([...plugin, [path, changed]])).join('\n');
}

const MAIN = 'card-checkout.php';
const WEBHOOK = 'includes/class-card-checkout-webhook.php';
/** Compression differs between processors. */
const pixelsOf = (png: Buffer) => sharp(png).raw().toBuffer();
const append = (code: string) => (text: string) => `${text}\n${code}\n`;

describe('the assets of wordpress.org', () => {
  it('have icons that are drawn from the SVG', async () => {
    for (const size of iconSizes) {
      const png = readFileSync(join(assets, `icon-${size}x${size}.png`));
      expect(await sharp(png).metadata()).toMatchObject({ width: size, height: size, format: 'png' });
      expect(
        (await pixelsOf(png)).equals(await pixelsOf(await drawIcon(size))),
        `icon of ${size} pixels: run node scripts/woocommerce-icons.ts`,
      ).toBe(true);
    }
    // The directory shows it as it is: it runs and loads nothing.
    expect(readFileSync(join(assets, 'icon.svg'), 'utf8')).not.toMatch(/<script|<image|href|on\w+=|@import/);
  });

  it('have a screenshot for each caption of the readme', async () => {
    const section = (plugin.get('readme.txt') ?? '').split('== Screenshots ==')[1]?.split('\n== ')[0] ?? '';
    const captions = [...section.matchAll(/^(\d+)\. .+$/gm)].map(([, number]) => Number(number));
    expect(captions).toEqual([1, 2, 3, 4]);
    const screenshots = readdirSync(assets).filter((name) => name.startsWith('screenshot-'));
    expect(screenshots.sort()).toEqual(captions.map((number) => `screenshot-${number}.png`));
    for (const name of screenshots) expect((await sharp(join(assets, name)).metadata()).format).toBe('png');
  });
});

describe('the rules of wordpress.org', () => {
  it('are kept by the plugin', () => {
    expect(findBrokenRules(plugin)).toEqual([]);
  });

  it.each([
    [MAIN, (text: string) => text.replace('Version: 0', 'Version: 9'), 'the stable tag is not the version'],
    [MAIN, (text: string) => text.replace("VERSION = '0", "VERSION = '9"), 'CARD_CHECKOUT_VERSION'],
    [MAIN, (text: string) => text.replace('License: MIT', 'License: Proprietary'), 'compatible with the GPL'],
    [MAIN, (text: string) => text.replace('Text Domain: card', 'Text Domain: cart'), 'text domain'],
    [MAIN, (text: string) => text.replace('Plugin Name: ', 'Plugin Name: WooCommerce '), 'trademark'],
    ['readme.txt', (text: string) => text.replace('Tested up to: 6', 'Tested up to: 7'), 'differs'],
    ['readme.txt', (text: string) => text.replace('Tags: ', 'Tags: a, b, c, '), 'tags'],
    ['readme.txt', (text: string) => text.replace('== External service ==', ''), 'External service'],
    ['readme.txt', (text: string) => text.replaceAll(/^= 0.*=$/gm, ''), 'changelog'],
    ['readme.txt', (text: string) => text.replace('Accept cards', 'Accept cards'.repeat(20)), 'too long'],
    ['languages/more.exe', () => 'MZ', 'is no file of a plugin'],
    ['vendor/autoload.php', () => '<?php', 'is no file of a plugin'],
    [WEBHOOK, (text: string) => text.replace("defined('ABSPATH') || exit;", ''), 'opened from outside'],
    [WEBHOOK, append('eval($raw_body);'), 'runs text as code'],
    [WEBHOOK, append('unserialize($raw_body);'), 'objects of input'],
    [WEBHOOK, append('curl_init($url);'), 'HTTP API'],
    [WEBHOOK, append("file_put_contents('x', 'y');"), 'writes files'],
    [WEBHOOK, append('wp_redirect($url);'), 'any host'],
    [WEBHOOK, append('echo $raw_body;'), 'shows $raw_body'],
    [WEBHOOK, append("echo '<p>' . esc_html($raw_body);"), "shows ''"],
    [WEBHOOK, append("$id = $_GET['id'];"), 'unsanitized input'],
    [WEBHOOK, append('function receive_all() {}'), 'receive_all has not the prefix'],
    [WEBHOOK, append('?>'), 'is closed'],
    [WEBHOOK, append("$html = '<script>';"), 'prints a script'],
    [WEBHOOK, append("__($raw_body, 'card-checkout');"), 'not one literal'],
    [WEBHOOK, append("__('Text', 'woocommerce');"), 'another domain'],
    [WEBHOOK, append(`${'\n'.repeat(300)}__('Text %s', 'card-checkout');`), 'no comment for translators'],
    [WEBHOOK, append("wp_enqueue_script('x', 'https://cdn.example/x.js');"), 'names https://cdn.example'],
    ['assets/block.js', append("document.body.innerHTML = '';"), 'markup or code of text'],
    ['assets/block.js', append('x'.repeat(500)), 'is minified'],
  ])('find what breaks one: %s, %o', (path, change, found) => {
    expect(findAfter(path, change)).toContain(found);
  });

  it('allow a comment to name what the code may not do', () => {
    const changed = new Map([...plugin, [WEBHOOK, `${plugin.get(WEBHOOK)}\n// No eval() here.\n`]]);
    expect(findBrokenRules(changed)).toEqual([]);
  });

  const zipScript = join(root, 'scripts', 'woocommerce-zip.ts');

  it('say in a folder without git that the zip needs a clone', () => {
    const copy = mkdtempSync(join(tmpdir(), 'card-checkout-zip-'));
    try {
      cpSync(join(root, 'scripts'), join(copy, 'scripts'), { recursive: true });
      const { status, stderr } = spawnSync(process.execPath, [join(copy, 'scripts', 'woocommerce-zip.ts')], {
        encoding: 'utf8',
      });
      expect({ status, stderr }).toEqual({
        status: 1,
        stderr:
          'The zip has the files of the last commit, and this folder is no clone: run the command in a clone.\n',
      });
    } finally {
      rmSync(copy, { recursive: true });
    }
  });

  // An archive of the source has no commit.
  const commits = existsSync(join(root, '.git')) ? ['HEAD'] : [];
  it.each(commits)('are checked before the zip is built, which has the files of %s', (commit) => {
    const output = execFileSync(process.execPath, [zipScript], { cwd: root, encoding: 'utf8' });
    const committed = execFileSync(
      'git',
      ['ls-tree', '-r', '--name-only', commit, 'woocommerce/card-checkout/'],
      {
        cwd: root,
        encoding: 'utf8',
      },
    );
    const names = committed.trim().split('\n');
    expect(output).toContain(`${names.length} files. No rule is broken`);
    const zip = readFileSync(join(root, 'test-output', 'card-checkout.zip'), 'latin1');
    expect(zip.startsWith('PK')).toBe(true);
    for (const name of names) expect(zip, name).toContain(name.replace('woocommerce/', ''));
  });
});
