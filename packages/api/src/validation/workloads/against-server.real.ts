/**
 * Hundreds of objects, most of them invalid, sent to a real kube-apiserver: its answer must equal that of our validation: the message, the
 * causes in their order, and the warnings.
 */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { JsonObject, KubeObject } from '../../object.ts';
import { startRealServer } from '../../testing/real-server.ts';
import type { RealServer } from '../../testing/real-server.ts';
import { cronJobCases, jobCases, podCases, setCases, warningCases } from './testing/cases.ts';
import { Judge } from './testing/judge.ts';
import { mutationsOf, withField } from './testing/mutations.ts';
import { objects } from './testing/objects.ts';
import * as statuses from './testing/statuses.ts';

let server: RealServer;
before(async () => {
  // They add to objects, or refuse them for other reasons.
  const plugins = [
    'ServiceAccount',
    'DefaultTolerationSeconds',
    'Priority',
    'TaintNodesByCondition',
    'DefaultStorageClass',
    'RuntimeClass',
    'LimitRanger',
  ];
  server = await startRealServer([`--disable-admission-plugins=${plugins.join(',')}`, '--allow-privileged=true']);
});
after(async () => server?.[Symbol.asyncDispose]());

const parts = ['spec', 'template', 'revision', 'data'];

const named = (object: JsonObject, name: string, spec = object['spec']): JsonObject => ({
  ...object,
  metadata: { ...(object['metadata'] as JsonObject), name },
  ...(spec === undefined ? {} : { spec }),
});

/** `least`: the minimum numbers of compared and refused objects, so that the test cannot pass without comparing. */
function settle(judge: Judge, [compared, refused]: readonly [least: number, refused: number]): void {
  const [first] = judge.differences;
  const names = judge.differences.map(({ name }) => name).join('\n');
  assert.equal(names, '', `${names}\nThe first:\nreal: ${first?.real}\nours: ${first?.ours}`);
  assert.ok(judge.compared >= compared, `${judge.compared} compared`);
  assert.ok(judge.refused >= refused, `${judge.refused} refused`);
}

/** Only some of the full pod's cases, which are large. */
function* everyNth<T>(n: number, items: Iterable<T>): Generator<T> {
  let i = 0;
  for (const item of items) if (i++ % n === 0) yield item;
}

test('pods that are created are refused and warned of as by the server', async () => {
  const judge = new Judge(server, objects['pod']!);
  for (const { name, object } of everyNth(3, mutationsOf(objects['pod']!, parts))) {
    await judge.compareCreation(name, object);
  }
  for (const [path, value] of [...podCases, ...warningCases]) {
    const { name, object } = withField(objects['smallPod']!, path, value);
    await judge.compareCreation(name, object);
  }
  settle(judge, [850, 500]);
});

test('what makes pods is refused and warned of as by the server', async () => {
  const more: Readonly<Record<string, typeof podCases>> = { ...setCases, job: jobCases, cronJob: cronJobCases };
  for (const [kind, base] of Object.entries(objects)) {
    if (kind === 'pod') continue;
    const judge = new Judge(server, base);
    for (const { name, object } of mutationsOf(base, parts)) await judge.compareCreation(name, object);
    for (const [path, value] of more[kind] ?? []) {
      const { name, object } = withField(base, path, value);
      await judge.compareCreation(name, object);
    }
    settle(judge, [14, 2]);
  }
});

test('what may change, and what the server says of the rest, is the same', async () => {
  for (const [kind, base] of Object.entries(objects)) {
    if (kind === 'pod') continue;
    const judge = new Judge(server, base);
    const old = await judge.create(named(base, kind.toLowerCase()));
    for (const { name, object } of mutationsOf(old, parts)) await judge.compareUpdate(name, object, old);
    settle(judge, [13, 9]);
  }
});

test('a pod with much in it differs from itself in the same lines', async () => {
  const judge = new Judge(server, objects['pod']!);
  const old = await judge.create(named(objects['pod']!, 'full'));
  for (const { name, object } of everyNth(50, mutationsOf(old, parts))) await judge.compareUpdate(name, object, old);
  settle(judge, [50, 45]);
});

test('a suspended Job may change where its pods run and what they use', async () => {
  const base = objects['job']!;
  const judge = new Judge(server, base);
  const old = await judge.create(named(base, 'suspended', { ...(base['spec'] as JsonObject), suspend: true }));
  for (const { name, object } of mutationsOf(old, parts)) await judge.compareUpdate(name, object, old);
  const scheduling = { nodeSelector: { a: 'b' }, tolerations: [{ operator: 'Exists' }], affinity: {} };
  for (const [field, value] of Object.entries(scheduling)) {
    const { name, object } = withField(old, `spec.template.spec.${field}`, value);
    await judge.compareUpdate(name, object, old);
  }
  settle(judge, [200, 150]);
});

