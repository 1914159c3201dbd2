/**
 * The metrics of backups. Counters and histograms have no object in their labels; gauges have the schedule, and their series are removed
 * with it. `docs/operations/monitoring.md` lists all of them.
 */

import { Counter, Histogram, labelText } from '@hangar/core';
import { ObjectGauge } from '@hangar/runtime';
import type { GaugeSeries, MetricsRegistry } from '@hangar/runtime';

export const prefix = 'hangar_backup';
const durationBounds = [0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3_600, 14_400];

/** Figures of a schedule. Absent: it has no such series. */
export interface ScheduleFigures {
  /** Time between two backups. Absent: suspended. */
  readonly intervalMs?: number | undefined;
  /** Number of control planes whose last backup failed. */
  readonly failing: number;
  /** Milliseconds since 1970, by name of the control plane. */
  readonly lastSuccess: ReadonlyMap<string, number>;
}

export interface DrillFigures {
  readonly isSuccess: boolean;
  /** Milliseconds since 1970. */
  readonly completedMs: number;
}

export interface ScheduleName {
  readonly namespace: string;
  readonly name: string;
}

export class BackupMetrics {
  readonly #duration: Histogram;
  readonly #bytes: Counter;
  readonly #failures: Counter;
  readonly #running: Counter;
  readonly #restores: Counter;
  readonly #interval: ObjectGauge;
  readonly #failing: ObjectGauge;
  readonly #lastSuccess: ObjectGauge;
  readonly #drillSuccess: ObjectGauge;
  readonly #drillTime: ObjectGauge;

  constructor(registry: MetricsRegistry) {
    const gauge = (name: string, help: string): ObjectGauge =>
      registry.register(new ObjectGauge(`${prefix}_${name}`, help));
    const counter = (name: string, help: string, type?: 'gauge'): Counter =>
      registry.register(new Counter(`${prefix}_${name}`, help, type));
    this.#duration = registry.register(
      new Histogram(
        `${prefix}_duration_seconds`,
        'Duration of complete backups, from the first attempt.',
        durationBounds,
      ),
    );
    this.#bytes = counter('stored_bytes_total', 'Bytes of complete backups.');
    this.#failures = counter('failures_total', 'Failed attempts of backups by reason.');
    this.#running = counter('running', 'Number of backups that are being made.', 'gauge');
    this.#restores = counter('restores_total', 'Restores by result.');
    this.#interval = gauge(
      'schedule_interval_seconds',
      'Time between two backups of the schedule, unless it is suspended.',
    );
    this.#failing = gauge('schedule_failing', 'Number of control planes of the schedule whose last backup failed.');
    this.#lastSuccess = gauge(
      'last_success_timestamp_seconds',
      'Time of the last complete backup of a control plane by the schedule.',
    );
    this.#drillSuccess = gauge('drill_success', '1 if the last drill of the schedule succeeded, otherwise 0.');
    this.#drillTime = gauge('drill_timestamp_seconds', 'Time at which the last drill of the schedule ended.');
  }

  started(): void {
    this.#running.add('', 1);
  }

  stopped(): void {
    this.#running.add('', -1);
  }

  completed({ durationMs, sizeBytes }: { readonly durationMs: number; readonly sizeBytes: number }): void {
    this.#duration.observe('', durationMs / 1_000);
    this.#bytes.add('', sizeBytes);
  }

  attemptFailed(reason: string): void {
    this.#failures.add(labelText({ reason }));
  }

  restored(result: 'Complete' | 'Failed'): void {
    this.#restores.add(labelText({ result }));
  }

  observeSchedule({ namespace, name }: ScheduleName, { intervalMs, failing, lastSuccess }: ScheduleFigures): void {
    const key = `${namespace}/${name}`;
    const labels = { namespace, schedule: name };
    this.#interval.replace(key, intervalMs === undefined ? [] : [[labels, intervalMs / 1_000]]);
    this.#failing.replace(key, [[labels, failing]]);
    const times = Array.from(lastSuccess, ([plane, ms]): GaugeSeries => [
      { ...labels, control_plane: plane },
      ms / 1_000,
    ]);
    this.#lastSuccess.replace(key, times);
  }

  observeDrill({ namespace, name }: ScheduleName, { isSuccess, completedMs }: DrillFigures): void {
    const key = `${namespace}/${name}`;
    const labels = { namespace, schedule: name };
    this.#drillSuccess.replace(key, [[labels, isSuccess ? 1 : 0]]);
    this.#drillTime.replace(key, [[labels, completedMs / 1_000]]);
  }

  forgetSchedule({ namespace, name }: ScheduleName): void {
    const gauges = [this.#interval, this.#failing, this.#lastSuccess, this.#drillSuccess, this.#drillTime];
    for (const gauge of gauges) gauge.remove(`${namespace}/${name}`);
  }
}
