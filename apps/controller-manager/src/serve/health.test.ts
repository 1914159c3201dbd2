import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterRow } from '../contract.ts';
import { Health } from './health.ts';
import type { HealthAnswer } from './health.ts';
import { processAt, row, state } from './testing/rows.ts';

interface World {
  rows: ClusterRow[];
  isSynced: boolean;
  hasJoined?: boolean;
}

function health(world: World) {
  const subject = new Health({
    rows: () => world.rows,
    isSynced: () => world.isSynced,
    hasJoined: () => world.hasJoined ?? true,
  });
  return {
    subject,
    ready: (query = '', only?: string, showsClusters = true): HealthAnswer =>
      subject.ready({ only, query: new URLSearchParams(query), showsClusters }),
  };
}

const backingOff = state({ phase: 'BackingOff', reason: 'CrashLoop', message: 'it ended', restarts: 3 });

test('it lives as long as it answers', () => {
  const { subject } = health({ rows: [], isSynced: false });
  const query = (text: string) => ({ only: undefined, query: new URLSearchParams(text), showsClusters: false });
  assert.deepEqual(subject.live('healthz', query('')), { status: 200, text: 'ok' });
  assert.deepEqual(subject.live('livez', query('verbose')), { status: 200, text: '[+]ping ok\nlivez check passed\n' });
});

test('it is not ready before it knows its fleet', () => {
  const world = { rows: [], isSynced: false };
  const { ready } = health(world);
  const text = '[+]ping ok\n[-]fleet failed: not synced\n[+]leases ok\n[+]first-attempts ok\nreadyz check failed\n';
  assert.deepEqual(ready(), { status: 500, text });
  world.isSynced = true;
  assert.deepEqual(ready(), { status: 200, text: 'ok' });
});

test('it is not ready before each cluster of its own was tried, and stays ready when others come', () => {
  const starting = state({ phase: 'Starting' });
  const world: World = { rows: [], isSynced: true };
  const { ready } = health(world);
  for (const [one, isReady] of [
    [undefined, false],
    [starting, false],
    [state({ phase: 'Starting', restarts: 1 }), true],
  ] as const) {
    const { ready } = health({ rows: [row('a'), row('b', { controllers: one })], isSynced: true });
    assert.equal(ready().status, isReady ? 200 : 500);
  }
  world.rows = [row('a'), row('b', { controllers: starting }), row('c', { controllers: starting }, { isOwned: false })];
  assert.match(ready().text, /^\[-\]first-attempts failed: 1 of 2 clusters are not started yet$/m);
  world.rows[1] = row('b', { controllers: backingOff });
  assert.equal(ready().status, 200);
  world.rows.push(row('d', { controllers: starting }));
  assert.equal(ready().status, 200);
});

test('before the fleet is known, nothing was tried for good', () => {
  const world: World = { rows: [], isSynced: false };
  const { ready } = health(world);
  assert.equal(ready().status, 500);
  world.isSynced = true;
  world.rows = [row('a', { controllers: undefined })];
  assert.match(ready().text, /^\[-\]first-attempts/m);
});

test('it is not ready before clusters can be its own, and has tried nothing by then; later it stays ready', () => {
  const world: World = { rows: [], isSynced: true, hasJoined: false };
  const { ready } = health(world);
  assert.match(ready().text, /^\[-\]leases failed: this replica has not joined the shard group/m);
  assert.equal(ready('', 'leases').status, 500);
  world.hasJoined = true;
  world.rows = [row('a', { controllers: state({ phase: 'Starting' }) })];
  assert.match(ready().text, /^\[\+\]leases ok\n\[-\]first-attempts/m);
  world.rows = [row('a')];
  world.hasJoined = false;
  assert.deepEqual(ready(), { status: 200, text: 'ok' });
});

test('clusters are told one by one, and none of them decides', () => {
  const { ready } = health({
    isSynced: true,
    rows: [
      row('red', {
        controllers: state(processAt(1, 123)),
        scheduler: state({ phase: 'Waiting', reason: 'NoKubeconfig', message: 'none' }),
      }),
      row('blue', { controllers: backingOff }),
      row('green', { controllers: state() }, { engine: 'essential' }),
      row('others', {}, { isOwned: false }),
    ],
  });
  assert.deepEqual(ready('verbose').text.split('\n'), [
    '[+]ping ok',
    '[+]fleet ok',
    '[+]leases ok',
    '[+]first-attempts ok',
    '[-]cluster/blue controllers not ready: CrashLoop: it ended',
    '[+]cluster/green controllers ready (essential, restarts 0)',
    '[+]cluster/red controllers ready (kube, pid 123, restarts 0)',
    '[-]cluster/red scheduler not ready: NoKubeconfig: none',
    'readyz check passed',
    '',
  ]);
  assert.equal(ready('verbose').status, 200);
  assert.deepEqual(ready(), { status: 200, text: 'ok' });
});

test('who may not see clusters sees none', () => {
  const { ready } = health({ isSynced: true, rows: [row('secret')] });
  assert.doesNotMatch(ready('verbose', undefined, false).text, /secret/);
  assert.equal(ready('', 'cluster/secret', false).status, 404);
});

test('checks can be left out, and what is not there is named', () => {
  const { ready } = health({ isSynced: false, rows: [row('red', { controllers: backingOff })] });
  assert.deepEqual(ready('exclude=fleet'), { status: 200, text: 'ok' });
  assert.deepEqual(ready('verbose&exclude=fleet&exclude=cluster/red&exclude=no%0Asuch').text.split('\n'), [
    '[+]ping ok',
    '[+]fleet excluded: ok',
    '[+]leases ok',
    '[+]first-attempts ok',
    '[+]cluster/red excluded: ok',
    'warn: some health checks cannot be excluded: no matches for "no\\\\u{a}such"',
    'readyz check passed',
    '',
  ]);
});

test('one check alone, and one cluster alone', () => {
  const { ready } = health({ isSynced: false, rows: [row('red'), row('blue', { controllers: backingOff })] });
  assert.deepEqual(ready('', 'ping'), { status: 200, text: 'ok' });
  assert.deepEqual(ready('', 'fleet'), { status: 500, text: 'internal server error: not synced\n' });
  assert.equal(ready('', 'cluster/red').status, 200);
  assert.equal(ready('', 'cluster/blue').status, 500);
  assert.equal(ready('', 'cluster/no').status, 404);
});

test('no name and no message can forge a line', () => {
  const hostile = 'a\n[+]b ok\r\u001b[2J\u2028';
  const { ready } = health({
    isSynced: true,
    rows: [row(hostile, { controllers: state({ phase: 'Failed', message: hostile }) })],
  });
  const lines = ready('verbose').text.split(/[\n\r\u2028]/);
  assert.equal(lines.length, 7);
  assert.ok(!lines.some((line) => line.includes('\u001b')));
});
