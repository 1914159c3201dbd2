import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { SampleReader } from './exposition.ts';
import { loadBetween, quantile, totalLoad } from './load.ts';

const bucket = (verb: string, le: string, count: number, more = ''): string =>
  `apiserver_request_duration_seconds_bucket{component="apiserver",dry_run="",group="",resource="pods",scope="resource",subresource="${more}",verb="${verb}",version="v1",le="${le}"} ${count}`;

const text = [
  '# HELP apiserver_current_inflight_requests [STABLE] Maximal number of currently used inflight request limit.',
  '# TYPE apiserver_current_inflight_requests gauge',
  'apiserver_current_inflight_requests{request_kind="mutating"} 2',
  'apiserver_current_inflight_requests{request_kind="readOnly"} 5',
  'apiserver_current_inqueue_requests{request_kind="readOnly"} 900',
  bucket('GET', '0.1', 90),
  bucket('GET', '1', 99),
  bucket('GET', '+Inf', 100),
  bucket('POST', '0.1', 10),
  bucket('POST', '1', 10),
  bucket('POST', '+Inf', 10),
  ...['WATCH', 'LIST', 'CONNECT', 'DELETECOLLECTION'].map((verb) => bucket(verb, '1', 5_000)),
  bucket('GET', '1', 5_000, 'log'),
  'apiserver_request_duration_seconds_sum{verb="GET"} 7',
  'process_cpu_seconds_total 12.5',
  'process_cpu_seconds_total_other 3',
  'go_info{version="go1.26"} 1',
].join('\n');

const read = (chunks: readonly Uint8Array[]) => {
  const reader = new SampleReader();
  for (const chunk of chunks) reader.push(chunk);
  return reader.end();
};

const sample = {
  inFlight: 7,
  cpuSeconds: 12.5,
  buckets: new Map([
    [0.1, 100],
    [1, 109],
    [Infinity, 110],
  ]),
};

test('only requests whose duration depends on the load are counted', () => {
  assert.deepEqual(read([Buffer.from(text)]), sample);
  assert.deepEqual(read([Buffer.from(`${text}\n`)]), sample);
});

test('property: the result does not depend on the chunks', () => {
  const bytes = Buffer.from(text);
  fc.assert(
    fc.property(fc.array(fc.nat(bytes.length), { maxLength: 40 }), (cuts) => {
      const ends = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
      assert.deepEqual(read(ends.slice(1).map((end, at) => bytes.subarray(ends[at], end))), sample);
    }),
  );
});

test('a text without the metrics, and one without lines, is an error', () => {
  assert.throws(() => read([Buffer.from('<html>\n')]), /no apiserver_current_inflight_requests/);
  assert.throws(() => read([Buffer.alloc(20_000, 'a')]), /longer than 16384 bytes/);
  assert.throws(() => read(Array.from({ length: 20 }, () => Buffer.alloc(1_000, 'p'))), /longer than 16384 bytes/);
});

test('property: no text crashes the reader or makes it grow', () => {
  const line = fc.oneof(
    fc.string(),
    fc.constantFrom(...text.split('\n')),
    fc.tuple(fc.constantFrom('GET', 'POST'), fc.string(), fc.integer()).map(([verb, le, n]) => bucket(verb, le, n)),
  );
  fc.assert(
    fc.property(fc.array(line, { maxLength: 300 }), (lines) => {
      const reader = new SampleReader();
      reader.push(Buffer.from(`${text}\n${lines.join('\n')}`));
      const { inFlight, cpuSeconds, buckets } = reader.end();
      assert.ok(Number.isFinite(inFlight) && Number.isFinite(cpuSeconds) && buckets.size <= 128);
    }),
  );
});

test('the load of an API server is the difference of two samples, and unknown after a restart', () => {
  const before = {
    ...sample,
    atMs: 1_000,
    buckets: new Map([
      [0.1, 40],
      [1, 40],
      [Infinity, 40],
    ]),
  };
  const after = { ...sample, atMs: 11_000, cpuSeconds: 17.5 };
  assert.deepEqual(loadBetween(before, after), {
    inFlight: 7,
    cpuCores: 0.5,
    buckets: new Map([
      [0.1, 60],
      [1, 69],
      [Infinity, 70],
    ]),
  });
  assert.equal(loadBetween(before, { ...after, cpuSeconds: 0.5 }), undefined);
  assert.equal(loadBetween(before, { ...after, atMs: 1_000 }), undefined);
});

test('loads are added, and the quantile is over the requests of all API servers', () => {
  const pod = (fast: number, slow: number) => ({
    inFlight: 3,
    cpuCores: 0.25,
    buckets: new Map([
      [0.1, fast],
      [1, fast + slow],
      [Infinity, fast + slow],
    ]),
  });
  const load = totalLoad([pod(90, 0), pod(0, 10)], 3)!;
  assert.deepEqual(
    { ...load, latencySeconds: load.latencySeconds!.toFixed(2) },
    {
      ready: 3,
      measured: 2,
      inFlight: 6,
      cpuCores: 0.5,
      latencySeconds: '0.91',
    },
  );
  assert.equal(totalLoad([], 2), undefined);
});

test('a quantile beyond the last bound is that bound, and few requests have none', () => {
  assert.equal(
    quantile(
      0.99,
      new Map([
        [1, 0],
        [60, 0],
        [Infinity, 100],
      ]),
    ),
    60,
  );
  assert.equal(
    quantile(
      0.99,
      new Map([
        [1, 49],
        [Infinity, 49],
      ]),
    ),
    undefined,
  );
  assert.equal(quantile(0.99, new Map()), undefined);
});
