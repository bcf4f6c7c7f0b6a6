/**
 * Which part of the house may know which, as a check over modules. Own code instead of `dependency-cruiser` 18.7.2, which
 * reads no `.ts` file here: it needs the programming interface of TypeScript before 7.
 */
import { type Import, isTest, type Module } from './modules.ts';

const outsideWorld = ['providers', 'chain', 'rates', 'webhooks', 'mail', 'store'];
const belowApp = ['platform', 'http', 'worker', 'cli', 'payments', 'accounts', 'domain', ...outsideWorld];

/**
 * For each part of `src` the parts it may import besides itself. main → simulators → app → {http, worker, cli} →
 * {payments, accounts} → domain → platform; adapters know only domain and platform, and never each other.
 */
const mayImport: Record<string, string[]> = {
  main: ['app', 'config', 'receiver-grader', 'simulators', ...belowApp],
  app: ['config', 'config-variables', 'docs-site', ...belowApp],
  http: ['payments', 'accounts', 'domain', 'platform', 'locales'],
  worker: ['payments', 'accounts', 'domain', 'platform'],
  cli: ['config', 'receiver-grader', 'verifier', 'payments', 'accounts', 'domain', 'platform'],
  payments: ['domain', 'platform'],
  accounts: ['domain', 'platform'],
  ...Object.fromEntries(outsideWorld.map((part) => [part, ['domain', 'platform']])),
  domain: ['platform'],
  platform: [],
  config: ['domain', 'platform', 'config-network', 'config-reader', 'config-variables', 'providers'],
  'config-network': ['domain', 'platform', 'config-reader'],
  'config-reader': ['domain', 'platform', 'config-variables'],
  // A provider's variables stand in its own file.
  'config-variables': ['domain', 'providers'],
  // The local chain, the simulated on-ramps, the shop and the example pages are a small world of their own.
  simulators: ['app', 'config', ...belowApp, 'locales', 'receiver-grader', 'docs-site'],
  'receiver-grader': belowApp,
  // The pages at `/docs`, and the OpenAPI document that the reference shows.
  'docs-site': ['http', 'payments', 'domain'],
  // `verify` shares the domain with the steps that it checks, and none of their code.
  verifier: ['domain'],
  locales: [],
};

/** The part of the house a path belongs to: `src/http/server.ts` to `http`, `src/app.ts` to `app`. */
function partOf(path: string): string {
  const [folder = path, part = folder] = path.split('/');
  return folder === 'src' ? part.replace(/(?:\.test)?\.ts$/, '') : folder;
}

/** Every arrow that climbs, crosses or leaves the house, in words; empty when all is well. */
export function arrowViolations(modules: Module[]): string[] {
  return modules.flatMap((module) => {
    const part = partOf(module.path);
    if (mayImport[part] === undefined) {
      return [`${module.path}: the house has no part "${part}"; draw it in arrows.ts first`];
    }
    return module.imports.flatMap((arrow) => {
      const reason = objection(module, part, arrow);
      return reason === undefined
        ? []
        : [`${module.path}:${arrow.line} imports ${arrow.specifier}: ${reason}`];
    });
  });
}

/** What is wrong with one arrow, or undefined. */
function objection(module: Module, part: string, arrow: Import): string | undefined {
  const { target } = arrow;
  if (target === undefined) return undefined;
  if (!/^(src|simulators|locales|receiver-grader|docs-site|verifier)\//.test(target)) {
    // The compiled contracts and where they are deployed are data that the code ships with.
    // The sandbox's shop is a merchant: it has the SDK, as other merchants do.
    const isShop = module.path.startsWith('simulators/shop/') && target.startsWith('sdk/src/');
    const isAllowed = isTest(module.path) || isShop || /^contracts\/.*\.json$/.test(target);
    return isAllowed ? undefined : 'src stands on nothing outside src but the data of contracts/';
  }
  const targetPart = partOf(target);
  if (targetPart === part) return undefined;
  if (!mayImport[part]?.includes(targetPart)) return `${part} may not know ${targetPart}`;
  if (targetPart === 'simulators' && arrow.kind !== 'dynamic') {
    return 'live mode must not load the sandbox: only `await import(…)` may';
  }
  return undefined;
}

/** Every group of modules that import each other in a circle, types included, as `a → b → a`. */
export function cycles(modules: Module[]): string[] {
  const targets = new Map(
    modules.map((module) => [
      module.path,
      module.imports.flatMap(({ target, kind }) => (target === undefined || kind === 'path' ? [] : [target])),
    ]),
  );
  const found: string[] = [];
  const done = new Set<string>();
  const visit = (path: string, trail: string[]) => {
    const at = trail.indexOf(path);
    if (at !== -1) {
      found.push([...trail.slice(at), path].join(' → '));
      return;
    }
    if (done.has(path)) return;
    for (const target of targets.get(path) ?? []) visit(target, [...trail, path]);
    done.add(path);
  };
  for (const path of targets.keys()) visit(path, []);
  return found;
}

/** Every file that only hands on what others export, or that hands on anything. */
export function barrels(modules: Module[]): string[] {
  return modules.flatMap((module) => [
    ...(/(^|\/)index\.ts$/.test(module.path) ? [`${module.path}: name the file by what is in it`] : []),
    ...module.reExportLines.map((line) => `${module.path}:${line} hands on what another file exports`),
  ]);
}

/** The settings, and the search for anvil, which reads the machine's PATH as a shell does. */
const environmentPlaces = ['src/config.ts', 'simulators/chain/find-anvil.ts'];

/** Every other place that reads the environment. */
export function environmentReaders(modules: Module[]): string[] {
  return modules
    .filter(({ path }) => !environmentPlaces.includes(path) && !isTest(path))
    .flatMap(({ path, environmentLines }) => environmentLines.map((line) => `${path}:${line}`));
}
