/**
 * Metrics of a runtime in the text format of Prometheus, with the names and labels of the kubelet. Series of pods are computed on scrape
 * from the pods of the node, so deleted pods leave none behind.
 */

import { Counter, labelText } from '@hangar/core';
import type { Labels } from '@hangar/core';
import { cpuSeconds, residentBytes } from '@hangar/programs';
import { MetricsRegistry } from '@hangar/runtime';
import type { ContainerUnit } from './pods/container-unit.ts';
import type { PodWorker } from './pods/pod-worker.ts';
import type { PodMetrics } from './pods/world.ts';

interface ComputedFamily {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge';
  samples(): Iterable<readonly [labels: Labels, value: number]>;
}

interface RunningContainer {
  readonly labels: Labels;
  readonly unit: ContainerUnit;
}

export class RuntimeMetrics implements PodMetrics {
  /** All metrics: `/metrics` of the kubelet API. */
  readonly registry = new MetricsRegistry();
  /** CPU and memory of containers and of the node: `/metrics/resource`. */
  readonly resources = new MetricsRegistry();
  readonly #workers: () => readonly PodWorker[];
  readonly #starts = new Counter('kubelet_started_containers_total', 'Number of containers started.');
  readonly #startErrors = new Counter(
    'kubelet_started_containers_errors_total',
    'Number of errors when starting containers, by the waiting reason.',
  );
  readonly #probes = new Counter('prober_probe_total', 'Number of probes by type and result.');

  constructor(workers: () => readonly PodWorker[]) {
    this.#workers = workers;
    for (const family of [this.#starts, this.#startErrors, this.#probes]) this.registry.register(family);
    for (const family of this.#podFamilies()) this.registry.register(computed(family));
    for (const family of this.#resourceFamilies()) {
      this.registry.register(computed(family));
      this.resources.register(computed(family));
    }
  }

  started(): void {
    this.#starts.add('');
  }

  startFailed(reason: string): void {
    this.#startErrors.add(labelText({ code: reason }));
  }

  probed(type: 'Startup' | 'Liveness' | 'Readiness', isSuccess: boolean): void {
    this.#probes.add(labelText({ probe_type: type, result: isSuccess ? 'successful' : 'failed' }));
  }

  #podFamilies(): ComputedFamily[] {
    return [
      {
        name: 'kubelet_running_pods',
        help: 'Number of pods with a running container.',
        type: 'gauge',
        samples: () => [[{}, this.#workers().filter((worker) => worker.units().some((unit) => unit.isRunning)).length]],
      },
      {
        name: 'kubelet_running_containers',
        help: 'Number of containers by state.',
        type: 'gauge',
        samples: () => {
          const counts = { created: 0, running: 0, exited: 0 };
          for (const { unit } of this.#containers()) counts[stateOf(unit)] += 1;
          return Object.entries(counts).map(([state, count]) => [{ container_state: state }, count] as const);
        },
      },
      {
        name: 'hangar_process_runtime_pods',
        help: 'Number of pods of the node by phase and readiness.',
        type: 'gauge',
        samples: () => {
          const counts = new Map<string, { labels: Labels; count: number }>();
          for (const { pod, isReady } of this.#workers()) {
            const labels = { phase: pod.status?.phase ?? 'Pending', ready: String(isReady) };
            const key = labelText(labels);
            counts.set(key, { labels, count: (counts.get(key)?.count ?? 0) + 1 });
          }
          return Array.from(counts.values(), ({ labels, count }) => [labels, count] as const);
        },
      },
      {
        name: 'hangar_process_runtime_container_restarts_total',
        help: 'Number of restarts of a container.',
        type: 'counter',
        samples: () => this.#containers().map(({ labels, unit }) => [labels, unit.restartCount] as const),
      },
    ];
  }

  #resourceFamilies(): ComputedFamily[] {
    const ofPrograms = (value: (pid: number) => number | undefined) =>
      this.#containers().flatMap(({ labels, unit }) => {
        const found = unit.pid === undefined ? undefined : value(unit.pid);
        return found === undefined ? [] : [[labels, found] as const];
      });
    return [
      {
        name: 'container_cpu_usage_seconds_total',
        help: 'Cumulative CPU time of the program of a container in seconds, without its children.',
        type: 'counter',
        samples: () => ofPrograms(cpuSeconds),
      },
      {
        name: 'container_memory_working_set_bytes',
        help: 'Resident memory of the program of a container in bytes, without its children.',
        type: 'gauge',
        samples: () => ofPrograms(residentBytes),
      },
    ];
  }

  #containers(): RunningContainer[] {
    return this.#workers().flatMap((worker) => {
      const { namespace = '', name: pod = '' } = worker.pod.metadata;
      return worker.units().map((unit) => ({ labels: { container: unit.name, namespace, pod }, unit }));
    });
  }
}

const stateOf = ({ isRunning, terminated }: ContainerUnit): 'created' | 'running' | 'exited' => {
  if (isRunning) return 'running';
  return terminated ? 'exited' : 'created';
};

const computed = ({ name, help, type, samples }: ComputedFamily) => ({
  name,
  text: (): string =>
    [
      `# HELP ${name} ${help}`,
      `# TYPE ${name} ${type}`,
      ...Array.from(samples(), ([labels, value]) => `${name}${labelText(labels)} ${value}`),
    ].join('\n'),
});
