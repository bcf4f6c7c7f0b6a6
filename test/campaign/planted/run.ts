import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { broadcastBeforeStored } from './broadcast-before-stored.ts';
import { lostCursorCommit } from './lost-cursor-commit.ts';
import type { Plant } from './plant.ts';
import { privateAddress } from './private-address.ts';
import { roundingError } from './rounding-error.ts';
import { webhookBeforeClaim } from './webhook-before-claim.ts';

export const plants: readonly Plant[] = [
  lostCursorCommit,
  broadcastBeforeStored,
  webhookBeforeClaim,
  roundingError,
  privateAddress,
];

const root = join(import.meta.dirname, '../../..');
const place = join(root, 'test-output', 'planted');
/** Not of the source: installed or written by a run, and the history. */
const notCopied: readonly string[] = ['node_modules', 'test-output', '.git'];
const LONGEST_RUN_MS = 900_000;

/** Plants each fault in a copy of the source of its own. Whether each was found, and nothing where nothing is planted. */
export async function runPlanted(log: (line: string) => void): Promise<boolean> {
  const rows: string[] = [];
  let isAllFound = true;
  for (const run of new Set(plants.map((plant) => plant.run))) {
    const found = await runCampaign([], run);
    log(`no fault injected, ${run.join(' ')}: ${found.length} violations`);
    if (found.length > 0) isAllFound = false;
  }
  for (const plant of plants) {
    const found = await runCampaign([plant], plant.run);
    const right = found.find(({ promise }) => promise.startsWith(plant.brokenPromise));
    if (right === undefined) isAllFound = false;
    const others = new Set(
      found.map(({ promise }) => promise).filter((promise) => promise !== right?.promise),
    );
    rows.push(
      `| ${plant.fault} | ${right?.promise ?? 'NOT FOUND'} | ${right?.seed ?? ''} | ${others.size} |`,
    );
    log(rows.at(-1) as string);
  }
  log(
    [
      '| injected fault | promise that found it | seed | other promises broken |',
      '|---|---|---|---|',
      ...rows,
    ].join('\n'),
  );
  return isAllFound;
}

interface Found {
  readonly seed: number;
  readonly promise: string;
}

/** What a campaign finds in a copy of the source with these faults in it. */
export async function runCampaign(
  planted: readonly Plant[],
  run: readonly string[],
): Promise<readonly Found[]> {
  await rm(place, { recursive: true, force: true });
  try {
    await copyTree();
    for (const plant of planted) await apply(plant);
    return await findViolations(run);
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}

async function copyTree(): Promise<void> {
  await mkdir(place, { recursive: true });
  const names = (await readdir(root)).filter((name) => !notCopied.includes(name));
  for (const name of names) await cp(join(root, name), join(place, name), { recursive: true });
  await symlink(join(root, 'node_modules'), join(place, 'node_modules'));
}

async function apply(plant: Plant): Promise<void> {
  const file = join(place, plant.file);
  await writeFile(file, plantIn(await readFile(file, 'utf8'), plant));
}

/** The text of the plant's file with the fault in it. Throws where it has changed so that this is not possible any more. */
export function plantIn(text: string, { fault, file, changes }: Plant): string {
  let planted = text;
  for (const { before, after } of changes) {
    const times = planted.split(before).length - 1;
    if (times !== 1) throw new Error(`"${fault}" cannot be injected: ${file} has ${times} times: ${before}`);
    planted = planted.replace(before, () => after);
  }
  return planted;
}

async function findViolations(run: readonly string[]): Promise<readonly Found[]> {
  const child = spawn(process.execPath, ['test/campaign/main.ts', ...run], {
    cwd: place,
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: LONGEST_RUN_MS,
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  const found = [...output.matchAll(/seed (\d+) broke "([^"]+)"/g)].map(([, seed, promise]) => ({
    seed: Number(seed),
    promise: promise as string,
  }));
  // Whoever ends with an error without a broken promise could not be run at all.
  if ((code === 0) !== (found.length === 0)) throw new Error(`the campaign ended with ${code}:\n${output}`);
  return found;
}
