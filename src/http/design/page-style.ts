import { readFileSync } from 'node:fs';
import { Html } from './html.ts';

/** A component's style sheet; its file documents the markup. */
export type DesignComponent = 'button' | 'card' | 'data-table' | 'field' | 'banner' | 'table';

/**
 * The content of a page's `<style>`: the tokens, the shared styles, the page's components, and last the page's own
 * style sheets. Read once, when the program starts.
 */
export function pageStyleOf(components: readonly DesignComponent[], ...own: readonly URL[]): Html {
  const shared = ['tokens', 'base', ...components.map((name) => `components/${name}`)];
  const files = [...shared.map((name) => new URL(`./${name}.css`, import.meta.url)), ...own];
  return new Html(files.map(readAsset).join(''));
}

/**
 * A style sheet or script of the project's own, without indentation, empty lines, and comments on lines of their own.
 */
export function readAsset(file: URL): string {
  return readFileSync(file, 'utf8')
    .replaceAll(/^\s*\/\*(?:(?!\*\/)[\s\S])*\*\/$/gm, '')
    .replaceAll(/^\s*\/\/.*$/gm, '')
    .replaceAll(/^\s+/gm, '');
}
