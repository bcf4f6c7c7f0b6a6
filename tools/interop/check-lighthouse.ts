/**
 * Lighthouse for phones on what customers and merchants open most: the checkout, its receipt, and the overview and the
 * payments of the dashboard. With the browser of the tests, against a sandbox that has a few payments.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type BrowserContext, chromium } from 'playwright-core';
import { chromiumLaunch } from '../../test/support/chromium.ts';
import { freePorts } from '../../test/support/free-ports.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { startSandboxProcess } from '../sandbox-process.ts';
import type { Outcome } from './check-proxy.ts';

/** Installed by `--install`, outside the project's own packages. */
export const lighthousePackage = 'lighthouse@13.5.0';

const GOALS = { performance: 98, accessibility: 100 } as const;
type Category = keyof typeof GOALS;
const categories = Object.keys(GOALS) as Category[];
/** Runs per page; the best one counts, because other load on the machine lowers scores. */
const ROUNDS = 3;

interface Audit {
  readonly id: string;
  readonly score: number | null;
}
interface Result {
  readonly lhr: {
    readonly categories: Record<
      Category,
      { readonly score: number | null; readonly auditRefs: readonly { readonly id: string }[] }
    >;
    readonly audits: Readonly<Record<string, Audit>>;
    readonly finalDisplayedUrl: string;
  };
}
type Lighthouse = (url: string, flags: object) => Promise<Result | undefined>;

/** Program in this folder; undefined if it is not installed. */
export function findLighthouse(
  folder: string,
): { readonly file: string; readonly version: string } | undefined {
  const path = join(folder, 'node_modules/lighthouse');
  try {
    const manifest = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) as Record<
      'main' | 'version',
      string
    >;
    return { file: join(path, manifest.main), version: manifest.version };
  } catch {
    return undefined;
  }
}

/** Scores of each page, as named outcomes. */
export async function checkLighthouse(file: string, folder: string): Promise<readonly Outcome[]> {
  const { default: lighthouse } = (await import(pathToFileURL(file).href)) as { default: Lighthouse };
  const [debuggingPort = 0] = await freePorts(1);
  const service = await startSandboxProcess(join(folder, 'lighthouse'));
  const { url } = service;
  let browser: BrowserContext | null = null;
  try {
    const paid = await service.create();
    await service.pay(paid);
    await waitFor('the payment to be paid', 60_000, () => service.isPaid(paid));
    const open = await service.create();
    const { executablePath, args, env } = await chromiumLaunch();
    browser = await chromium.launchPersistentContext(join(folder, 'profile'), {
      executablePath,
      env,
      args: [...args, `--remote-debugging-port=${debuggingPort}`],
    });
    const [, password = ''] = /password (\S+)/.exec(service.output()) ?? [];
    await signIn(browser, url, password);
    const pages = {
      checkout: `/pay/${open}`,
      receipt: `/pay/${paid}`,
      'overview of the dashboard': '/dashboard',
      'payments of the dashboard': '/dashboard/payments',
    };
    const outcomes: Outcome[] = [];
    for (const [name, path] of Object.entries(pages)) {
      outcomes.push(await measure(lighthouse, name, url + path, debuggingPort));
    }
    return outcomes;
  } finally {
    await browser?.close();
    await service.end('SIGTERM');
  }
}

async function signIn(browser: BrowserContext, url: string, password: string): Promise<void> {
  const page = await browser.newPage();
  await page.goto(`${url}/dashboard`);
  await page.getByLabel('Email address').fill('demo@shop.example');
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.waitForURL((now) => now.pathname === '/dashboard');
  await page.close();
}

async function measure(lighthouse: Lighthouse, page: string, url: string, port: number): Promise<Outcome> {
  const best: Record<Category, number> = { performance: 0, accessibility: 0 };
  let below: readonly string[] = [];
  for (let round = 0; round < ROUNDS && !isGood(best); round++) {
    const flags = { port, onlyCategories: categories, disableStorageReset: true, logLevel: 'error' };
    const result = await lighthouse(url, flags);
    // An expired session would show the sign-in page instead.
    if (result?.lhr.finalDisplayedUrl !== url)
      throw new Error(`Lighthouse measured another page than ${url}`);
    for (const category of categories) {
      best[category] = Math.max(
        best[category],
        Math.round((result.lhr.categories[category].score ?? 0) * 100),
      );
    }
    below = belowGoal(result);
  }
  const scores = categories.map((category) => `${category} ${best[category]}`).join(', ');
  const problem = isGood(best) ? null : `below ${Object.values(GOALS).join(' and ')}: ${below.join(', ')}`;
  return { name: `${page}: ${scores}`, problem };
}

function isGood(scores: Record<Category, number>): boolean {
  return categories.every((category) => scores[category] >= GOALS[category]);
}

/** Audits that lowered the scores. */
function belowGoal({ lhr }: Result): readonly string[] {
  const counted = categories.flatMap((category) => lhr.categories[category].auditRefs.map(({ id }) => id));
  return [...new Set(counted)].filter((id) => (lhr.audits[id]?.score ?? 1) < 0.9);
}
