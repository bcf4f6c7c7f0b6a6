import type { FrameLocator, Page } from 'playwright-core';

/** From the click at the on-ramp to a final release on the local chain. */
export const SETTLED_MS = 120_000;

/** Chooses a means, which may need the country, and goes on. */
export async function chooseMeans(page: Page | FrameLocator, means: string): Promise<void> {
  await page.getByRole('radio', { name: means }).check();
  const country = page.getByLabel('Where do you live?');
  if (await country.isVisible()) await country.selectOption('DE');
  await page.getByRole('button', { name: /^Pay [$€]/ }).click();
}

/** Goes to the provider behind a means. */
export async function goBy(page: Page, means: string): Promise<void> {
  await chooseMeans(page, means);
  await page.locator('#back, a[href^="?card="]').first().waitFor();
}

/** Pays at the simulated on-ramp. */
export async function payWith(page: Page, card: string): Promise<void> {
  await page.locator(`a[href="?card=${encodeURIComponent(card)}"]`).click();
  await page.locator('form[method=post] button[type=submit]').first().click();
}

/** The heading of the page; empty while the page is loading anew. */
export async function headingOf(page: Page): Promise<string> {
  return ((await page.textContent('h1', { timeout: 1_000 }).catch(() => '')) ?? '').trim();
}
