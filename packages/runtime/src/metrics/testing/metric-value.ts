/** Returns the value of one series in a scrape: `workqueue_depth{name="x"}`. Undefined: not present. */

import type { MetricsRegistry } from '../registry.ts';

export function metricValue(metrics: MetricsRegistry, series: string): number | undefined {
  const lines = metrics.text().split('\n');
  const line = lines.find((one) => one.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}
