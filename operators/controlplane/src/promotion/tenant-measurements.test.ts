import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RestClient } from '@hangar/client';
import type { HttpTransport } from '@hangar/client';
import { systemClock } from '@hangar/core';
import { TenantMeasurements } from './tenant-measurements.ts';

const prefix = '/apis/tenancy.hangar.dev/v1alpha1/tenants/';
const { signal } = new AbortController();

/** A host whose usage report the test sets. */
class Host {
  items: object[] = [];
  readonly counted: string[] = [];
  nowMs = 1_000_000;

  readonly transport: HttpTransport = {
    request: ({ target }) => {
      const name = target.slice(prefix.length).replace('/usage', '');
      if (name !== '*') this.counted.push(name);
      const answer = name === '*' ? { items: this.items } : { status: { objects: 7, storedBytes: 70 } };
      const body = Buffer.from(JSON.stringify({ kind: 'TenantUsage', apiVersion: 'v1', metadata: {}, ...answer }));
      const header = (header: string) => (header === 'content-type' ? 'application/json' : undefined);
      return Promise.resolve({
        status: 200,
        header,
        body: () => Promise.resolve(body),
        // oxlint-disable-next-line require-await
        stream: async function* () {
          yield body;
        },
      });
    },
    close: () => Promise.resolve(),
  };

  open(): TenantMeasurements {
    const clock = { ...systemClock, now: () => this.nowMs };
    return new TenantMeasurements({ client: new RestClient(this.transport), clock });
  }
}

const item = (name: string, recent: object, write = 0) => ({
  metadata: { name, uid: name },
  status: { requests: { read: 0, write }, recent },
});
const tenants = (...names: string[]) => names.map((path) => ({ path, uid: path }));

test('the latency of neighbours counts for the tenant that used the most processing time', async () => {
  const host = new Host();
  const measurements = host.open();
  const next = async (seconds: Readonly<Record<string, number>>) => {
    host.items = Object.entries(seconds).map(([name, processingSeconds]) =>
      item(name, { requestsPerSecond: 5, neighbourP99Seconds: 0.75, processingSeconds, stalls: 2 }),
    );
    const measured = await measurements.measure(tenants('a', 'b', 'idle'), { isCounted: false, signal });
    return [...measured].filter(([, { neighbourP99Ms }]) => neighbourP99Ms === 750).map(([name]) => name);
  };
  assert.deepEqual(await next({ a: 100, b: 1 }), [], 'the first report has no time to compare with');
  assert.deepEqual(await next({ a: 101, b: 11 }), ['b']);
  assert.deepEqual(await next({ a: 111, b: 0.5 }), ['a'], 'b was closed and opened again');
  assert.deepEqual(await next({ a: 111, b: 0.5 }), [], 'no processing');
  const many = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`t${i}`, 10]));
  assert.deepEqual(await next({ a: 122, b: 0.5, ...many }), [], 'less than a fifth of the time');
  const measured = await measurements.measure(tenants('a', 'idle'), { isCounted: false, signal });
  const { neighbourP99Ms: _, ...rest } = measured.get('a')!;
  assert.deepEqual(rest, { requestsPerSecond: 5, stallsPerHour: 2 });
  assert.equal(measured.get('idle')!.requestsPerSecond, 0);
  assert.deepEqual(host.counted, []);
});

test('tenants are counted once, and again some minutes after a write, a bounded number at a time', async () => {
  const host = new Host();
  const measurements = host.open();
  const names = Array.from({ length: 50 }, (_, i) => `t${i}`);
  const next = async () => {
    host.counted.splice(0);
    return measurements.measure(tenants(...names), { isCounted: true, signal });
  };
  const measured = await next();
  assert.equal(host.counted.length, 32);
  assert.deepEqual([measured.get('t0')!.objects, measured.get('t0')!.storedBytes], [7, 70]);
  assert.equal(measured.get('t40')!.objects, undefined, 'unknown, not 0');
  await next();
  assert.equal(host.counted.length, 18);
  host.items = [item('t3', {}, 5)];
  await next();
  assert.deepEqual(host.counted, []);
  host.nowMs += 300_000;
  await next();
  assert.deepEqual(host.counted, ['t3']);
  host.nowMs += 300_000;
  await next();
  assert.deepEqual(host.counted, []);
});

test('a tenant that replaced another one of its name has none of its figures', async () => {
  const host = new Host();
  const measurements = host.open();
  host.items = [item('a', { requestsPerSecond: 5, stalls: 2 })];
  await measurements.measure(tenants('a'), { isCounted: true, signal });
  const measured = await measurements.measure([{ path: 'a', uid: 'new' }], { isCounted: false, signal });
  assert.deepEqual([measured.get('a')!.requestsPerSecond, measured.get('a')!.objects], [0, undefined]);
});
