import { type ExplainedStatement, nodesOf, type PlanNode, pagesOf } from './explain-operation.ts';
import { growingTables } from './fill-payments.ts';

/** More than the largest list that is read at once touches: whoever exceeds it reads what grows. */
const MAXIMUM_PAGES = 25_000;
/** Rows that were read and thrown away: more than an index that fits would ever show. */
const MAXIMUM_FILTERED_ROWS = 10_000;

/** What makes a statement slower the more payments there are, in words; empty when nothing does. */
export function planFaults(statement: ExplainedStatement): string[] {
  const { plan, genericPlan } = statement;
  const pages = pagesOf(statement);
  return [
    ...scansIn(plan).map((table) => `reads all of ${table}`),
    ...scansIn(genericPlan).map((table) => `reads all of ${table} once it is prepared for any values`),
    ...nodesOf(plan)
      .filter((node) => filteredRows(node) > MAXIMUM_FILTERED_ROWS)
      .map((node) => `throws away ${filteredRows(node)} rows of ${node['Relation Name']}`),
    ...(pages > MAXIMUM_PAGES ? [`touches ${pages} pages`] : []),
  ];
}

function scansIn(plan: PlanNode): string[] {
  return nodesOf(plan)
    .filter((node) => node['Node Type'] === 'Seq Scan' && growingTables.includes(node['Relation Name'] ?? ''))
    .map((node) => node['Relation Name'] as string);
}

function filteredRows(node: PlanNode): number {
  return (node['Rows Removed by Filter'] ?? 0) * (node['Actual Loops'] ?? 1);
}
