/** Metrics of requests, under kube-apiserver's names, so that dashboards and alerts keep working. */

import type { Clock } from '@hangar/core';
import type { RequestInfo } from '../request/info.ts';
import type { Resource } from '../resources/resource.ts';
import { Counter, Histogram, labelText } from '@hangar/core';

const durationBounds = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60];

/** Subresources that a node, a pod or a service answers. */
export const connections: ReadonlySet<string> = new Set(['attach', 'exec', 'log', 'portforward', 'proxy']);

export class RequestMetrics {
  readonly #clock: Clock;
  readonly #startSeconds: number;
  readonly #requests = new Counter(
    'apiserver_request_total',
    'Total number of requests by verb, resource, scope and HTTP response code.',
  );
  readonly #durations = new Histogram(
    'apiserver_request_duration_seconds',
    'Response latency in seconds, without watches.',
    durationBounds,
  );
  readonly #running = new Counter(
    'apiserver_current_inflight_requests',
    'Number of requests currently being served, mutating or read-only.',
    'gauge',
  );
  readonly #longRunning = new Counter(
    'apiserver_longrunning_requests',
    'Number of currently open watches and connections to nodes, pods and services.',
    'gauge',
  );
  /** Cached labels: joining them takes longer than counting. */
  readonly #labels = new Map<string, { request: string; duration: string }>();

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#startSeconds = Math.floor(clock.now() / 1_000);
  }

  /** Counts the request as in flight; call the returned function with the response. */
  begin(method: string): (info: RequestInfo | undefined, resource: Resource | undefined, status: number) => void {
    const begunMs = this.#clock.monotonicMs();
    const kind = method === 'GET' || method === 'HEAD' ? '{request_kind="readOnly"}' : '{request_kind="mutating"}';
    this.#running.add(kind);
    return (info, resource, status) => {
      this.#running.add(kind, -1);
      const { request, duration } = this.#labelsOf(info, resource, status);
      this.#requests.add(request);
      if (info?.verb !== 'watch') this.#durations.observe(duration, (this.#clock.monotonicMs() - begunMs) / 1_000);
    };
  }

  /** Called when a watch or a connection starts. The returned function is called when it ends. */
  longRunningBegan({ group, version, name }: Resource, subresource: string): () => void {
    const labels = labelText({
      verb: subresource === '' ? 'WATCH' : 'CONNECT',
      group,
      version,
      resource: name,
      ...(subresource === '' ? {} : { subresource }),
    });
    this.#longRunning.add(labels);
    return () => this.#longRunning.add(labels, -1);
  }

  /** Names come from the served resources, never from the request, so that clients cannot create series. */
  #labelsOf(info: RequestInfo | undefined, resource: Resource | undefined, status: number) {
    const isKnown = info?.isResource === true && resource !== undefined;
    const scope = !isKnown ? '' : info.name !== '' ? 'resource' : info.namespace !== '' ? 'namespace' : 'cluster';
    const subresource =
      isKnown && resource.subresources.some((one) => one.name === info.subresource) ? info.subresource : '';
    const verb = !isKnown ? 'OTHER' : connections.has(subresource) ? 'CONNECT' : info.verb.toUpperCase();
    const key = `${verb} ${resource?.apiVersion} ${resource?.name} ${subresource} ${scope} ${status}`;
    let labels = this.#labels.get(key);
    if (!labels) {
      const common = {
        verb,
        group: resource?.group ?? '',
        version: resource?.version ?? '',
        resource: resource?.name ?? '',
        subresource,
        scope,
      };
      labels = { request: labelText({ ...common, code: String(status) }), duration: labelText(common) };
      if (this.#labels.size < 10_000) this.#labels.set(key, labels);
    }
    return labels;
  }

  /** Number of request series: 0 before the first response. */
  get seriesCount(): number {
    return this.#requests.size;
  }

  /** Releases memory that only saves time while requests arrive. */
  compact(): void {
    this.#labels.clear();
  }

  text(): string {
    const families = [this.#requests, this.#durations, this.#running, this.#longRunning];
    return [...families.map((family) => family.text()), startTimeText(this.#startSeconds)].join('\n');
  }
}

/** The start time distinguishes a reset of a counter from a decrease. */
const startTimeText = (seconds: number): string => {
  const name = 'apiserver_request_metrics_start_time_seconds';
  return `# HELP ${name} Unix time at which the request counters started at zero.\n# TYPE ${name} gauge\n${name} ${seconds}`;
};
