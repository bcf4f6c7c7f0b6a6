/**
 * The rules of wordpress.org that a machine can check, on the files of the WooCommerce plugin. The rules that need a reader
 * are in plugins/woocommerce/RULES.md, which names for each rule how it was checked.
 */

/** A file of the plugin: its path below the plugin's folder, and its text. */
export type PluginFiles = ReadonlyMap<string, string>;

const SLUG = 'card-checkout';
const MAIN_FILE = `${SLUG}.php`;
const MAXIMUM_BYTES = 1_000_000;
const MAXIMUM_TAGS = 5;
const MAXIMUM_SHORT_DESCRIPTION = 150;
const MAXIMUM_LINE = 400;
/** GPL-compatible licenses that the directory lists; the header's spelling. */
const licenses = ['MIT', 'GPLv2 or later', 'GPL-2.0-or-later', 'GPLv3 or later'];
const allowedPaths =
  /^(card-checkout\.php|uninstall\.php|readme\.txt|assets\/[a-z-]+\.(js|css|svg)|library\/[A-Za-z]+\.php|includes\/class-card-checkout-[a-z-]+\.php|languages\/card-checkout(\.pot|-[a-z]{2}_[A-Z]{2}\.l10n\.php))$/;
/** Links that an administrator follows, and namespaces. A page of the shop loads nothing from them. */
const allowedUrls = [
  'https://polygonscan.com/tx/',
  'https://opensource.org/license/mit',
  'https://your-shop.example/',
  'http://www.w3.org/',
  'https://settings.invalid', // no host has this name
];

