import { table } from '../markdown.ts';
import { type ExplainedStatement, nodesOf, type PlanNode, pagesOf } from './explain-operation.ts';
import type { MeasuredOperation, TableSize } from './measure-plans.ts';

/** A table with a row for each statement; one that several operations send is shown with the first of them. */
export function planTable(measured: readonly MeasuredOperation[]): string {
  const shown = new Set<string>();
  const rows = measured.flatMap(({ operation, statements }) => {
    const fresh = statements.filter(({ text }) => !shown.has(text));
    for (const { text } of fresh) shown.add(text);
    const again = statements.length - fresh.length;
    const sum = totalMs(statements);
    return [
      [
        `**${operation.name}**`,
        operation.when,
        `**${sum}**`,
        `**${total(statements.map(pagesOf))}**`,
        againText(again),
      ],
      ...fresh.map((statement) => [
        '',
        verbOf(statement),
        milliseconds(statement.executionMs),
        String(pagesOf(statement)),
        planText(statement.plan),
      ]),
    ];
  });
  return table(['operation', 'when; its statements', 'ms', 'pages', 'plan'], rows);
}

function againText(again: number): string {
  return again === 0 ? '' : `${again} of its statements are shown above`;
}

function totalMs(statements: readonly ExplainedStatement[]): string {
  return milliseconds(statements.reduce((sum, { executionMs }) => sum + executionMs, 0));
}

function total(numbers: readonly number[]): string {
  return String(numbers.reduce((sum, number) => sum + number, 0));
}

function milliseconds(value: number): string {
  return value < 10 ? value.toFixed(2) : value.toFixed(0);
}

function verbOf({ text }: ExplainedStatement): string {
  return text.trim().split(/\s/, 1)[0] as string;
}

/** The nodes that touch a table or index, those alike once. */
function planText(plan: PlanNode): string {
  const touching = nodesOf(plan).filter((node) => node['Relation Name'] ?? node['Index Name']);
  return [...new Set(touching.map(nodeText))].join(', ');
}

function nodeText(node: PlanNode): string {
  const name = node['Index Name'] ?? node['Relation Name'];
  const kind = node['Node Type'] === 'ModifyTable' ? node.Operation : node['Node Type'];
  const loops = node['Actual Loops'] ?? 1;
  return `${kind} ${name}${loops > 1 ? ` ×${loops}` : ''}`;
}

/** What each table and index takes, a row and in all. */
export function sizeTable(sizes: readonly TableSize[], payments: number): string {
  const perPayment = (bytes: number) => String(Math.round(bytes / payments));
  const rows = sizes.map(({ table: name, rows: count, bytes, indexes }) => {
    const indexBytes = indexes.reduce((sum, index) => sum + index.bytes, 0);
    const perRow = (value: number) => String(Math.round(value / Math.max(count, 1)));
    return [
      name,
      String(count),
      gigabytes(bytes + indexBytes),
      perRow(bytes),
      indexes.map((index) => `${index.index} ${perRow(index.bytes)}`).join(', '),
      perPayment(bytes + indexBytes),
    ];
  });
  const all = sizes.flatMap(({ bytes, indexes }) => [bytes, ...indexes.map((index) => index.bytes)]);
  const sum = all.reduce((left, right) => left + right, 0);
  rows.push(['**all**', '', gigabytes(sum), '', '', perPayment(sum)]);
  return table(['table', 'rows', 'GB', 'bytes a row', 'bytes a row in each index', 'bytes a payment'], rows);
}

function gigabytes(bytes: number): string {
  return (bytes / 1e9).toFixed(2);
}
