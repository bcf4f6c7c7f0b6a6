import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What axe finds wrong, in words. Evaluated from outside the page's policy, which lets no script of ours in. */
export async function violationsOf(page: Page): Promise<string[]> {
  await page.evaluate(axeSource);
  return page.evaluate(`axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')))`);
}

/** By how many pixels the page is wider than its window. */
export async function overflowOf(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
}

/** What of the page's tables, their links and buttons included, begins or ends beyond the edge of the window: its text. */
export async function cellsOutOfSight(page: Page): Promise<string[]> {
  return page.evaluate(`[...document.querySelectorAll('tbody :is(th, td, a, button, select)')]
    .filter((element) => {
      const { left, right } = element.getBoundingClientRect();
      return left < 0 || right > document.documentElement.clientWidth;
    })
    .map(({ textContent }) => textContent)`);
}

/**
 * How far things may move under the reader's eyes. A busy browser paints a page of which it has read a part: the centered
 * list of languages then moves aside as it grows, by up to 0.002. A banner that comes late moves the page by far more.
 */
export const TOLERATED_SHIFT = 0.005;

/** How far things have moved, as the browser counts it (cumulative layout shift). */
export const shiftOf = (page: Page) =>
  page.evaluate(`new Promise((resolve) => {
    let shift = 0;
    const observer = new PerformanceObserver((list) => { for (const entry of list.getEntries()) shift += entry.value; });
    observer.observe({ type: 'layout-shift', buffered: true });
    requestAnimationFrame(() => requestAnimationFrame(() => resolve(shift)));
  })`) as Promise<number>;