/** Functions that the directory's review or Plugin Check refuses, and what they are used for. */
const forbidden: readonly (readonly [RegExp, string])[] = [
  [/\b(eval|assert|create_function)\s*\(/, 'runs text as code'],
  [/\b(exec|shell_exec|passthru|system|popen|proc_open|pcntl_exec)\s*\(|`[^`\n]*`\s*;/, 'runs a command'],
  [/\b(unserialize|maybe_unserialize|extract|parse_str)\s*\(/, 'makes variables or objects of input'],
  [/\b(base64_decode|gzinflate|gzuncompress|str_rot13|convert_uudecode)\s*\(/, 'obfuscates code'],
  [/\b(curl_\w+|fsockopen|stream_socket_client|wp_remote_fopen)\s*\(/, "goes around WordPress's HTTP API"],
  [/\b(file_put_contents|fopen|fwrite|move_uploaded_file|unlink|mkdir)\s*\(/, 'writes files'],
  [/\b(mysql\w*_\w+|mysqli_\w+)\s*\(|new (PDO|mysqli)\b/, "goes around WordPress's database"],
  [
    /\b(ini_set|ini_alter|set_time_limit|error_reporting|date_default_timezone_set)\s*\(/,
    'changes PHP for all',
  ],
  [/\b(var_dump|var_export|print_r|debug_backtrace|error_log|phpinfo)\s*\(/, 'is for debugging'],
  [/\bwp_redirect\s*\(/, 'redirects to any host; use wp_safe_redirect'],
  [/\b(query_posts|wp_reset_query)\s*\(/, 'changes the main query'],
  [/\$_REQUEST\b|\$GLOBALS\b/, 'reads input of any kind'],
  [/<<</, 'is a heredoc, in which nothing is escaped'],
  [/pre_set_site_transient_update_plugins|Update URI/, 'updates the plugin from another host'],
];

/** Rules; each returns its violations. */
const rules: readonly ((files: PluginFiles) => readonly string[])[] = [
  checkFileList,
  checkHeaders,
  checkReadme,
  checkPhpFiles,
  checkTranslations,
  checkRemoteAddresses,
];

/** Violations of the rules in the plugin, with their files. */
export function findBrokenRules(files: PluginFiles): string[] {
  return rules.flatMap((rule) => rule(files));
}

function checkFileList(files: PluginFiles): string[] {
  const missing = [MAIN_FILE, 'readme.txt', 'uninstall.php'].filter((name) => !files.has(name));
  const unknown = [...files.keys()].filter((path) => !allowedPaths.test(path));
  const bytes = [...files.values()].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  return [
    ...missing.map((name) => `${name}: is missing`),
    ...unknown.map((path) => `${path}: is no file of a plugin`),
    ...(bytes > MAXIMUM_BYTES ? [`the plugin has ${bytes} bytes`] : []),
  ];
}

function fieldOf(text: string, name: string): string | undefined {
  return new RegExp(`^[ *]*${name}: *(.+)$`, 'm').exec(text)?.[1]?.trim();
}

function checkHeaders(files: PluginFiles): string[] {
  const header = files.get(MAIN_FILE) ?? '';
  const readme = files.get('readme.txt') ?? '';
  const found: string[] = [];
  const version = fieldOf(header, 'Version') ?? '';
  if (!/^\d+\.\d+\.\d+$/.test(version)) found.push(`${MAIN_FILE}: the version is not one`);
  if (fieldOf(readme, 'Stable tag') !== version) found.push('readme.txt: the stable tag is not the version');
  if (!header.includes(`CARD_CHECKOUT_VERSION = '${version}'`))
    found.push(`${MAIN_FILE}: CARD_CHECKOUT_VERSION is not the version`);
  for (const name of ['Requires at least', 'Tested up to', 'Requires PHP', 'License', 'License URI']) {
    const value = fieldOf(header, name);
    if (value === undefined) found.push(`${MAIN_FILE}: ${name} is missing`);
    if (value !== fieldOf(readme, name)) found.push(`readme.txt: ${name} differs from the header`);
  }
  if (!licenses.includes(fieldOf(header, 'License') ?? ''))
    found.push(`${MAIN_FILE}: the license is not known as compatible with the GPL`);
  if (fieldOf(header, 'Text Domain') !== SLUG) found.push(`${MAIN_FILE}: the text domain is not the slug`);
  if (/^(woocommerce|wordpress)/i.test(fieldOf(header, 'Plugin Name') ?? 'WooCommerce'))
    found.push(`${MAIN_FILE}: the name begins with a trademark, or is missing`);
  return found;
}

function checkReadme(files: PluginFiles): string[] {
  const readme = files.get('readme.txt') ?? '';
  const found: string[] = [];
  const headings = [...readme.matchAll(/^== (.+) ==$/gm)].map(([, title]) => title);
  for (const title of ['Description', 'External service', 'Installation', 'Changelog'])
    if (!headings.includes(title)) found.push(`readme.txt: the section ${title} is missing`);
  const tags = (fieldOf(readme, 'Tags') ?? '').split(',').length;
  if (tags > MAXIMUM_TAGS) found.push(`readme.txt: has ${tags} tags`);
  const short = /\n\n([^\n=]+)\n\n== /.exec(readme)?.[1] ?? '';
  if (short === '' || short.length > MAXIMUM_SHORT_DESCRIPTION)
    found.push('readme.txt: the short description is missing or too long');
  if (!readme.includes(`= ${fieldOf(readme, 'Stable tag')} =`))
    found.push('readme.txt: the changelog does not name the stable tag');
  return found;
}

function checkPhpFiles(files: PluginFiles): string[] {
  const found: string[] = [];
  for (const [path, text] of files) {
    if (!path.endsWith('.php')) continue;
    const report = (what: string) => found.push(`${path}: ${what}`);
    const code = withoutComments(text);
    if (!text.startsWith('<?php\n') || text.includes('?>')) report('does not begin with <?php, or is closed');
    if (!/^defined\('(ABSPATH|WP_UNINSTALL_PLUGIN)'\) \|\| exit;$/m.test(code))
      report('can be opened from outside');
    for (const [pattern, why] of forbidden) {
      const match = pattern.exec(code);
      if (match !== null) report(`${match[0]} ${why}`);
    }
    // Output is escaped where it is printed.
    for (const [, what = ''] of withoutStrings(code).matchAll(
      /\b(?:echo|print|printf|die)\b(?!\w)\s*\(?\s*(.{0,30})/g,
    ))
      if (!/^(wp_kses|wp_kses_post|esc_html|esc_html__|esc_attr)\(/.test(what)) report(`shows ${what}`);
    for (const statement of code.split(';'))
      if (/\$_(GET|POST|COOKIE)\b/.test(statement) && !/\b(sanitize_\w+|absint)\(/.test(statement))
        report(`reads unsanitized input: ${statement.trim().slice(-80)}`);
    for (const [, , name = ''] of code.matchAll(
      /^(?:final |abstract )?(function|class|interface|trait|const) (\w+)/gm,
    ))
      if (!/^card_checkout_/i.test(name) && !code.includes('\nnamespace Card_Checkout_Library;\n'))
        report(`${name} has not the prefix card_checkout`);
    if (/<(script|style|iframe)\b/i.test(code)) report('prints a script, a style or a frame');
    if (path !== MAIN_FILE && /admin_post_nopriv|wp_ajax_nopriv/.test(code))
      report('offers an action to all');
  }
  return found;
}

/** Texts are literals in the plugin's domain; those with placeholders have a translators' comment. */
function checkTranslations(files: PluginFiles): string[] {
  const found: string[] = [];
  for (const [path, text] of files) {
    if (!path.endsWith('.php') || path.startsWith('languages/')) continue;
    const calls = text.matchAll(/(?<![\w>:$])(?:__|_e|_x|_n|esc_html__|esc_html_e|esc_attr__|esc_attr_e)\(/g);
    for (const { index, 0: name } of calls) {
      const literal = /^\s*'((?:[^'\\]|\\.)+)',\s*'([\w-]+)'\s*\)/.exec(text.slice(index + name.length));
      const where = `${path}: ${text.slice(index, index + 60).replaceAll(/\s+/g, ' ')}`;
      if (literal === null) found.push(`${where} is not one literal with its domain`);
      else if (literal[2] !== SLUG) found.push(`${where} has another domain`);
      else if (/%(\d\$)?s/.test(literal[1] ?? '') && !/translators:/.test(text.slice(index - 300, index)))
        found.push(`${where} has no comment for translators`);
    }
  }
  return found;
}

/** Nothing is loaded from another host, and scripts can be read. */
function checkRemoteAddresses(files: PluginFiles): string[] {
  const found: string[] = [];
  for (const [path, text] of files) {
    for (const [url] of text.matchAll(/\bhttps?:\/\/[\w.-]+[^\s'"`<>)]*/g))
      if (!allowedUrls.some((allowed) => url.startsWith(allowed))) found.push(`${path}: names ${url}`);
    if (!/\.(js|css)$/.test(path)) continue;
    if (text.split('\n').some((line) => line.length > MAXIMUM_LINE)) found.push(`${path}: is minified`);
    if (/innerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/.test(text))
      found.push(`${path}: makes markup or code of text`);
  }
  return found;
}

/** The code without comments and with its strings, so that a comment may name what the code may not do. */
function withoutComments(text: string): string {
  return text.replaceAll(
    /('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|\/\*[\s\S]*?\*\/|(?:\/\/|#(?!\[))[^\n]*/g,
    (_match, literal) => literal ?? ' ',
  );
}

/** Words in texts are not statements. */
function withoutStrings(code: string): string {
  return code.replaceAll(/'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"/g, "''");
}
