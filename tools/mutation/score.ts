/** Numbers of detected and undetected mutations of a file. */
export interface FileScore {
  readonly file: string;
  readonly mutants: number;
  readonly killed: number;
}

/** Score of a group, with surviving mutations as `file:line replacement`. */
export interface GroupScore {
  readonly name: string;
  readonly files: readonly FileScore[];
  readonly scorePercent: number;
  readonly survivors: readonly string[];
}

/** Used fields of the mutation testing report schema. */
interface Report {
  readonly files: Readonly<Record<string, { readonly source: string; readonly mutants: readonly Mutant[] }>>;
}

interface Mutant {
  readonly mutatorName: string;
  readonly replacement?: string;
  readonly status: string;
  readonly location: { readonly start: Position; readonly end: Position };
}

interface Position {
  readonly line: number;
  readonly column: number;
}

/** A run-time error means that a test file fails to load with the mutation. */
const NOTICED: readonly string[] = ['Killed', 'Timeout', 'RuntimeError'];
const UNNOTICED: readonly string[] = ['Survived', 'NoCoverage'];

/**
 * The score of a group from the tool's reports on its files.
 * @throws when a change has an ending that is neither noticed nor unnoticed: it would be missing from the figure
 */
export function scoreOf(name: string, reports: readonly string[]): GroupScore {
  const changed = reports.flatMap((json) => Object.entries((JSON.parse(json) as Report).files));
  const scores: FileScore[] = [];
  const survivors: string[] = [];
  for (const [file, { source, mutants }] of changed) {
    const strange = mutants.find(({ status }) => ![...NOTICED, ...UNNOTICED].includes(status));
    if (strange !== undefined) {
      throw new Error(`${file}:${strange.location.start.line} ended as ${strange.status}`);
    }
    const alive = mutants.filter(({ status }) => UNNOTICED.includes(status));
    scores.push({ file, mutants: mutants.length, killed: mutants.length - alive.length });
    survivors.push(
      ...alive.map((mutant) => `${file}:${mutant.location.start.line} ${changeOf(source, mutant)}`),
    );
  }
  const [mutants, killed] = [sumOf(scores, 'mutants'), sumOf(scores, 'killed')];
  if (mutants === 0) throw new Error(`nothing was changed in ${name}`);
  return { name, files: scores, scorePercent: (killed / mutants) * 100, survivors };
}

/** A table in Markdown, a row for each file and one for each group, and the survivors. */
export function formatScores(groups: readonly GroupScore[]): string {
  const rows = groups.flatMap(({ name, files, scorePercent }) => [
    ...files.map(({ file, mutants, killed }) => [
      `\`${file}\``,
      mutants,
      killed,
      percent((killed / mutants) * 100),
    ]),
    [`**${name}**`, sumOf(files, 'mutants'), sumOf(files, 'killed'), `**${percent(scorePercent)}**`],
  ]);
  return [
    '| file | changes | noticed | score |',
    '|---|---|---|---|',
    ...rows.map((row) => `| ${row.join(' | ')} |`),
    '',
    ...groups.flatMap(({ survivors }) => survivors),
  ].join('\n');
}

function percent(value: number): string {
  return `${value.toFixed(1)} %`;
}

function sumOf(scores: readonly FileScore[], field: 'mutants' | 'killed'): number {
  return scores.reduce((sum, score) => sum + score[field], 0);
}

function changeOf(source: string, { location, mutatorName, replacement }: Mutant): string {
  const { start, end } = location;
  const first = source.split('\n')[start.line - 1] ?? '';
  const original = first.slice(start.column - 1, end.line === start.line ? end.column - 1 : undefined);
  const short = (text: string) => text.replace(/\s+/g, ' ').slice(0, 70);
  return `${short(original)} → ${short(replacement ?? mutatorName)}`;
}
