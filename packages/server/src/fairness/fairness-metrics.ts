/**
 * Metrics of queued requests, under the names of kube-apiserver. The labels contain neither tenants nor their custom levels and schemas,
 * which are private and may be many.
 */

import { Counter, Histogram, labelText } from '@hangar/core';
import type { Place } from './tenant-queue.ts';

/** Names of kube-apiserver; `time-out`: waited too long, `cancelled`: the client disconnected. */
export type Reason = 'queue-full' | 'concurrency-limit' | 'time-out' | 'cancelled' | 'rate-limit';

const waitBounds = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30];

export class FairnessMetrics {
  readonly #refused = new Counter(
    'apiserver_flowcontrol_rejected_requests_total',
    'Number of requests rejected with status 429, by priority level, flow schema and reason.',
  );
  readonly #dispatched = new Counter(
    'apiserver_flowcontrol_dispatched_requests_total',
    'Number of requests dispatched after waiting in a queue.',
  );
  readonly #queued = new Counter(
    'apiserver_flowcontrol_current_inqueue_requests',
    'Number of requests currently waiting in a queue.',
    'gauge',
  );
  readonly #waits = new Histogram(
    'apiserver_flowcontrol_request_wait_duration_seconds',
    'Length of time that queued requests waited, without requests that were dispatched immediately.',
    waitBounds,
  );

  queued({ labels }: Place): void {
    this.#queued.add(labels);
  }

  dispatched({ labels }: Place, seconds: number): void {
    this.#queued.add(labels, -1);
    this.#dispatched.add(labels);
    this.#waits.observe(labels, seconds);
  }

  refused({ labels }: Place, reason: Reason): void {
    if (reason === 'time-out' || reason === 'cancelled') this.#queued.add(labels, -1);
    this.#refused.add(`${labels.slice(0, -1)},reason="${reason}"}`);
  }

  /** Counted before the request is classified. */
  beyondRate(): void {
    this.#refused.add('{priority_level="",flow_schema="",reason="rate-limit"}');
  }

  text(): string {
    return [this.#refused, this.#dispatched, this.#queued, this.#waits].map((family) => family.text()).join('\n');
  }
}

/** Default objects of every control plane. */
const knownLevels = 'catch-all exempt global-default leader-election node-high system workload-high workload-low';
const knownSchemas =
  'catch-all endpoint-controller exempt global-default kube-controller-manager kube-scheduler kube-system-service-accounts ' +
  'probes service-accounts system-leader-election system-node-high system-nodes workload-leader-election';
const known = { levels: new Set(knownLevels.split(' ')), schemas: new Set(knownSchemas.split(' ')) };

export const placeLabels = (level: string, schema: string): string =>
  labelText({
    priority_level: known.levels.has(level) ? level : 'other',
    flow_schema: known.schemas.has(schema) ? schema : 'other',
  });
