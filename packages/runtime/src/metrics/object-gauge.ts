/**
 * Gauges about objects. All series of an object are replaced together and removed together, so that no series of an earlier state or of a
 * deleted object remains:
 *
 *     gauge.replace('team/demo', [[{ namespace: 'team', name: 'demo', state: 'ready' }, 1]]);
 *     gauge.remove('team/demo');
 */

import type { Labels } from '@hangar/core';
import { labelText } from '@hangar/core';
import type { MetricFamily } from './registry.ts';

export type GaugeSeries = readonly [labels: Labels, value: number];

const defaultObjectsMax = 10_000;

export class ObjectGauge implements MetricFamily {
  readonly name: string;
  readonly #help: string;
  readonly #objectsMax: number;
  readonly #lines = new Map<string, readonly string[]>();

  /** Further objects than `objectsMax` have no series. */
  constructor(name: string, help: string, objectsMax = defaultObjectsMax) {
    this.name = name;
    this.#help = help;
    this.#objectsMax = objectsMax;
  }

  /** `object`: any key that is unique in the family. */
  replace(object: string, series: readonly GaugeSeries[]): void {
    if (series.length === 0) return this.remove(object);
    if (!this.#lines.has(object) && this.#lines.size >= this.#objectsMax) return;
    this.#lines.set(
      object,
      series.map(([labels, value]) => `${labelText(labels)} ${value}`),
    );
  }

  remove(object: string): void {
    this.#lines.delete(object);
  }

  text(): string {
    const lines = this.#lines.values().flatMap((own) => own.map((line) => `${this.name}${line}`));
    return [`# HELP ${this.name} ${this.#help}`, `# TYPE ${this.name} gauge`, ...lines].join('\n');
  }
}
