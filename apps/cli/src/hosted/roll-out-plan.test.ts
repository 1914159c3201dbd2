import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HostedControlPlaneObject } from '../kinds.ts';
import { parseWaveSize, planRollOut } from './roll-out-plan.ts';
import type { PlanOptions } from './roll-out-plan.ts';

interface PlaneOptions {
  readonly rendering?: string | undefined;
  readonly complete?: string;
  readonly wave?: string;
  readonly ready?: 'True' | 'False';
  readonly annotations?: Record<string, string>;
  readonly deletionTimestamp?: string;
}

function plane(name: string, options: PlaneOptions = {}): HostedControlPlaneObject {
  const { complete = '1', wave, ready = 'True', annotations = {}, deletionTimestamp } = options;
  const rendering = 'rendering' in options ? options.rendering : '1';
  return {
    apiVersion: 'controlplane.cluster.x-k8s.io/v1alpha1',
    kind: 'HostedControlPlane',
    metadata: {
      namespace: 'team',
      name,
      ...(deletionTimestamp ? { deletionTimestamp } : {}),
      annotations: {
        ...annotations,
        ...(rendering === undefined ? {} : { 'hosted.hangar.dev/rendering': rendering }),
        ...(wave === undefined ? {} : { 'hosted.hangar.dev/wave': wave }),
      },
    },
    status: {
      rendering: complete,
      conditions: [{ type: 'Ready', status: ready, reason: 'QuorumLost', message: '', lastTransitionTime: '' }],
    },
  } as HostedControlPlaneObject;
}

const plan = (planes: readonly HostedControlPlaneObject[], options: Partial<PlanOptions> = {}) => {
  const { waves, skipped } = planRollOut(planes, { to: '2', waveSize: { count: 2 }, isNamed: false, ...options });
  return {
    waves: waves.map((wave) => wave.map(({ metadata }) => metadata.name)),
    skipped: skipped.map(({ plane: { metadata }, why, isFault }) => [metadata.name, why, isFault]),
  };
};

test('the lowest wave is first, and a wave has at most the given number', () => {
  const planes = [plane('a'), plane('b'), plane('c'), plane('late', { wave: '7' }), plane('canary', { wave: '-1' })];
  assert.deepEqual(plan(planes).waves, [['canary'], ['a', 'b'], ['c'], ['late']]);
});

test('a percentage is of all that change, and at least one', () => {
  const planes = Array.from({ length: 25 }, (_, at) => plane(`p${at}`));
  assert.deepEqual(
    plan(planes, { waveSize: parseWaveSize('10%') }).waves.map(({ length }) => length),
    [3, 3, 3, 3, 3, 3, 3, 3, 1],
  );
  assert.deepEqual(plan([plane('a'), plane('b')], { waveSize: parseWaveSize('1%') }).waves, [['a'], ['b']]);
});

test('control planes that are complete, paused, deleted or new do not change', () => {
  const planes = [
    plane('complete', { rendering: '2', complete: '2' }),
    plane('paused', { annotations: { 'cluster.x-k8s.io/paused': '' } }),
    plane('deleted', { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    plane('new', { rendering: undefined }),
  ];
  assert.deepEqual(plan(planes), {
    waves: [],
    skipped: [
      ['paused', 'paused', false],
      ['deleted', 'being deleted', false],
      ['new', 'not reconciled yet', false],
    ],
  });
});

test('one that is not ready is a fault, unless its roll-out has begun or the user named it', () => {
  const planes = [plane('broken', { ready: 'False' }), plane('begun', { rendering: '2', ready: 'False' })];
  assert.deepEqual(plan(planes), { waves: [['begun']], skipped: [['broken', 'not ready: QuorumLost', true]] });
  assert.deepEqual(plan(planes, { isNamed: true }).waves, [['broken', 'begun']]);
});

test('invalid annotations and sizes are refused', () => {
  assert.throws(() => plan([plane('a', { wave: 'first' })]), /wave of team\/a is "first", which is not an integer/);
  for (const text of ['0', '0%', '101%', '-1', 'all', '', '1.5']) {
    assert.throws(() => parseWaveSize(text), /is not a number from 1 or a percentage/, text);
  }
});
