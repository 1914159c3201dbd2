/**
 * Metrics of the controller manager about its clusters. Computed from the registry's table on every scrape: clusters that are no longer
 * owned disappear, and nothing is kept for them.
 */

import { labelText } from '@hangar/core';
import type { MetricsRegistry } from '@hangar/runtime';
import type { ClusterRow, ServiceState } from '../contract.ts';
import { byName } from './by-name.ts';
import { shownServices, stateOf } from './clusters/described.ts';
import { processUsage } from './process-usage.ts';
import type { ProcessUsage } from './process-usage.ts';

/** Worst first: a cluster counts by the worst of its services. */
const phases: readonly ServiceState['phase'][] = ['Failed', 'BackingOff', 'Waiting', 'Starting', 'Stopping', 'Ready'];
/** Another replica owns it, or none. */
const notOwned = 'NotOwned';

interface Child {
  /** `{cluster="…",service="…"}` */
  readonly labels: string;
  readonly state: ServiceState;
  readonly usage: ProcessUsage | undefined;
}

interface FamilyHead {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge';
}

interface ChildFamily extends FamilyHead {
  readonly value: (child: Child) => number | undefined;
}

interface OwnFamily extends FamilyHead {
  readonly value: (usage: ProcessUsage) => number;
}

const childFamilies: readonly ChildFamily[] = [
  {
    name: 'hangar_controller_manager_child_restarts_total',
    help: 'Number of restarts of the service of the cluster.',
    type: 'counter',
    value: ({ state }) => state.restarts,
  },
  {
    name: 'hangar_controller_manager_child_ready',
    help: 'Whether the service of the cluster is ready.',
    type: 'gauge',
    value: ({ state }) => (state.phase === 'Ready' ? 1 : 0),
  },
  {
    name: 'hangar_controller_manager_child_memory_bytes',
    help: 'Resident memory of the process that runs the service of the cluster.',
    type: 'gauge',
    value: ({ usage }) => usage?.residentBytes,
  },
  {
    name: 'hangar_controller_manager_child_cpu_seconds_total',
    help: 'User and system CPU time of the process that runs the service of the cluster.',
    type: 'counter',
    value: ({ usage }) => usage?.cpuSeconds,
  },
];

/** Standard process metrics of this process; those of the children have labels. */
const ownFamilies: readonly OwnFamily[] = [
  {
    name: 'process_resident_memory_bytes',
    help: 'Resident memory size in bytes.',
    type: 'gauge',
    value: ({ residentBytes }) => residentBytes,
  },
  {
    name: 'process_cpu_seconds_total',
    help: 'Total user and system CPU time spent in seconds.',
    type: 'counter',
    value: ({ cpuSeconds }) => cpuSeconds,
  },
];

export class ControllerManagerMetrics {
  readonly #rows: () => Iterable<ClusterRow>;
  readonly #usageOf: (pid: number) => ProcessUsage | undefined;
  #children: readonly Child[] = [];

  constructor(rows: () => Iterable<ClusterRow>, usageOf: (pid: number) => ProcessUsage | undefined = processUsage) {
    this.#rows = rows;
    this.#usageOf = usageOf;
  }

  /** Called once. */
  register(registry: MetricsRegistry): void {
    registry.onScrape(() => (this.#children = this.#readChildren()));
    const name = 'hangar_controller_manager_clusters';
    registry.register({ name, text: () => this.#clustersText(name) });
    for (const family of childFamilies) registry.register({ name: family.name, text: () => this.#childText(family) });
    for (const family of ownFamilies) registry.register({ name: family.name, text: () => this.#ownText(family) });
  }

  #readChildren(): Child[] {
    return byName(this.#rows())
      .filter(({ isOwned }) => isOwned)
      .flatMap((row) =>
        shownServices(row).map((service) => {
          const state = stateOf(row, service);
          const usage = state.process && this.#usageOf(state.process.pid);
          return { labels: labelText({ cluster: row.cluster.name, service }), state, usage };
        }),
      );
  }

  #childText({ value, ...head }: ChildFamily): string {
    const samples = this.#children.flatMap((child) => {
      const number = value(child);
      return number === undefined ? [] : [`${head.name}${child.labels} ${number}`];
    });
    return familyText(head, samples);
  }

  #ownText({ value, ...head }: OwnFamily): string {
    const usage = this.#usageOf(process.pid);
    return familyText(head, usage ? [`${head.name} ${value(usage)}`] : []);
  }

  #clustersText(name: string): string {
    const counts = new Map<string, number>([...phases, notOwned].map((state) => [state, 0]));
    for (const row of this.#rows()) {
      const state = row.isOwned ? worstPhase(row) : notOwned;
      counts.set(state, counts.get(state)! + 1);
    }
    const samples = Array.from(counts, ([state, count]) => `${name}${labelText({ state })} ${count}`);
    const help = 'Clusters of the fleet, by the worst state of their services here.';
    return familyText({ name, help, type: 'gauge' }, samples);
  }
}

function worstPhase(row: ClusterRow): ServiceState['phase'] {
  const places = shownServices(row).map((service) => phases.indexOf(stateOf(row, service).phase));
  return phases[Math.min(phases.length - 1, ...places)]!;
}

const familyText = ({ name, help, type }: FamilyHead, samples: readonly string[]): string =>
  [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...samples].join('\n');
