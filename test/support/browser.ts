import { join } from 'node:path';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core';
import { expect } from 'vitest';
import { chromiumLaunch } from './chromium.ts';

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
 * @throws when the browser has not been unpacked (`node tools/setup.js --tests`)
 */
export async function launchBrowser(): Promise<Browser> {
  const { executablePath, args, env } = await chromiumLaunch();
  return chromium.launch({ executablePath, args: [...args, ...quietArguments], env, headless: true });
}

/** The two sizes in which pages are looked at. */
export const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
export const desktop = { viewport: { width: 1280, height: 900 } };

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

/** Runs with a fresh browser profile; fails when the page logs an error, a refused load or an exception. */
export async function inBrowser(
  browser: Browser,
  options: BrowserContextOptions,
  use: (page: Page, context: BrowserContext) => Promise<void>,
): Promise<void> {
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options });
  const complaints: string[] = [];
  const page = await context.newPage();
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('requestfailed', (request) => {
    // The page ends its stream of events itself when it is hidden or left.
    if (new URL(request.url()).pathname.endsWith('/events')) return;
    // A browser that is led on aborts what it still loads. What a server or the policy refuses has another error.
    if (request.failure()?.errorText === 'net::ERR_ABORTED' && request.resourceType() === 'image') return;
    complaints.push(`${request.url()} ${request.failure()?.errorText}`);
  });
  try {
    await use(page, context);
    expect(complaints).toEqual([]);
  } finally {
    await context.close();
  }
}
