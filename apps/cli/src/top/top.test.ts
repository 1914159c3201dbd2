import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defineKind } from '@hangar/client';
import type { ApiObject } from '@hangar/client';
import { systemClock } from '@hangar/core';
import { ControlPlane } from '../kinds.ts';
import { KeptOutput, openTestWorld } from '../testing/test-session.ts';
import { rowsOf, sorted } from './rows.ts';
import type { Sample, TenantSample } from './sample.ts';
import { rowsThatFit, screen, topTable } from './screen.ts';

const ConfigMap = defineKind<ApiObject>({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  isNamespaced: true,
});

const tenant = (name: string, reads: number, changes: Partial<TenantSample> = {}): TenantSample => ({
  name,
  uid: `uid of ${name}`,
  reads,
  writes: 0,
  watches: 0,
  memoryBytes: 0,
  ...changes,
});

const sample = (atMs: number, ...items: TenantSample[]): Sample => ({ atMs, tenants: items.length, items });

describe('rows', () => {
  test('have the requests a second between two samples', () => {
    const before = sample(1_000, tenant('a', 10), tenant('b', 5), tenant('c', 50), tenant('e', 3));
    const now = sample(
      3_000,
      tenant('a', 30),
      tenant('b', 5),
      tenant('c', 4),
      tenant('d', 2),
      tenant('e', 9, { uid: 'new' }),
    );
    assert.deepEqual(
      rowsOf(now, before).map(({ name, rate }) => [name, rate]),
      [
        ['a', 10],
        ['b', 0],
        // It was idle in between, and counts from 0 again.
        ['c', 2],
        ['d', 1],
        ['e', 4.5],
      ],
    );
    assert.equal(rowsOf(now, undefined)[0]!.rate, undefined);
  });

  test('are sorted by what was asked for, and by name where that is equal', () => {
    const now = sample(0, tenant('b', 0, { memoryBytes: 1 }), tenant('a', 0), tenant('c', 0, { memoryBytes: 3 }));
    const order = (sorting: 'memory' | 'name') => sorted(rowsOf(now, undefined), sorting).map(({ name }) => name);
    assert.deepEqual(order('memory'), ['c', 'b', 'a']);
    assert.deepEqual(order('name'), ['a', 'b', 'c']);
  });

  test('are a table', () => {
    const now = sample(0, tenant('a\u001b', 0, { memoryBytes: 3_072, objects: 7, storedBytes: 100, watches: 2 }));
    assert.equal(
      topTable(rowsOf(now, undefined)),
      [
        'NAME    REQUESTS/S   OBJECTS   STORED   MEMORY   SHARE   WATCHES',
        'a\\x1b   -            7         100B     3KiB     100%    2',
        '',
      ].join('\n'),
    );
  });
});

