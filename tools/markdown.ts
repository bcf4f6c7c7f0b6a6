/** Helpers for Markdown. */

/** Text as inline code. */
export function code(text: string): string {
  return `\`${text}\``;
}

/** Table. Escapes bars, which would end a cell. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(cellOf).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** Table of names and what they mean. */
export function meanings(head: readonly [string, string], named: Readonly<Record<string, string>>): string {
  return table(
    head,
    Object.entries(named).map(([name, meaning]) => [code(name), meaning]),
  );
}

function cellOf(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}
