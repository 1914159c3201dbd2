/** Measures calls of the store, under the names that kube-apiserver uses for etcd, and adds them to traces. */

import { hasCode, traced } from '@hangar/core';
import type { Clock } from '@hangar/core';
import type { Store, Write } from '@hangar/store';
import { ForwardingStore } from '../objects/forwarding-store.ts';
import { keyResources } from '../resources/key-resource.ts';
import type { GroupResource } from '../resources/key-resource.ts';
import { Counter, Histogram, labelText } from '@hangar/core';

const durationBounds = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
];

type Operation = 'get' | 'list' | 'create' | 'update' | 'delete';

const labelsMax = 10_000;
const unknown: GroupResource = { group: '', resource: '' };

export class ObservedStore extends ForwardingStore {
  readonly #clock: Clock;
  readonly #resourceOf: (key: string) => GroupResource | undefined;
  readonly #durations = new Histogram(
    'etcd_request_duration_seconds',
    'Latency of store requests in seconds.',
    durationBounds,
  );
  readonly #requests = new Counter('etcd_requests_total', 'Total number of store requests.');
  readonly #errors = new Counter('etcd_request_errors_total', 'Total number of failed store requests.');
  readonly #labels = new Map<GroupResource, Map<Operation, string>>();

  constructor(store: Store, prefix: string, clock: Clock) {
    super(store);
    this.#clock = clock;
    this.#resourceOf = keyResources(prefix);
  }

  /** Returns metrics in the Prometheus text format. */
  text(): string {
    return [this.#durations, this.#requests, this.#errors].map((family) => family.text()).join('\n');
  }

  override get(...parameters: Parameters<Store['get']>): ReturnType<Store['get']> {
    return this.#observed('get', parameters[0], () => this.store.get(...parameters));
  }

  override range(...parameters: Parameters<Store['range']>): ReturnType<Store['range']> {
    return this.#observed('list', parameters[0].start, () => this.store.range(...parameters));
  }

  override commit(writes: readonly Write[]): ReturnType<Store['commit']> {
    const [first] = writes;
    const key = first === undefined ? '' : first.type === 'deleteRange' ? first.range.start : first.key;
    return this.#observed(operationOf(first), key, () => this.store.commit(writes));
  }

  #observed<T>(operation: Operation, key: string, ask: () => Promise<T>): Promise<T> {
    const labels = this.#labelsOf(operation, key);
    const begunMs = this.#clock.monotonicMs();
    const answer = traced(`store ${operation}`, ask, () => ({ 'db.key': key }));
    const ended = (): void => this.#durations.observe(labels, (this.#clock.monotonicMs() - begunMs) / 1_000);
    this.#requests.add(labels);
    answer.then(ended, (error: unknown) => {
      ended();
      if (!hasCode(error, 'Closed')) this.#errors.add(labels);
    });
    return answer;
  }

  #labelsOf(operation: Operation, key: string): string {
    const resource = this.#resourceOf(key) ?? unknown;
    let ofResource = this.#labels.get(resource);
    if (!ofResource) {
      if (this.#labels.size >= labelsMax) this.#labels.clear();
      this.#labels.set(resource, (ofResource = new Map()));
    }
    let labels = ofResource.get(operation);
    if (labels === undefined) ofResource.set(operation, (labels = labelText({ operation, ...resource })));
    return labels;
  }
}

function operationOf(write: Write | undefined): Operation {
  if (write?.type === 'delete' || write?.type === 'deleteRange') return 'delete';
  return write?.type === 'put' && write.expected === 0 ? 'create' : 'update';
}