test('a screen fits the terminal, however small', () => {
  for (const size of [
    { columns: 1, rows: 1 },
    { columns: 20, rows: 3 },
    { columns: 200, rows: 50 },
  ]) {
    const drawn = screen('a title that is rather long', 'NAME\na\nb\nc\n', size);
    const lines = drawn.split('\n').slice(0, -1);
    assert.ok(lines.length <= Math.max(1, size.rows - 1));
    // oxlint-disable-next-line no-control-regex
    for (const line of lines) assert.ok(line.replaceAll(/\u001b\[[HKJ]/g, '').length <= size.columns, line);
    assert.ok(rowsThatFit(size) >= 1);
  }
});

describe('hangar top', () => {
  test('prints every tenant once, with what it has', async () => {
    await using world = await openTestWorld();
    await world.fleet.createCluster('idle');
    const busy = await world.fleet.createCluster('busy');
    await busy.create(ConfigMap, { metadata: { namespace: 'default', name: 'one' } });
    const { code, out, err } = await world.run('top', '--once', '--interval', '200ms', '--sort', 'objects');
    assert.equal(code, 0, err);
    const lines = out.trimEnd().split('\n');
    assert.match(lines[0]!, /^NAME +REQUESTS\/S +OBJECTS +STORED +MEMORY +SHARE +WATCHES$/);
    assert.match(lines[1]!, /^busy +0 +1 +\d+B +\S+ +\d+% +0$/);
    assert.match(lines[2]!, /^idle +0 +0 +0B +0B +0% +0$/);
  });

  test('asks for all tenants at once, and for each that is shown only when it was written to', async () => {
    const targets: string[] = [];
    await using world = await openTestWorld({
      transport: (own) => ({
        request: (request) => {
          targets.push(request.target);
          return own.request(request);
        },
        close: () => own.close(),
      }),
    });
    const busy = await world.fleet.createCluster('busy');
    await busy.create(ConfigMap, { metadata: { namespace: 'default', name: 'one' } });
    const out = new KeptOutput();
    out.terminal = { columns: 100, rows: 30 };
    let draws = 0;
    const quit: ((key: string) => void)[] = [];
    out.onWrite = (text) => {
      if (text.includes('REQUESTS/S') && ++draws === 3) quit[0]!('q');
    };
    const clock = { ...systemClock, after: (_ms: number, call: () => void) => systemClock.after(1, call) };
    const { code } = await world.runIn({ out, clock, keys: (onKey) => void quit.push(onKey) }, 'top');
    assert.equal(code, 0);
    assert.equal(targets.filter((target) => target.includes('/tenants/*/usage')).length, 3);
    assert.equal(targets.filter((target) => target.includes('/tenants/busy/usage')).length, 1);
    assert.ok(out.text.startsWith('\u001b[?1049h') && out.text.endsWith('\u001b[?1049l'), 'the terminal is as it was');
    assert.match(out.text, /1 tenants, by requests, every 2 s; press q to quit/);
  });

  test('-o json prints one sample for programs', async () => {
    await using world = await openTestWorld();
    const busy = await world.fleet.createCluster('busy');
    await busy.create(ConfigMap, { metadata: { namespace: 'default', name: 'one' } });
    const { code, out } = await world.run('top', '-o', 'json', '--interval', '200ms');
    assert.equal(code, 0);
    const [row] = JSON.parse(out).items;
    assert.deepEqual([row.name, row.objects, typeof row.requestsPerSecond], ['busy', 1, 'number']);
    assert.match((await world.run('top', '-o', 'yaml', '--interval', '200ms')).out, /^- .*\n(.*\n)* {2}name: busy$/m);
  });

  test('shows recommendations of the operator, also for programs', async () => {
    await using world = await openTestWorld();
    for (const name of ['big', 'small']) await world.fleet.createCluster(name);
    const condition = {
      type: 'PromotionRecommended',
      status: 'True',
      reason: 'ObjectsAboveThreshold',
      message: '120,431 objects (threshold: 100,000)',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    };
    await world.client.create(ControlPlane, { metadata: { name: 'prod' }, spec: { virtual: { clusterPath: 'big' } } });
    const body = { status: { conditions: [condition] } };
    await world.client.status.patch(ControlPlane, { name: 'prod' }, { type: 'merge', body });
    const table = await world.run('top', '--once', '--interval', '200ms', '--sort', 'name');
    const [head, big, small] = table.out.split('\n');
    assert.match(head!, / WATCHES +RECOMMENDED$/);
    assert.match(big!, /^big .* → dedicated: 120,431 objects \(threshold: 100,000\)$/);
    assert.match(small!, /^small .* 0$/);
    const { items } = JSON.parse((await world.run('top', '-o', 'json', '--interval', '200ms')).out);
    const byName = new Map(
      items.map((row: { name: string; recommendation?: object }) => [row.name, row.recommendation]),
    );
    const { reason, message } = condition;
    assert.deepEqual(byName.get('big'), { mode: 'Dedicated', reason, message });
    assert.equal(byName.get('small'), undefined);
  });

  test('on a server without tenants says so', async () => {
    await using world = await openTestWorld({
      transport: (own) => ({
        request: (request) =>
          own.request({ ...request, target: request.target.replace('tenancy.hangar.dev', 'none.dev') }),
        close: () => own.close(),
      }),
    });
    const { code, err } = await world.run('top', '--once');
    assert.equal(code, 1);
    assert.match(err, /does not serve tenants/);
  });
});