test('a pod at a gate may be narrowed', async () => {
  const judge = new Judge(server, objects['smallPod']!);
  const expression = { key: 'a', operator: 'In', values: ['b'] };
  const affinity = (...terms: unknown[]): JsonObject => ({
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } },
  });
  const spec = {
    ...(objects['smallPod']!['spec'] as JsonObject),
    schedulingGates: [{ name: 'gate' }],
    nodeSelector: { a: 'b' },
    affinity: affinity({ matchExpressions: [expression] }),
  };
  const old = await judge.create(named(objects['smallPod']!, 'gated', spec));
  const changes: readonly (readonly [string, unknown])[] = [
    ['spec.schedulingGates', []],
    ['spec.schedulingGates', [{ name: 'gate' }, { name: 'other' }]],
    ['spec.nodeSelector', { a: 'b', c: 'd' }],
    ['spec.nodeSelector', { c: 'd' }],
    ['spec.affinity', affinity({ matchExpressions: [expression, { key: 'c', operator: 'Exists' }] })],
    ['spec.affinity', affinity({ matchExpressions: [{ key: 'c', operator: 'Exists' }] })],
    ['spec.affinity', affinity({ matchExpressions: [expression] }, {})],
    ['spec.affinity', { podAffinity: {} }],
    ['spec.tolerations', [{ operator: 'Exists' }]],
    ['spec.activeDeadlineSeconds', 5],
    ['spec.hostname', 'other'],
  ];
  for (const [path, value] of changes) {
    const { name, object } = withField(old, path, value);
    await judge.compareUpdate(name, object, old);
  }
  settle(judge, [11, 5]);
});

test('statuses go forward as the server lets them', async () => {
  for (const [kind, status] of Object.entries(statuses.countStatuses)) {
    const judge = new Judge(server, objects[kind]!);
    const created = await judge.create(named(objects[kind]!, `${kind.toLowerCase()}-status`));
    const old = await judge.put({ ...created, status } as KubeObject, 'status');
    for (const { name, object } of mutationsOf(old, ['status'])) await judge.compareUpdate(name, object, old, 'status');
    settle(judge, [30, 14]);
  }
});

test('the status of a Job goes forward as the server lets it', async () => {
  const judge = new Judge(server, objects['job']!);
  const created = await judge.create(named(objects['job']!, 'job-status'));
  const running = await judge.put({ ...created, status: statuses.jobStatus } as KubeObject, 'status');
  const merged = (job: KubeObject, change: JsonObject): KubeObject =>
    ({ ...job, status: { ...(job['status'] as JsonObject), ...change } }) as KubeObject;
  const compare = async (job: KubeObject): Promise<void> => {
    for (const change of statuses.jobStatuses) {
      await judge.compareUpdate(JSON.stringify(change), merged(job, change), job, 'status');
    }
    for (const { name, object } of mutationsOf(job, ['status'])) await judge.compareUpdate(name, object, job, 'status');
  };
  await compare(running);
  await compare(await judge.put(merged(running, statuses.finishedJob), 'status'));
  settle(judge, [150, 100]);
});

test('the status of a pod goes forward as the server lets it', async () => {
  const judge = new Judge(server, objects['smallPod']!);
  const created = await judge.create(named(objects['smallPod']!, 'pod-status', statuses.reportedPod));
  const old = await judge.put({ ...created, status: statuses.podStatus } as KubeObject, 'status');
  for (const { name, object } of mutationsOf(old, ['status'])) await judge.compareUpdate(name, object, old, 'status');
  const other = await judge.create(named(objects['smallPod']!, 'pod-ended', statuses.endedPod));
  const ended = await judge.put({ ...other, status: statuses.endedStatus } as KubeObject, 'status');
  await judge.compareUpdate('restarted', { ...ended, status: statuses.restartedStatus }, ended, 'status');
  settle(judge, [200, 70]);
});

test('ephemeral containers can be added and are kept', async () => {
  const judge = new Judge(server, objects['smallPod']!);
  const withList = (pod: KubeObject, list: readonly JsonObject[]): KubeObject =>
    ({ ...pod, spec: { ...(pod['spec'] as JsonObject), ephemeralContainers: list } }) as KubeObject;
  const created = await judge.create(named(objects['smallPod']!, 'debugged'));
  const old = await judge.put(withList(created, [statuses.firstEphemeral]), 'ephemeralcontainers');
  for (const list of statuses.ephemeralLists) {
    await judge.compareUpdate(JSON.stringify(list), withList(old, list), old, 'ephemeralcontainers');
  }
  settle(judge, [7, 6]);
});

test('only cpu and memory of a pod can be resized', async () => {
  const judge = new Judge(server, objects['smallPod']!);
  const old = await judge.create(named(objects['smallPod']!, 'resized', statuses.resizablePod));
  for (const change of statuses.resizes) {
    const object = { ...old, spec: { ...(old['spec'] as JsonObject), ...change } };
    await judge.compareUpdate(JSON.stringify(change), object, old, 'resize');
  }
  settle(judge, [12, 8]);
});
