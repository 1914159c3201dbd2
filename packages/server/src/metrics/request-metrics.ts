/**
 * Metrics of requests, under kube-apiserver's names, so that its dashboards and alerts work unchanged.
 *
 * A request is recorded through the series of its resource, which are found by the resource and a small index: labels are joined once for
 * each series, not for each request.
 */

import { Counter, Histogram, labelText } from '@hangar/core';
import type { Clock, CounterSeries, HistogramSeries } from '@hangar/core';
import type { ResourceRequest } from '../request/info.ts';
import type { Resource } from '../resources/resource.ts';
import { documentLabels, labelsOfIndex, seriesIndex } from './request-labels.ts';
import type { RequestAttributes } from './request-labels.ts';

const durationBounds = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
];
/** Without those below 50 ms: they are for service level objectives. */
const sliBounds = durationBounds.slice(2);
const sizeBounds = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];

const component = 'apiserver';
/** Series of one family in one control plane; about 300 resources with a few verbs each. */
const defaultSeriesMax = 2_000;

/** A finished request. */
export interface FinishedRequest extends RequestAttributes {
  /** Monotonic time at which the request arrived. */
  readonly startedMs: number;
  /** Time that does not count for service level objectives: waiting in the fair queue, and for webhooks. */
  readonly excludedMs: number;
  /** Size of the response; undefined: unknown. */
  readonly bytes: number | undefined;
  /** The response is an aggregated discovery document. */
  readonly isAggregatedDiscovery?: boolean;
}

/** Series of requests with the same labels, except their status codes. */
interface RequestSeries {
  readonly labels: string;
  readonly codes: Map<number, CounterSeries>;
  /** The last status code and its counter: most responses have the same. */
  lastCode: number;
  lastCount: CounterSeries | undefined;
  readonly duration: HistogramSeries | undefined;
  /** Absent for dry runs. */
  readonly sli: HistogramSeries | undefined;
  /** Only for reads. */
  readonly sizes: HistogramSeries | undefined;
}

type SeriesByIndex = (RequestSeries | undefined)[];

interface ResourceSeries {
  readonly plain: SeriesByIndex;
  /** By subresource; created on demand. */
  subresources: Map<string, SeriesByIndex> | undefined;
}

export class RequestMetrics {
  readonly #clock: Clock;
  readonly #startSeconds: number;
  readonly #requests: Counter;
  readonly #durations: Histogram;
  readonly #sli: Histogram;
  readonly #sizes: Histogram;
  readonly #terminations: Counter;
  readonly #longRunning: Counter;
  readonly #deprecated: Counter;
  #readOnlyCount = 0;
  #mutatingCount = 0;
  /** Only an index of the series: a resource that was replaced finds the same series again. */
  #byResource = new WeakMap<Resource, ResourceSeries>();
  readonly #byDocument = new Map<string, RequestSeries>();
  #other: RequestSeries | undefined;

