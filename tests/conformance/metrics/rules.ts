/**
 * Recording rules about the API server that query the same metrics, labels and bounds as those of kubernetes-mixin: request rates and errors by
 * verb, latency objectives by scope, burn rates, and quantiles. The alerts about certificates, aggregated APIs, versions and terminated
 * requests are recorded without their thresholds, so that a rule records data whenever its metrics exist.
 */

export interface Rule {
  readonly record: string;
  readonly expr: string;
}

const job = 'job="kube-apiserver"';
const reads = 'verb=~"LIST|GET"';
const writes = 'verb=~"POST|PUT|PATCH|DELETE"';
const notStreaming = 'subresource!~"proxy|attach|log|exec|portforward"';
const windows = ['5m', '30m', '1h', '2h', '6h', '1d', '3d'];

const sli = (part: string, more: string, window: string): string =>
  `sum(rate(apiserver_request_sli_duration_seconds_${part}{${job},${notStreaming},${more}}[${window}]))`;
const total = (more: string, window: string): string => `sum(rate(apiserver_request_total{${job},${more}}[${window}]))`;

const readBurn = (window: string): string =>
  `(${sli('count', reads, window)} - ((${sli('bucket', `${reads},scope=~"resource|",le="1"`, window)} or vector(0))` +
  ` + ${sli('bucket', `${reads},scope="namespace",le="5"`, window)} + ${sli('bucket', `${reads},scope="cluster",le="30"`, window)})` +
  ` + (${total(`${reads},code=~"5.."`, window)} or vector(0))) / ${total(reads, window)}`;

const writeBurn = (window: string): string =>
  `(${sli('count', writes, window)} - ${sli('bucket', `${writes},le="1"`, window)}` +
  ` + (${total(`${writes},code=~"5.."`, window)} or vector(0))) / ${total(writes, window)}`;

const quantile = (verbs: string): string =>
  `histogram_quantile(0.99, sum by (le, resource) (rate(apiserver_request_sli_duration_seconds_bucket{${job},${verbs},${notStreaming}}[5m]))) > 0`;

export const rules: readonly Rule[] = [
  ...windows.flatMap((window) => [
    { record: `read:burnrate${window}`, expr: readBurn(window) },
    { record: `write:burnrate${window}`, expr: writeBurn(window) },
  ]),
  { record: 'read:latency_p99', expr: quantile(reads) },
  { record: 'write:latency_p99', expr: quantile(writes) },
  {
    record: 'code_resource:reads:rate5m',
    expr: `sum by (code, resource) (rate(apiserver_request_total{${job},${reads}}[5m]))`,
  },
  {
    record: 'code_resource:writes:rate5m',
    expr: `sum by (code, resource) (rate(apiserver_request_total{${job},${writes}}[5m]))`,
  },
  ...['2', '4'].map((code) => ({
    record: `code_verb:requests${code}xx:increase1h`,
    expr: `sum by (code, verb) (increase(apiserver_request_total{${job},verb=~"LIST|GET|POST|PUT|PATCH|DELETE",code=~"${code}.."}[1h]))`,
  })),
  {
    record: 'verb_scope_le:sli_bucket:increase1h',
    expr: 'sum by (verb, scope, le) (increase(apiserver_request_sli_duration_seconds_bucket[1h]))',
  },
  {
    record: 'client_certificates:count',
    expr: `sum by (job) (apiserver_client_certificate_expiration_seconds_count{${job}})`,
  },
  {
    record: 'aggregated_apis:availability10m',
    expr: `(1 - max by (name) (avg_over_time(aggregator_unavailable_apiservice{${job}}[10m]))) * 100`,
  },
  { record: 'versions:count', expr: `count(count by (git_version) (kubernetes_build_info{${job}}))` },
  {
    record: 'apiserver_cpu:rate5m',
    expr: `rate(process_cpu_seconds_total{${job}}[5m])`,
  },
];
