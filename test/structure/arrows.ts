/**
 * Which room of the house may know which, as a check over modules. Own code instead of `dependency-cruiser` 18.7.2, which
 * reads no `.ts` file here: it needs the programming interface of TypeScript before 7.
 */
import { type Import, isTest, type Module } from './modules.ts';

const pages = ['pages/docs', 'pages/checkout', 'pages/dashboard', 'pages/operator'];

/**
 * The rooms from the ground up. Each may know those before it, and none after it; what a row names beside a room it may not know
 * all the same. Features know the rooms that they extend, and not each other. Only `app` and the sandbox know a feature.
 */
const rooms: readonly (readonly [name: string, ...unknown: string[]])[] = [
  ['platform'],
  ['payment'],
  ['mail'],
  ['webhooks'],
  ['accounts'],
  ['settlement'],
  ['providers'],
  ['rates'],
  ['config'],
  ['store', 'config'],
  ['reports', 'config'],
  ['web', 'config', 'store'],
  ['api', 'config', 'store'],
  ['pages/docs', 'config', 'store'],
  ['pages/checkout', 'config', 'store'],
  ['pages/dashboard', 'config', 'store', 'pages/checkout'],
  ['pages/operator', 'config', 'store', 'pages/checkout'],
  ['features', 'config'],
  // Shares the core's rules with the steps that it checks, and none of their code.
  [
    'cli/verify',
    'mail',
    'accounts',
    'providers',
    'rates',
    'config',
    'store',
    'reports',
    'web',
    'api',
    'features',
    ...pages,
  ],
  ['cli', 'web', 'api', 'features', ...pages],
  ['app'],
  ['sandbox'],
  ['main', 'features'],
  // Outside `src`: may import everything, except that tests import no tools.
  ['test'],
  ['tools'],
];
const floors = new Map(rooms.map(([name], floor) => [name, floor]));
const unknownTo = new Map(rooms.map(([name, ...unknown]) => [name, unknown]));

/** The room of a path: `src/web/server.ts` is in `web`, `src/pages/docs/docs.css` in `pages/docs`. */
function roomOf(path: string): string {
  const [folder = path, part = folder, page = ''] = path.split('/');
  if (folder !== 'src') return folder;
  if (part === 'pages' || page === 'verify') return `${part}/${page}`;
  return part.replace(/(?:\.test)?\.ts$/, '');
}

/** Every arrow that climbs, crosses or leaves the house, in words; empty when all is well. */
export function arrowViolations(modules: Module[]): string[] {
  return modules.flatMap((module) => {
    const room = roomOf(module.path);
    if (!floors.has(room)) {
      return [`${module.path}: the house has no room "${room}"; draw it in arrows.ts first`];
    }
    return module.imports.flatMap((arrow) => {
      const reason = objection(module, room, arrow);
      return reason === undefined
        ? []
        : [`${module.path}:${arrow.line} imports ${arrow.specifier}: ${reason}`];
    });
  });
}

function objection(module: Module, room: string, arrow: Import): string | undefined {
  const { target } = arrow;
  if (target === undefined) return undefined;
  const targetRoom = roomOf(target);
  const climbs = (floors.get(targetRoom) ?? Number.POSITIVE_INFINITY) > (floors.get(room) ?? -1);
  // The list of binaries is data.
  if (targetRoom === 'tools' && climbs && !target.endsWith('.json')) return `${room} may not know tools`;
  if (room === 'test' || room === 'tools') return undefined;
  if (!/^(src|sandbox)\//.test(target)) {
    // The compiled contracts and where they are deployed are data that the code ships with.
    // The sandbox's shop is a merchant: it has the SDK, as other merchants do.
    const isShop = module.path.startsWith('sandbox/shop/') && target.startsWith('sdk/src/');
    const isAllowed = isTest(module.path) || isShop || /^contracts\/.*\.json$/.test(target);
    return isAllowed ? undefined : 'src stands on nothing outside src but the data of contracts/';
  }
  if (room === 'features' && targetRoom === 'features') {
    const [own, other] = [module.path, target].map((path) => path.split('/')[2]);
    return own === other ? undefined : `features/${own} may not know features/${other}`;
  }
  if (targetRoom === room) return undefined;
  if (climbs || unknownTo.get(room)?.includes(targetRoom)) return `${room} may not know ${targetRoom}`;
  if (targetRoom === 'sandbox' && arrow.kind !== 'dynamic') {
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