  constructor(clock: Clock, seriesMax = defaultSeriesMax) {
    this.#clock = clock;
    this.#startSeconds = Math.floor(clock.now() / 1_000);
    this.#requests = new Counter('apiserver_request_total', requestsHelp, 'counter', seriesMax);
    this.#durations = new Histogram('apiserver_request_duration_seconds', durationHelp, durationBounds, seriesMax);
    this.#sli = new Histogram('apiserver_request_sli_duration_seconds', sliHelp, sliBounds, seriesMax);
    this.#sizes = new Histogram('apiserver_response_sizes', 'Response sizes of reads in bytes.', sizeBounds, seriesMax);
    this.#terminations = new Counter(
      'apiserver_request_terminations_total',
      'Number of requests that the server terminated to protect itself.',
      'counter',
      seriesMax,
    );
    this.#longRunning = new Counter(
      'apiserver_longrunning_requests',
      'Number of currently open watches and connections to nodes, pods and services.',
      'gauge',
      seriesMax,
    );
    this.#deprecated = new Counter(
      'apiserver_requested_deprecated_apis',
      '1 for each deprecated API that was requested, by its group, version and resource.',
      'gauge',
      seriesMax,
    );
  }

  /** Counts the request as in flight until `ended` is called with the same method. Returns the current monotonic time. */
  began(method: string): number {
    if (isRead(method)) this.#readOnlyCount++;
    else this.#mutatingCount++;
    return this.#clock.monotonicMs();
  }

  ended(method: string): void {
    if (isRead(method)) this.#readOnlyCount--;
    else this.#mutatingCount--;
  }

  /** Records the response. For watches and connections: when they end. */
  record(request: FinishedRequest): void {
    const { status, startedMs, excludedMs, bytes } = request;
    const series = this.#seriesOf(request);
    if (series.lastCode !== status) this.#useCode(series, status);
    series.lastCount!.value++;
    if (!series.duration) return;
    const elapsedMs = this.#clock.monotonicMs() - startedMs;
    series.duration.observe(elapsedMs / 1_000);
    series.sli?.observe((elapsedMs - excludedMs) / 1_000);
    if (series.sizes && bytes !== undefined) series.sizes.observe(bytes);
  }

  #useCode(series: RequestSeries, status: number): void {
    let count = series.codes.get(status);
    if (!count) series.codes.set(status, (count = this.#requests.with(withCode(series.labels, status))));
    series.lastCode = status;
    series.lastCount = count;
  }

  /** Records that the server refused or aborted the request to protect itself. */
  terminated(attributes: RequestAttributes): void {
    const { info, resource } = attributes;
    const index = info?.isResource && resource ? seriesIndex(info, resource, attributes) : -1;
    const { verb, scope } = index < 0 ? { verb: 'OTHER', scope: '' } : labelsOfIndex(index);
    const known = index < 0 ? undefined : resource;
    this.#terminations.add(
      labelText({
        code: String(attributes.status),
        component,
        group: known?.group ?? '',
        resource: known?.name ?? '',
        scope,
        subresource: known && info?.isResource ? info.subresource : '',
        verb,
        version: known?.version ?? '',
      }),
    );
  }

  /** Called when a watch or a connection starts. The returned function is called when it ends. */
  longRunningBegan(info: ResourceRequest, resource: Resource, attributes: RequestAttributes): () => void {
    const { verb, scope } = labelsOfIndex(seriesIndex(info, resource, attributes));
    const { subresource } = info;
    const { group, version, name } = resource;
    const series = this.#longRunning.with(
      labelText({ component, group, resource: name, scope, subresource, verb, version }),
    );
    series.value++;
    return () => void series.value--;
  }

  #seriesOf(request: FinishedRequest): RequestSeries {
    const { info, resource } = request;
    if (info?.isResource && resource) {
      const index = seriesIndex(info, resource, request);
      if (index >= 0) {
        const indexed = this.#indexed(resource, info.subresource);
        return (indexed[index] ??= this.#ofResource(resource, info.subresource, index));
      }
    }
    return this.#ofDocument(request) ?? (this.#other ??= this.#ofOther());
  }

  #indexed(resource: Resource, subresource: string): SeriesByIndex {
    let known = this.#byResource.get(resource);
    if (!known) this.#byResource.set(resource, (known = { plain: [], subresources: undefined }));
    if (subresource === '') return known.plain;
    known.subresources ??= new Map();
    let indexed = known.subresources.get(subresource);
    if (!indexed) known.subresources.set(subresource, (indexed = []));
    return indexed;
  }

  #ofResource(resource: Resource, subresource: string, index: number): RequestSeries {
    const { verb, scope, dryRun } = labelsOfIndex(index);
    const { group, version, name } = resource;
    if (resource.deprecationWarning !== undefined) {
      const labels = labelText({ group, removed_release: '', resource: name, subresource, version });
      this.#deprecated.with(labels).value = 1;
    }
    return this.#made({ component, group, resource: name, scope, subresource, verb, version }, dryRun);
  }

  #ofDocument({ info, status, isAggregatedDiscovery = false }: FinishedRequest): RequestSeries | undefined {
    // Refusals before the document are `OTHER`.
    if (!info || info.isResource || info.verb !== 'get' || [401, 403, 404, 429].includes(status)) return undefined;
    const known = documentLabels(info.path, isAggregatedDiscovery);
    if (!known) return undefined;
    let series = this.#byDocument.get(known.subresource);
    if (!series) {
      series = this.#made({ ...known, group: '', resource: '', scope: '', verb: 'GET', version: '' }, '');
      this.#byDocument.set(known.subresource, series);
    }
    return series;
  }

  #made(common: Labels, dryRun: string): RequestSeries {
    const labels = inOrder(common);
    const withDryRun = inOrder({ ...common, dry_run: dryRun });
    return {
      labels: withDryRun,
      codes: new Map(),
      lastCode: 0,
      lastCount: undefined,
      duration: this.#durations.with(withDryRun),
      sli: dryRun === '' ? this.#sli.with(labels) : undefined,
      sizes: common['verb'] === 'GET' || common['verb'] === 'LIST' ? this.#sizes.with(labels) : undefined,
    };
  }

  /** Requests without a handler: refused ones, unknown resources, requests to other API servers. They have no duration. */
  #ofOther(): RequestSeries {
    const labels = { component, group: '', resource: '', scope: '', subresource: '', verb: 'OTHER', version: '' };
    return {
      labels: inOrder({ ...labels, dry_run: '' }),
      codes: new Map(),
      lastCode: 0,
      lastCount: undefined,
      duration: undefined,
      sli: undefined,
      sizes: undefined,
    };
  }

  /** Number of series: 0 before the first response. Histograms count by their series of counters. */
  get seriesCount(): number {
    return this.#requests.size + 2 * this.#durations.size;
  }

  /** Releases memory that only saves time while requests arrive. */
  compact(): void {
    this.#byResource = new WeakMap();
    this.#byDocument.clear();
    this.#other = undefined;
  }

  text(): string {
    // Error rates need a series before the first error. kube-apiserver has this one, because it refuses probes while it starts.
    this.#requests.with(failedProbes);
    const families = [this.#requests, this.#durations, this.#sli, this.#sizes, this.#terminations];
    return [
      ...[...families, this.#longRunning, this.#deprecated].map((family) => family.text()),
      inFlightText(this.#readOnlyCount, this.#mutatingCount),
      startTimeText(this.#startSeconds),
    ].join('\n');
  }
}

type Labels = Readonly<Record<string, string>>;

const isRead = (method: string): boolean => method === 'GET' || method === 'HEAD';

/** Sorted by name, as in kube-apiserver. */
const inOrder = (labels: Labels): string =>
  labelText(Object.fromEntries(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1))));

const withCode = (labels: string, status: number): string => `{code="${status}",${labels.slice(1)}`;

const failedProbes = withCode(
  inOrder({
    component: '',
    dry_run: '',
    group: '',
    resource: '',
    scope: '',
    subresource: '/readyz',
    verb: 'GET',
    version: '',
  }),
  500,
);

const requestsHelp = 'Total number of requests by verb, dry run, resource, scope, component and HTTP response code.';
const durationHelp = 'Response latency in seconds by verb, dry run, resource, scope and component.';
const sliHelp =
  'Response latency in seconds without the time that the request waited for webhooks or in a queue, by verb, resource, scope and component.';

const inFlightText = (readOnly: number, mutating: number): string => {
  const name = 'apiserver_current_inflight_requests';
  return (
    `# HELP ${name} Number of requests currently being served, mutating or read-only.\n# TYPE ${name} gauge\n` +
    `${name}{request_kind="mutating"} ${mutating}\n${name}{request_kind="readOnly"} ${readOnly}`
  );
};

/** The start time distinguishes a reset of a counter from a decrease. */
const startTimeText = (seconds: number): string => {
  const name = 'apiserver_request_metrics_start_time_seconds';
  return `# HELP ${name} Unix time at which the request counters started at zero.\n# TYPE ${name} gauge\n${name} ${seconds}`;
};
