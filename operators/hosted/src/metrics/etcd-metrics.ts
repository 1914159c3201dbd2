/** The metrics of the etcd of control planes. Sizes fluctuate, so they are here and not in the status of objects. */

import type { ObjectKey } from '@hangar/client';
import { Counter, labelText } from '@hangar/core';
import { ObjectGauge, TimingFamily } from '@hangar/runtime';
import type { MetricsRegistry } from '@hangar/runtime';
import { idOf, prefix } from './hosted-metrics.ts';

const durationBounds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** Figures of the etcd of one control plane. */
export interface EtcdFigures {
  /** Of the member with the largest database. Absent: no member answers. */
  readonly database?: Readonly<Record<'size' | 'in_use' | 'quota', number>> | undefined;
  /** Size of the volume of each member. Absent: not known yet. */
  readonly volumeBytes?: number | undefined;
  /** Absent: the database does not grow, or there are not enough measurements. */
  readonly secondsUntilFull?: number | undefined;
  /** By the name of the pod. */
  readonly isHealthy: ReadonlyMap<string, boolean>;
  /** Absent: no member answers. */
  readonly hasLeader?: boolean | undefined;
  /** Whether the last defragmentation failed. */
  readonly isDefragmentationFailing: boolean;
}

export type ActionResult = 'success' | 'failure';

export class EtcdMetrics {
  readonly #database: ObjectGauge;
  readonly #volume: ObjectGauge;
  readonly #full: ObjectGauge;
  readonly #healthy: ObjectGauge;
  readonly #leader: ObjectGauge;
  readonly #failing: ObjectGauge;
  readonly #durations: TimingFamily;
  readonly #defragmentations: Counter;
  readonly #recoveries: Counter;

  constructor(registry: MetricsRegistry) {
    const gauge = (name: string, help: string): ObjectGauge =>
      registry.register(new ObjectGauge(`${prefix}_control_plane_etcd_${name}`, help));
    const counter = (name: string, help: string): Counter => {
      const family = registry.register(new Counter(`${prefix}_etcd_${name}`, help));
      for (const result of ['success', 'failure']) family.add(labelText({ result }), 0);
      return family;
    };
    this.#database = gauge(
      'database_bytes',
      'Largest database of an etcd member: its file, the part in use, the quota.',
    );
    this.#volume = gauge('volume_bytes', 'Size of the volume of each etcd member.');
    this.#full = gauge(
      'full_seconds',
      'Seconds until the database reaches its quota, at the growth of the last hours.',
    );
    this.#healthy = gauge('member_healthy', '1 while the etcd member answers and follows the leader, otherwise 0.');
    this.#leader = gauge('has_leader', '1 while etcd has a leader, otherwise 0.');
    this.#failing = gauge('defragmentation_failing', '1 while the last defragmentation of etcd failed, otherwise 0.');
    this.#durations = registry.register(
      new TimingFamily(
        `${prefix}_etcd_defragmentation_duration_seconds`,
        'Duration of a defragmentation of an etcd member.',
        durationBounds,
      ),
    );
    this.#defragmentations = counter('defragmentations_total', 'Total number of defragmentations of etcd members.');
    this.#recoveries = counter('recoveries_total', 'Total number of attempts to free space after the alarm NOSPACE.');
  }

  /** Replaces the series of a control plane. */
  observe(key: ObjectKey, figures: EtcdFigures): void {
    const id = idOf(key);
    const labels = { namespace: key.namespace ?? '', name: key.name };
    const { database, volumeBytes, secondsUntilFull, isHealthy, hasLeader, isDefragmentationFailing } = figures;
    const one = (gauge: ObjectGauge, value: number | undefined): void =>
      gauge.replace(id, value === undefined ? [] : [[labels, value]]);
    this.#database.replace(
      id,
      Object.entries(database ?? {}).map(([state, bytes]) => [{ ...labels, state }, bytes]),
    );
    one(this.#volume, volumeBytes);
    one(this.#full, secondsUntilFull);
    this.#healthy.replace(
      id,
      Array.from(isHealthy, ([member, is]) => [{ ...labels, member }, is ? 1 : 0]),
    );
    one(this.#leader, hasLeader === undefined ? undefined : hasLeader ? 1 : 0);
    one(this.#failing, isDefragmentationFailing ? 1 : 0);
  }

  remove(key: ObjectKey): void {
    const id = idOf(key);
    const all = [this.#database, this.#volume, this.#full, this.#healthy, this.#leader, this.#failing];
    for (const gauge of all) gauge.remove(id);
  }

  defragmented(seconds: number, result: ActionResult): void {
    this.#durations.series({}).observe(seconds);
    this.#defragmentations.add(labelText({ result }));
  }

  recovered(result: ActionResult): void {
    this.#recoveries.add(labelText({ result }));
  }
}
