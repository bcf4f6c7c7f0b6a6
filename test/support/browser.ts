import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { chromiumLaunch } from '../../scripts/chromium.ts';

/** The browser may reach nothing but this machine, and speaks to nobody of its own accord. */
const quietArguments = [
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-quic',
  '--disable-sync',
  '--no-first-run',
  // Whatever is not loopback is unknown, so that a page that reaches out fails its test and nobody is called.
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1',
];

/**
 * Starts the tests' Chromium. Close it with `close()`; its profile is a temporary folder that goes with it.
 *
 * @throws when the browser has not been unpacked (`node scripts/setup.js --tests`)
 */
export async function launchBrowser(): Promise<Browser> {
  const { executablePath, args, env } = await chromiumLaunch();
  return chromium.launch({ executablePath, args: [...args, ...quietArguments], env, headless: true });
}

const screenshots = join(import.meta.dirname, '../../test-output/screenshots');

/**
 * Keeps the whole page as a PNG in `test-output/screenshots`, for people to look at, where `SCREENSHOTS` is set. No test
 * compares them, and they would be a tenth of what the browser computes.
 *
 * @param name the file's, with `.png`
 */
export async function takeScreenshot(page: Page, name: string): Promise<void> {
  if (process.env['SCREENSHOTS'] === undefined) return;
  await page.screenshot({ path: join(screenshots, name), fullPage: true, scale: 'css' });
}

/** Takes what the window shows, light and dark, as `npm run pictures` keeps it for the documents; ends in light. */
export async function takePictures(page: Page, name: string): Promise<void> {
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme });
    const path = join(screenshots, `readme-${name}${colorScheme === 'dark' ? '-dark' : ''}.png`);
    await page.screenshot({ path });
  }
}
