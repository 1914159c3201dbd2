import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { apiVersionOf, builtinGroups, schemaOf } from '../builtin/schemas.ts';
import type { BuiltinResource } from '../builtin/schemas.ts';
import { normalise } from '../fields/normalise.ts';
import type { KubeObject } from '../object.ts';
import { randomObject, seededRandom } from '../testing/random-object.ts';
import { parseYaml } from '../yaml/parse.ts';
import { builtinTable } from './index.ts';

const now = Date.parse('2026-11-15T00:00:00Z');
const resources = builtinGroups().flatMap(({ versions }) => versions.flatMap((version) => version.resources));

function resourceOf(apiVersion: string, kind: string): BuiltinResource {
  const resource = resources.find((one) => one.kind === kind && apiVersionOf(one) === apiVersion);
  assert.ok(resource);
  return resource;
}

const samples = new Map(
  readFileSync(new URL('./samples.yaml', import.meta.url), 'utf8')
    .split(/^---$/m)
    .map((text) => parseYaml(Buffer.from(text)).value as KubeObject)
    .map((sample) => [`${sample.kind}/${sample.metadata.name}`, sample]),
);

/** The sample as the server has it; `change` sets fields that a client cannot write. */
function cellsOf(name: string, change: object = {}): unknown[] {
  const sample = samples.get(name)!;
  const metadata = { creationTimestamp: '2026-11-14T00:00:00Z', ...sample.metadata, ...change };
  return builtinTable(resourceOf(sample.apiVersion, sample.kind)).cells({ ...sample, metadata }, now);
}

const deleted = { deletionTimestamp: '2026-11-15T00:00:00Z' };

/** The other samples are compared with a real server; these are the most visible ones, and those that a server does not accept. */
const cases: readonly (readonly [sample: string, cells: readonly unknown[], change?: object])[] = [
  ['Pod/new', ['new', '0/1', '', '0', '24h', '<none>', '<none>', '<none>', '<none>']],
  ['Pod/gated', ['gated', '0/1', 'SchedulingGated', '0', '24h', '<none>', '<none>', '<none>', '<none>']],
  ['Pod/running', ['running', '1/2', 'Running', '3 (6y320d ago)', '24h', '10.0.0.5', 'worker', '<none>', '1/2']],
  ['Pod/half-done', ['half-done', '1/2', 'NotReady', '0', '24h', '<none>', 'worker', '<none>', '<none>']],
  ['Pod/half-failed', ['half-failed', '0/2', 'ExitCode:3', '0', '24h', '<none>', 'worker', '<none>', '<none>']],
  ['Pod/killed', ['killed', '0/1', 'Signal:9', '0', '24h', '<none>', 'worker', '<none>', '<none>'], deleted],
  ['Pod/leaving', ['leaving', '0/1', 'Terminating', '0', '24h', '<none>', 'worker', '<none>', '<none>'], deleted],
  ['Pod/lost', ['lost', '0/1', 'Unknown', '0', '24h', '<none>', 'worker', '<none>', '<none>'], deleted],
  ['Pod/init-failed', ['init-failed', '0/1', 'Init:ExitCode:2', '2', '24h', '<none>', 'worker', '<none>', '<none>']],
  ['Pod/sidecar', ['sidecar', '2/2', 'Running', '5 (318d ago)', '24h', '<none>', 'worker', '<none>', '<none>']],
  ['Job/new', ['new', 'Terminating', '1/1 of 3', '14d', '24h', 'a', 'i', '<none>'], deleted],
  ['Job/done', ['done', 'Complete', '1/1', '3m7s', '24h', 'a', 'i', '<none>']],
  [
    'Service/balanced',
    [
      'balanced',
      'LoadBalancer',
      '<none>',
      '5.5.5.5,a-name-that-is-rather-long.example.com,9.9.9.9',
      '80:30082/',
      '24h',
      '<none>',
    ],
  ],
  ['ResourceClaim/reserved', ['reserved', 'deleted,allocated,reserved', '24h'], deleted],
  ['ResourceClaim/pending', ['pending', 'deleted', '24h'], deleted],
  [
    'PersistentVolume/bound',
    ['bound', '1536Mi', 'RWO,ROX,RWX', '', 'Terminating', 'default/c', 'old', '<unset>', 'because', '24h', '<unset>'],
    deleted,
  ],
  ['Role/one', ['one', '2026-11-14T00:00:00Z']],
];

