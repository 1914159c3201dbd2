import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '@hangar/core';
import { Scheduler } from '@hangar/core/simulation';
import { requestInfo } from '../request/info.ts';
import { builtinServed } from '../resources/builtin.ts';
import { RequestMetrics } from './request-metrics.ts';
import type { FinishedRequest } from './request-metrics.ts';

const clock = new Scheduler(seededRandom(1));
const configMaps = builtinServed('', 'v1', 'configmaps');
const pods = builtinServed('', 'v1', 'pods');
const path = '/api/v1/namespaces/a/configmaps';

const finished = (method: string, target: string, more: Partial<FinishedRequest> = {}): FinishedRequest => {
  const [at, query = ''] = target.split('?') as [string, string?];
  return {
    info: requestInfo(method, at, query.includes('watch=')),
    resource: configMaps,
    status: 200,
    query,
    startedMs: clock.monotonicMs(),
    excludedMs: 0,
    bytes: 10,
    ...more,
  };
};

/** Returns verb, scope, dry run, subresource and code of each counted request. */
function counted(metrics: RequestMetrics): string[] {
  const label = (line: string, name: string): string => new RegExp(`[{,]${name}="([^"]*)"`).exec(line)![1]!;
  return metrics
    .text()
    .split('\n')
    .filter((line) => line.startsWith('apiserver_request_total{') && !line.endsWith(' 0'))
    .map((line) => ['verb', 'scope', 'dry_run', 'subresource', 'code'].map((name) => label(line, name)).join(' '))
    .sort();
}

test('requests have the verbs and scopes of kube-apiserver', () => {
  const metrics = new RequestMetrics(clock);
  metrics.record(finished('POST', path, { status: 201 }));
  metrics.record(finished('POST', `${path}?dryRun=All`, { status: 201 }));
  metrics.record(finished('POST', `${path}?dryRun=Some`, { status: 400 }));
  metrics.record(finished('GET', `${path}/b`));
  metrics.record(finished('HEAD', `${path}/b`, { status: 404 }));
  metrics.record(finished('GET', path));
  metrics.record(finished('GET', '/api/v1/configmaps'));
  metrics.record(finished('GET', `${path}?watch=true`));
  metrics.record(finished('PUT', `${path}/b`, { status: 409 }));
  metrics.record(finished('PATCH', `${path}/b`, { contentType: 'application/merge-patch+json' }));
  metrics.record(finished('PATCH', `${path}/b`, { contentType: 'application/apply-patch+yaml' }));
  metrics.record(finished('DELETE', `${path}/b`));
  metrics.record(finished('DELETE', path));
  metrics.record(finished('GET', '/api/v1/namespaces/a/pods/b/log', { resource: pods }));
  metrics.record(finished('PUT', '/api/v1/namespaces/a/pods/b/status', { resource: pods }));
  assert.deepEqual(counted(metrics), [
    'APPLY resource   200',
    'CONNECT resource  log 200',
    'DELETE namespace   200',
    'DELETE resource   200',
    'GET resource   200',
    'GET resource   404',
    'LIST cluster   200',
    'LIST namespace   200',
    'PATCH resource   200',
    'POST resource   201',
    'POST resource All  201',
    'POST resource invalid  400',
    'PUT resource   409',
    'PUT resource  status 200',
    'WATCH namespace   200',
  ]);
});

test('names that are not served are never labels', () => {
  const metrics = new RequestMetrics(clock);
  metrics.record(finished('GET', '/api/v1/evil-17', { resource: undefined, status: 404 }));
  metrics.record(finished('GET', `${path}/b/evil-18`, { status: 404 }));
  metrics.record(finished('EVIL-19', `${path}/b`, { status: 405 }));
  metrics.record(finished('GET', '/evil-20', { resource: undefined, status: 404 }));
  metrics.terminated(finished('GET', '/api/v1/evil-21', { resource: undefined, status: 429 }));
  assert.deepEqual(counted(metrics), ['OTHER    404', 'OTHER    405']);
  assert.doesNotMatch(metrics.text(), /evil/i);
});

test('documents are counted by their path', () => {
  const metrics = new RequestMetrics(clock);
  const document = (target: string, more: Partial<FinishedRequest> = {}): void =>
    metrics.record(finished('GET', target, { resource: undefined, ...more }));
  document('/readyz');
  document('/readyz', { status: 500 });
  document('/openapi/v3/api/v1');
  document('/apis', { isAggregatedDiscovery: true });
  document('/apis');
  document('/livez', { status: 403 });
  assert.deepEqual(counted(metrics), [
    'GET   /readyz 200',
    'GET   /readyz 500',
    'GET   apis 200',
    'GET   openapi/v3/ 200',
    'OTHER    200',
    'OTHER    403',
  ]);
});

test('service level objectives exclude waiting and dry runs', async () => {
  const metrics = new RequestMetrics(clock);
  const slow = finished('POST', path, { excludedMs: 2_900 });
  const dry = finished('POST', `${path}?dryRun=All`);
  await clock.advance(3_000);
  metrics.record(slow);
  metrics.record(dry);
  const text = metrics.text();
  const sum = (name: string): RegExp => new RegExp(`^apiserver_request_${name}_sum\\{.*\\} (\\S+)$`, 'gm');
  assert.deepEqual(
    [...text.matchAll(sum('duration_seconds'))].map(([, value]) => Number(value)),
    [3, 3],
  );
  assert.deepEqual(
    [...text.matchAll(sum('sli_duration_seconds'))].map(([, value]) => Number(Number(value).toFixed(6))),
    [0.1],
  );
});

test('failed probes have a series before the first error', () => {
  const text = new RequestMetrics(clock).text();
  assert.match(text, /^apiserver_request_total\{code="500",.*subresource="\/readyz",verb="GET",version=""\} 0$/m);
});

test('series beyond the bound share one', () => {
  const metrics = new RequestMetrics(clock, 3);
  for (let status = 400; status < 410; status++) if (status !== 405) metrics.record(finished('GET', path, { status }));
  const lines = metrics
    .text()
    .split('\n')
    .filter((line) => line.startsWith('apiserver_request_total{'));
  assert.equal(lines.length, 4);
  assert.equal(lines.at(-1), 'apiserver_request_total{overflow="true"} 6');
});

test('counters stay when the memory of a quiet control plane is released', () => {
  const metrics = new RequestMetrics(clock);
  metrics.record(finished('GET', path));
  metrics.compact();
  metrics.record(finished('GET', path));
  assert.match(metrics.text(), /^apiserver_request_total\{code="200",.*verb="LIST".*\} 2$/m);
});

test('requests in flight are counted until they end', () => {
  const metrics = new RequestMetrics(clock);
  metrics.began('GET');
  metrics.began('POST');
  assert.match(metrics.text(), /inflight_requests\{request_kind="mutating"\} 1\n.*\{request_kind="readOnly"\} 1/);
  metrics.ended('POST');
  assert.match(metrics.text(), /inflight_requests\{request_kind="mutating"\} 0\n.*\{request_kind="readOnly"\} 1/);
});
