import type { Page } from 'playwright-core';

/** What of the page's tables, their links and buttons included, begins or ends beyond the edge of the window: its text. */
export async function cellsOutOfSight(page: Page): Promise<string[]> {
  return page.evaluate(`[...document.querySelectorAll('tbody :is(th, td, a, button, select)')]
    .filter((element) => {
      const { left, right } = element.getBoundingClientRect();
      return left < 0 || right > document.documentElement.clientWidth;
    })
    .map(({ textContent }) => textContent)`);
}
