import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RestClient } from '@hangar/client';
import type { HttpTransport } from '@hangar/client';
import { Logger, systemClock } from '@hangar/core';
import { kubeconfig } from '@hangar/pki';
import { testAuthority } from '@hangar/testkit';
import type { ControlPlane } from '../api/index.ts';
import { readFigures } from './api-server-metrics.ts';
import { ApiServerMeasurements } from './dedicated-measurements.ts';

const { signal } = new AbortController();
const authority = testAuthority();
const credentials = authority.client('admin');
const log = new Logger({ level: 'error', format: 'text', clock: systemClock, write: () => {} });

// oxlint-disable-next-line require-await
async function* inChunks(text: string, length: number): AsyncGenerator<Uint8Array, void, void> {
  for (let at = 0; at < text.length; at += length) yield Buffer.from(text.slice(at, at + length));
}

const metricsText = ({ objects = 900, requests = 1_000, startedAt = 5 } = {}): string =>
  [
    '# HELP apiserver_resource_objects Number of stored objects.',
    `apiserver_resource_objects{group="",resource="configmaps"} ${objects}`,
    'apiserver_resource_objects{group="apps",resource="deployments"} 100',
    'apiserver_storage_objects{resource="configmaps"} 7',
    'apiserver_storage_size_bytes{storage_cluster_id="etcd-0"} 1.26976e+06',
    `apiserver_request_total{code="200",verb="GET"} ${requests}`,
    'apiserver_request_total{code="200",verb="WATCH"} 5',
    'apiserver_request_duration_seconds_count{verb="GET"} 99999',
    `process_start_time_seconds ${startedAt}`,
    '',
  ].join('\n');

test('the metrics of an API server are read in chunks of any length', async () => {
  for (const length of [1, 7, 64, 100_000]) {
    const figures = await readFigures(inChunks(metricsText(), length));
    assert.deepEqual(figures, { objects: 1_000, storedBytes: 1_269_760, requests: 1_005, startedAt: 5 });
  }
  await assert.rejects(readFigures(inChunks('<html>\n', 10)), /no apiserver_request_total/);
  await assert.rejects(readFigures(inChunks('x'.repeat(20_000), 1_000)), /longer than/);
});

test('objects that are not counted are unknown', async () => {
  const objectsOf = async (text: string) => (await readFigures(inChunks(text, 64))).objects;
  assert.equal(await objectsOf(metricsText({ objects: -1 })), undefined);
  assert.equal(await objectsOf(metricsText().replaceAll(/^apiserver_(resource|storage)_objects.*\n/gm, '')), undefined);
  assert.equal(await objectsOf(metricsText().replaceAll(/^apiserver_resource_objects.*\n/gm, '')), 7);
  assert.equal(await objectsOf(metricsText().replaceAll(/(_objects\{.*\}) \d+/g, '$1 0')), undefined);
});

/** A management plane with the kubeconfigs of all control planes, and their API servers. */
class World {
  nowMs = 1_000_000;
  text = metricsText();
  isAway = false;
  readonly scraped: string[] = [];
  closed = 0;

  readonly measurements = new ApiServerMeasurements({
    client: new RestClient({
      request: ({ target }) => answered(this.#managed(target)),
      close: () => Promise.resolve(),
    }),
    connect: ({ server }) => {
      this.scraped.push(new URL(server).hostname);
      if (this.isAway) return Promise.reject(new Error('away'));
      const close = (): Promise<void> => Promise.resolve(void this.closed++);
      return Promise.resolve(new RestClient({ request: () => answered(this.text), close }));
    },
    clock: { ...systemClock, now: () => this.nowMs },
    log,
  });

  async measure(count = 1) {
    this.scraped.splice(0);
    const planes = Array.from({ length: count }, (_, i) => planeOf(`p${i}`));
    return (await this.measurements.measure(planes, signal)).get('p0')!;
  }

  #managed(target: string): string {
    const [, name = ''] = /\/kplane-cp-(p\d+)\//.exec(target) ?? [];
    const metadata = { name, namespace: `kplane-cp-${name}`, uid: name };
    if (target.includes('hostedcontrolplanes')) return JSON.stringify({ metadata, spec: { replicas: 2 } });
    const server = `https://${name}.test:6443`;
    const text = kubeconfig({ name, user: 'admin', server, authority: authority.certificate, credentials });
    return JSON.stringify({ metadata, data: { value: Buffer.from(text).toString('base64') } });
  }
}

const planeOf = (name: string): ControlPlane => ({
  apiVersion: 'controlplane.kplane.dev/v1alpha1',
  kind: 'ControlPlane',
  metadata: { name, uid: name },
  spec: { mode: 'Dedicated' },
});

const answered = (text: string): ReturnType<HttpTransport['request']> =>
  Promise.resolve({
    status: 200,
    header: (name) => (name === 'content-type' ? 'application/json' : undefined),
    body: () => Promise.resolve(Buffer.from(text)),
    stream: () => inChunks(text, 100),
  });

test('an API server has figures from its second measurement on, and a rate for all its replicas', async () => {
  const world = new World();
  assert.deepEqual(await world.measure(), {}, 'it may have just started');
  world.nowMs += 30_000;
  await world.measure();
  assert.deepEqual(world.scraped, [], 'at most every 5 minutes');
  world.nowMs += 270_000;
  world.text = metricsText({ requests: 4_000 });
  const second = { objects: 1_000, storedBytes: 1_269_760, requestsPerSecond: 20 };
  assert.deepEqual(await world.measure(), second, '3,000 requests in 300 s, and 2 replicas');
  world.nowMs += 300_000;
  world.text = metricsText({ requests: 9_000, startedAt: 6 });
  assert.deepEqual(await world.measure(), {}, 'another API server');
  world.nowMs += 300_000;
  world.text = metricsText({ requests: 7_000 });
  assert.equal((await world.measure()).requestsPerSecond, 10, '3,000 requests in 600 s');
  world.nowMs += 300_000;
  world.text = metricsText({ requests: 9_300, startedAt: 6 });
  assert.equal((await world.measure()).requestsPerSecond, 1, '300 requests in 600 s');
  assert.equal(world.closed, 5);
});

test('a control plane that does not respond has no measurements', async () => {
  const world = new World();
  await world.measure();
  world.nowMs += 300_000;
  assert.equal((await world.measure()).objects, 1_000);
  world.isAway = true;
  world.nowMs += 300_000;
  assert.deepEqual(await world.measure(), {});
});

test('a bounded number of control planes is measured at a time, the oldest first', async () => {
  const world = new World();
  await world.measure(12);
  assert.equal(world.scraped.length, 8);
  await world.measure(12);
  assert.deepEqual(world.scraped.sort(), ['p10.test', 'p11.test', 'p8.test', 'p9.test']);
});
