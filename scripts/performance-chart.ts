import type { GoalResult } from '../bench/goals.ts';
import { formatNumber } from '../bench/summary.ts';
import { readPublished } from './published-bench.ts';

const ROW = 30;
const LABELS = 330;
/** Where a bar ends that is just as long as its goal. */
const GOAL_WIDTH = 260;
/** A bar longer than one and a half times the goal is cut off. */
const MOST = 1.5;

/** A bar for each goal, as a share of what was to be reached: right of the line is better. */
export function performanceChart(): string {
  const { goals, at, machine } = readPublished();
  const height = 70 + goals.length * ROW;
  const width = LABELS + GOAL_WIDTH * MOST + 90;
  const line = LABELS + GOAL_WIDTH;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title">
<title id="title">How far each goal of performance was reached</title>
<style>
text { font: 13px system-ui, sans-serif; fill: #24292f; }
.quiet { fill: #57606a; font-size: 12px; }
.yes { fill: #1a7f5a; }
.no { fill: #b35900; }
.range, .goal { stroke: #24292f; }
.goal { stroke-dasharray: 4 3; }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3; }
.quiet { fill: #9198a1; }
.yes { fill: #3fb68b; }
.no { fill: #e0873a; }
.range, .goal { stroke: #e6edf3; }
}
</style>
<text class="quiet" x="${line}" y="18" text-anchor="middle">goal</text>
${goals.map(chartRow).join('\n')}
<line class="goal" x1="${line}" x2="${line}" y1="26" y2="${height - 36}"/>
<text class="quiet" x="8" y="${height - 12}">Bar: median as a share of the goal; line: lowest to highest round. ${at.slice(0, 10)}, ${escapeMarkup(machine.cpu)}, Node ${machine.node}</text>
</svg>
`;
}

function chartRow(goal: GoalResult, index: number): string {
  const y = 30 + index * ROW;
  const [bar, from, to] = [goal.median, goal.lowest, goal.highest].map((value) => widthOf(goal, value)) as [
    number,
    number,
    number,
  ];
  const [start, end] = [Math.min(from, to), Math.max(from, to)];
  return `<text x="8" y="${y + 15}">${escapeMarkup(goal.what)}</text>
<rect class="${goal.isReached ? 'yes' : 'no'}" x="${LABELS}" y="${y + 3}" width="${bar}" height="16" rx="3"/>
<line class="range" x1="${LABELS + start}" x2="${LABELS + end}" y1="${y + 11}" y2="${y + 11}"/>
<text x="${LABELS + Math.max(bar, end) + 8}" y="${y + 15}">${formatNumber(goal.median)}</text>`;
}

function widthOf({ bound, isUpperBound }: GoalResult, value: number): number {
  const share = isUpperBound ? bound / value : value / bound;
  return Math.round(GOAL_WIDTH * Math.min(share, MOST));
}

function escapeMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
