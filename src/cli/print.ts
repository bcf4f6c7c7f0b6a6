/** Prints a result: JSON as it is, or lines for people. */
export function printResult(result: unknown, options: { readonly json?: boolean }): void {
  process.stdout.write(
    options.json === true ? `${JSON.stringify(result)}\n` : `${linesOf(result).join('\n')}\n`,
  );
}

function linesOf(result: unknown): string[] {
  if (Array.isArray(result)) return result.length === 0 ? ['(none)'] : result.flatMap(entryLines);
  if (isRecord(result)) return fieldLines(result, '');
  return [visible(String(result))];
}

/** Entries of a list are separated by an empty line, unless they are single lines. */
function entryLines(entry: unknown, index: number): string[] {
  if (!isRecord(entry)) return [visible(String(entry))];
  return index === 0 ? fieldLines(entry, '') : ['', ...fieldLines(entry, '')];
}

function fieldLines(record: Readonly<Record<string, unknown>>, indent: string): string[] {
  const width = Math.max(...Object.keys(record).map((name) => name.length));
  return Object.entries(record).flatMap(([name, value]) => {
    if (Array.isArray(value) && value.some(isRecord)) {
      return [
        `${indent}${name}`,
        ...value.flatMap((item) => fieldLines(item as Record<string, unknown>, `${indent}  `)),
      ];
    }
    if (isRecord(value)) return [`${indent}${name}`, ...fieldLines(value, `${indent}  `)];
    return [`${indent}${name.padEnd(width)}  ${shown(value)}`];
  });
}

function shown(value: unknown): string {
  if (value === null || value === undefined) return '–';
  return visible(Array.isArray(value) ? value.join(', ') || '–' : String(value));
}

/** Texts may come from strangers (what a webhook's receiver answered): no terminal must obey them. */
export function visible(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