for (const [sample, cells, change] of cases) {
  test(`${sample} shows ${cells.slice(1, 4).join(', ')}`, () => assert.deepEqual(cellsOf(sample, change), cells));
}

test('a pod that ran to its end says so in its row, and the others do not', () => {
  const { conditions } = builtinTable(resourceOf('v1', 'Pod'));
  const reasons = ['done', 'killed', 'new'].map((name) => conditions!(samples.get(`Pod/${name}`)!)?.[0]?.reason);
  assert.deepEqual(reasons, ['Succeeded', 'Failed', undefined]);
});

test('an autoscaler of version 1 shows the metrics that its annotations hold, and survives what else they hold', () => {
  const cell = (annotation: string | undefined, spec: object = {}, current?: string): unknown => {
    const annotations: Record<string, string> = {};
    if (annotation !== undefined) annotations['autoscaling.alpha.kubernetes.io/metrics'] = annotation;
    if (current !== undefined) annotations['autoscaling.alpha.kubernetes.io/current-metrics'] = current;
    const object = { apiVersion: 'autoscaling/v1', kind: 'HorizontalPodAutoscaler', metadata: { annotations }, spec };
    return builtinTable(resourceOf('autoscaling/v1', 'HorizontalPodAutoscaler')).cells(object, now)[2];
  };
  const cpu = { targetCPUUtilizationPercentage: 50 };
  const memory = '[{"type":"Resource","resource":{"name":"memory","targetAverageValue":"1Gi"}}]';
  assert.equal(cell(undefined), 'cpu: <unknown>/80%');
  assert.equal(cell(undefined, cpu), 'cpu: <unknown>/50%');
  assert.equal(cell(memory, cpu), 'cpu: <unknown>/50%, memory: <unknown>/1Gi');
  assert.equal(
    cell(
      memory,
      cpu,
      '[{"type":"Resource","resource":{"name":"memory","currentAverageValue":"2Gi"}},' +
        '{"type":"Resource","resource":{"name":"cpu","currentAverageUtilization":7,"currentAverageValue":"1"}}]',
    ),
    'memory: 2Gi/1Gi, cpu: 7%/50%',
  );
  for (const bad of ['', '{', 'null', '{}', '[null]', '[[]]', '["x"]'])
    assert.equal(cell(bad, cpu, bad), 'cpu: <unknown>/50%');
  assert.equal(cell('[{"type":"__proto__"}]'), '<unknown type>');
  assert.equal(cell('[{"type":"Pods","pods":{"targetAverageValue":{}}}]'), '<unknown>/0');
});

test('flow schemas are listed in the order in which they are tried', () => {
  const { compare } = builtinTable(resourceOf('flowcontrol.apiserver.k8s.io/v1', 'FlowSchema'));
  const schema = (name: string, matchingPrecedence: number): KubeObject => ({
    ...samples.get('FlowSchema/last')!,
    metadata: { name },
    spec: { matchingPrecedence },
  });
  const sorted = [schema('b', 5), schema('z', 1), schema('a', 5)].toSorted(compare!);
  assert.deepEqual(
    sorted.map(({ metadata }) => metadata.name),
    ['z', 'a', 'b'],
  );
});

test('every kind prints an object that has nothing but metadata, one cell for each column', () => {
  for (const resource of resources.filter(({ verbs }) => verbs.includes('list'))) {
    const { columns, cells } = builtinTable(resource);
    const printed = cells({ kind: resource.kind, apiVersion: apiVersionOf(resource), metadata: {} }, now);
    const extra = resource.kind === 'IPAddress' ? 1 : 0;
    assert.equal(printed.length, columns.length + extra, resource.kind);
    assert.ok(
      printed.every((cell) => ['string', 'number', 'boolean'].includes(typeof cell)),
      `${resource.kind}: ${JSON.stringify(printed)}`,
    );
  }
});

test('whatever fits its schema can be printed', () => {
  const random = seededRandom(7);
  for (const resource of resources.filter(({ verbs }) => verbs.includes('list'))) {
    const apiVersion = apiVersionOf(resource);
    const schema = schemaOf(apiVersion, resource.kind)!;
    const { columns, cells, conditions } = builtinTable(resource);
    for (let i = 0; i < 50; i++) {
      const arbitrary = { ...randomObject(schema, random), kind: resource.kind, apiVersion };
      const object = normalise(schema, arbitrary) as KubeObject;
      const printed = cells(object, now);
      assert.ok(printed.length >= columns.length && !printed.includes(undefined), JSON.stringify(printed));
      conditions?.(object);
    }
  }
});
