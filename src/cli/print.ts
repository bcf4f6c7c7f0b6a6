/** Prints a result: JSON as it is, or lines for people. */
export function printResult(result: unknown, options: { readonly json?: boolean }): void {
  process.stdout.write(
    options.json === true ? `${JSON.stringify(result)}\n` : `${linesOf(result).join('\n')}\n`,
  );
}

function linesOf(result: unknown): string[] {
  if (Array.isArray(result)) return result.length === 0 ? ['(none)'] : result.flatMap(entryLines);
  if (isRecord(result)) return fieldLines(result, '');
  return [String(result)];
}

/** Entries of a list are separated by an empty line, unless they are single lines. */
function entryLines(entry: unknown, index: number): string[] {
  if (!isRecord(entry)) return [String(entry)];
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
  return Array.isArray(value) ? value.join(', ') || '–' : String(value);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
