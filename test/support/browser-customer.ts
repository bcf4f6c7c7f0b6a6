import type { Page } from 'playwright-core';

/** From the click at the on-ramp to a final release on the local chain. */
export const SETTLED_MS = 120_000;

/** Goes to the provider behind a means, which may need the country. */
export async function goBy(page: Page, means: string): Promise<void> {
  await page.getByRole('radio', { name: means }).check();
  const country = page.getByLabel('Where do you live?');
  if (await country.isVisible()) await country.selectOption('DE');
  await page.getByRole('button', { name: /^Pay [$€]/ }).click();
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
