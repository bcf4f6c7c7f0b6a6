/** Checks the files of deploy/ with compose, Kubernetes' types and systemd. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { read, root } from '../../test/docs/markdown.ts';
import type { Outcome } from './check-proxy.ts';

/** Kubernetes' own OpenAPI document as TypeScript types and validators, and a parser; installed by `--install`. */
export const kubernetesPackages = ['kubernetes-models@5.1.0', 'yaml@2.9.0'];

const ADDITIONS = ['postgres', 'caddy', 'copy'];
const COMPOSE_FILES = ['compose.yaml', ...ADDITIONS.map((name) => `deploy/compose.${name}.yaml`)];
const COMBINATIONS = [[0], [0, 1], [0, 2], [0, 1, 2], [0, 3]];
/** `systemd-analyze security`: tenths; above 20 a unit is no longer "OK". */
const EXPOSURE_LIMIT = '20';

function outcomeOf(name: string, command: string, words: readonly string[], cwd: string): Outcome {
  const { status, stdout, stderr } = spawnSync(command, words, { cwd, encoding: 'utf8' });
  const output = `${stdout}${stderr}`;
  return { name, problem: status === 0 ? null : output.slice(0, 1_500) };
}

/** Output of compose for the files, with the settings of .env.example. */
export async function checkCompose(folder: string): Promise<readonly Outcome[] | string> {
  const found = spawnSync('docker', ['compose', 'version', '--short'], { encoding: 'utf8' });
  if (found.status !== 0) return 'docker compose is not installed';
  const place = join(folder, 'compose');
  mkdirSync(join(place, 'deploy'), { recursive: true });
  for (const file of [...COMPOSE_FILES, 'Dockerfile']) copyFileSync(join(root, file), join(place, file));
  copyFileSync(join(root, '.env.example'), join(place, '.env'));
  writeFileSync(join(place, 'postgres-password'), 'secret');
  return COMBINATIONS.map((combination) => {
    const files = combination.map((index) => COMPOSE_FILES[index] as string);
    const words = ['compose', ...files.flatMap((file) => ['--file', file]), 'config', '--quiet'];
    return outcomeOf(`${found.stdout.trim()} accepts ${files.join(' with ')}`, 'docker', words, place);
  });
}

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: object;
}

/** Each manifest as a literal of its type, so that unknown fields are refused, and through its validator. */
export async function checkKubernetes(
  _folder: string,
  toolsFolder: string,
): Promise<readonly Outcome[] | string> {
  const require = createRequire(join(toolsFolder, 'package.json'));
  let yaml: { parseAllDocuments(text: string): { toJS(): Manifest }[] };
  try {
    require.resolve('kubernetes-models/package.json');
    yaml = await import(pathToFileURL(require.resolve('yaml')).href);
  } catch {
    return 'kubernetes-models is not installed';
  }
  const manifests = yaml.parseAllDocuments(read('deploy/kubernetes.yaml')).map((part) => part.toJS());
  const outcomes = manifests.map((manifest) => ({
    name: `${manifest.kind} ${manifest.metadata.name} has the fields of ${manifest.apiVersion}`,
    problem: problemOf(manifest, toolsFolder),
  }));
  const [first] = manifests as [Manifest];
  const wrong = problemOf({ ...first, spec: { ...first.spec, replica: 2 } }, toolsFolder);
  outcomes.push({
    name: 'a field that Kubernetes does not know is refused',
    problem: wrong?.includes(`'"replica"' does not exist`) === true ? null : `found: ${wrong}`,
  });
  return outcomes;
}

/** Problem of a manifest, or null. */
function problemOf(manifest: Manifest, toolsFolder: string): string | null {
  const { apiVersion, kind, ...fields } = manifest;
  const place = join(toolsFolder, 'kubernetes');
  mkdirSync(place, { recursive: true });
  const file = join(place, 'manifest.ts');
  writeFileSync(join(place, 'package.json'), '{ "type": "module" }');
  writeFileSync(
    file,
    `import { ${kind} } from 'kubernetes-models/${apiVersion}';\n` +
      `new ${kind}(${JSON.stringify(fields, null, 1)}).validate();\n`,
  );
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2022'];
  const tsc = join(root, 'node_modules/.bin/tsc');
  const typed = outcomeOf(kind, tsc, ['--ignoreConfig', ...options, file], place);
  return typed.problem ?? outcomeOf(kind, process.execPath, [file], place).problem;
}

/** Checks the syntax of the units, and how much their sandbox exposes, with systemd. */
export async function checkUnits(folder: string): Promise<readonly Outcome[] | string> {
  const found = spawnSync('systemd-analyze', ['--version'], { encoding: 'utf8' });
  if (found.status !== 0) return 'systemd-analyze is not installed';
  const version = /\d+/.exec(found.stdout)?.[0];
  const place = join(folder, 'units');
  cpSync(join(root, 'deploy/systemd'), place, { recursive: true });
  const units = globSync('*', { cwd: place }).toSorted();
  // systemd refuses a unit whose program is elsewhere on this machine.
  for (const unit of units) {
    const text = readFileSync(join(place, unit), 'utf8');
    writeFileSync(join(place, unit), text.replaceAll('/usr/bin/node', process.execPath));
  }
  const services = units.filter((unit) => unit.endsWith('.service'));
  return [
    outcomeOf(
      `systemd ${version} accepts ${units.join(', ')}`,
      'systemd-analyze',
      ['verify', ...units],
      place,
    ),
    ...services.map((unit) => {
      const words = ['security', '--offline=yes', `--threshold=${EXPOSURE_LIMIT}`, '--no-pager', unit];
      const exposure = /level for \S+: ([\d.]+)/.exec(analyze(words, place))?.[1] ?? 'unknown';
      return outcomeOf(
        `${basename(unit)} is rated ${exposure}, at most 2.0`,
        'systemd-analyze',
        words,
        place,
      );
    }),
  ];
}

function analyze(words: readonly string[], cwd: string): string {
  return spawnSync('systemd-analyze', words, { cwd, encoding: 'utf8' }).stdout;
}
