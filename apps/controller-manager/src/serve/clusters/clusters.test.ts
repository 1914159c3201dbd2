import assert from 'node:assert/strict';
import { test } from 'node:test';
import { processAt, row, state } from '../testing/rows.ts';
import { describeClusters } from './described.ts';
import { clustersTable } from './table.ts';

const now = Date.parse('2026-01-01T00:05:00Z');
const rows = [
  row(
    'red',
    {
      controllers: state(processAt(20_001, 12)),
      scheduler: state({
        phase: 'BackingOff',
        reason: 'CrashLoop',
        message: 'it ended with 1',
        restarts: 7,
        lastError: 'no such host',
      }),
    },
    {
      labels: { tier: 'gold' },
      sources: { scheduler: { kind: 'ControlPlaneEndpoint', name: 'red', uid: '1', address: 'https://hidden' } },
    },
  ),
  row('others', { controllers: state() }, { isOwned: false }),
  row('blue', { controllers: state() }, { engine: 'essential' }),
  row('new', { controllers: undefined }),
];

test('as JSON: everything that is known, in the order of names', () => {
  const { clusters, summary } = describeClusters(rows);
  assert.deepEqual(summary, { total: 4, owned: 3, ready: 1, notReady: 2 });
  assert.deepEqual(
    clusters.map(({ name, isOwned }) => [name, isOwned]),
    [
      ['blue', true],
      ['new', true],
      ['others', false],
      ['red', true],
    ],
  );
  assert.deepEqual(clusters[3], {
    name: 'red',
    source: { kind: 'ControlPlaneRegistration', name: 'red-registration', uid: 'uid-of-red' },
    labels: { tier: 'gold' },
    isOwned: true,
    registeredFor: ['controllers', 'scheduler'],
    services: {
      controllers: {
        source: { kind: 'ControlPlaneRegistration', name: 'red-registration', uid: 'uid-of-red' },
        engine: 'kube',
        phase: 'Ready',
        reason: 'Ready',
        message: 'at work',
        ready: true,
        restarts: 0,
        lastError: null,
        pid: 12,
        port: 20_001,
        startedAt: '2026-01-01T00:00:00.000Z',
      },
      scheduler: {
        source: { kind: 'ControlPlaneEndpoint', name: 'red', uid: '1' },
        engine: 'kube',
        phase: 'BackingOff',
        reason: 'CrashLoop',
        message: 'it ended with 1',
        ready: false,
        restarts: 7,
        lastError: 'no such host',
        pid: null,
        port: null,
        startedAt: null,
      },
    },
  });
  assert.equal(clusters[1]!.services.controllers!.reason, 'NotStarted');
  assert.deepEqual(clusters[2]!.services, {});
});

test('as a table: what is of this process, unless all are asked for', () => {
  const { clusters } = describeClusters(rows);
  assert.equal(
    clustersTable(clusters, { isAll: false, now }),
    [
      'CLUSTER   SERVICE       ENGINE      READY   STATUS       RESTARTS   AGE      PID      MESSAGE',
      'blue      controllers   essential   True    Ready        0          <none>   <none>   at work',
      'new       controllers   kube        False   Waiting      0          <none>   <none>   the service has not started yet',
      'red       controllers   kube        True    Ready        0          5m       12       at work',
      'red       scheduler     kube        False   BackingOff   7          <none>   <none>   it ended with 1',
      '',
    ].join('\n'),
  );
  const all = clustersTable(clusters, { isAll: true, now });
  assert.match(all, /^CLUSTER +SERVICE +OWNED +ENGINE/);
  assert.match(all, /^others +controllers +no +<none> +<unknown>/m);
  assert.match(all, /^red +scheduler +yes +kube +False/m);
  assert.equal(clustersTable([], { isAll: true, now }), 'No clusters found.\n');
});

test('no name and no message can do anything to a terminal, or be endless', () => {
  const hostile = `a\u001b[2J\nb\u202e${'x'.repeat(100_000)}`;
  const { clusters } = describeClusters([row(hostile, { controllers: state({ message: hostile }) })]);
  const table = clustersTable(clusters, { isAll: false, now });
  assert.equal(table.split('\n').length, 3);
  assert.ok(!table.includes('\u001b') && !table.includes('\u202e'));
  assert.ok(table.length < 10_000);
});
