import { providerCatalog } from '../payment/provider-catalog.ts';
import { redactText } from '../platform/redact.ts';
import { type ProveRequest, readOffers } from './prove-provider.ts';
import type { RecordedAnswer } from './provider.ts';
import { type EvidenceStore, isSameEndpoint, type Shape } from './provider-evidence.ts';

/** Maximum length of a path, which bounds the depth of a shape. Deeper parts are not compared. */
const MAXIMUM_PATH_LENGTH = 300;
const MAXIMUM_NAMED = 5;

/** Returns the type of each part of a value, by path. `null` means any type. */
function shapeOf(value: unknown, path = ''): Shape {
  if (value === null || path.length > MAXIMUM_PATH_LENGTH) return { [path]: 'null' };
  if (typeof value !== 'object') return { [path]: typeof value };
  if (Array.isArray(value)) {
    const entries = value.map((each) => shapeOf(each, `${path}[]`));
    return { [path]: 'array', ...(entries.length > 0 && entries.reduce(common)) };
  }
  const parts = Object.entries(value).map(([key, each]) => shapeOf(each, `${path}.${key}`));
  return Object.assign({ [path]: 'object' }, ...parts);
}

/** Returns the parts that both shapes have. Other parts count as optional. */
function common(one: Shape, other: Shape): Shape {
  const shared = Object.entries(one).filter(([path]) => Object.hasOwn(other, path));
  return Object.fromEntries(shared.map(([path, type]) => [path, type === other[path] ? type : 'null']));
}

/** Lists recorded parts that are missing or have another type. Ignores new parts, because adapters read by name. */
function differences(recorded: Shape, now: Shape): readonly string[] {
  return Object.entries(recorded).flatMap(([path, was]) => {
    const is = now[path];
    const name = path.replace(/^\./, '') || 'the answer';
    // A part counts as missing only if its parent is an object, because a list may be empty.
    if (is === undefined)
      return now[path.replace(/(\.[^.]*|\[\])$/, '')] === 'object' ? [`${name} is missing`] : [];
    return is === was || is === 'null' || was === 'null' ? [] : [`${name} is ${is}, was ${was}`];
  });
}

const callOf = ({ method, path }: RecordedAnswer) => `${method} ${path}`;

/** Returns the shapes of the successful answers, by method and path. */
export function shapesOf(answers: readonly RecordedAnswer[]): Readonly<Record<string, Shape>> {
  const byCall = Map.groupBy(
    answers.filter(({ status }) => status < 300),
    callOf,
  );
  const shapes = [...byCall].map(([call, all]) => [
    call,
    all.map(({ body }) => shapeOf(body)).reduce(common),
  ]);
  return Object.fromEntries(shapes);
}

/** Describes how the answers differ from the recorded shapes. Returns null if they do not. */
function describeDrift(
  recorded: Readonly<Record<string, Shape>>,
  answers: readonly RecordedAnswer[],
): string | null {
  const now = shapesOf(answers);
  for (const [call, shape] of Object.entries(recorded)) {
    const last = answers.findLast((answer) => callOf(answer) === call);
    if (last === undefined) continue;
    if (now[call] === undefined) return `answers ${last.status} at ${last.path}`;
    const changed = differences(shape, now[call]).slice(0, MAXIMUM_NAMED).join(', ');
    if (changed !== '') return `answers otherwise at ${last.path}: ${changed}`;
  }
  return null;
}

/** Compares the shapes of catalog and quote answers with the recorded shapes. Starts no session. */
export async function watchProvider(request: ProveRequest, store: EvidenceStore) {
  const { adapter, provider } = request;
  const answers: RecordedAnswer[] = [];
  const work = () => readOffers(request);
  const steps = await (adapter.recordAnswers?.(answers, work) ?? work());
  const endpoint = adapter.endpoint ?? { environment: 'simulated' as const, urls: [] };
  const stored = await store.readShapes(provider);
  const recorded = stored !== null && isSameEndpoint(stored, endpoint) ? stored : null;
  const failed = steps.find(({ outcome }) => outcome === 'failed');
  const found = describeDrift(recorded?.calls ?? {}, answers) ?? (failed && `fails: ${failed.detail}`);
  const atMs = request.nowMs();
  const text = redactText(`${providerCatalog[provider].name} ${found}`).replace(/\.$/, '');
  const drift = found === undefined ? null : { text, sinceMs: recorded?.drift?.sinceMs ?? atMs };
  const calls = { ...recorded?.calls, ...(drift === null && shapesOf(answers)) };
  await store.writeShapes(provider, { ...endpoint, atMs, calls, drift });
  return { drift, comparedWithMs: recorded?.atMs ?? null };
}
