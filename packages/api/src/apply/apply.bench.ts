/**
 * Measures the cost of ownership per request, in microseconds: `node packages/api/src/apply/apply.bench.ts`. Live objects are parsed again
 * for every operation and are not timed, as if they came from the store; so nothing is found by its identity.
 */

import { schemaOf } from '../builtin/schemas.ts';
import { normalise } from '../fields/normalise.ts';
import type { JsonObject, KubeObject } from '../object.ts';
import { applyObject, mergeTypeOfBuiltin, updateManagedFields } from './index.ts';

const now = '2026-01-01T00:00:00Z';

const data = Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`key-${i}`, 'x'.repeat(110)]));
const configMap = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', namespace: 'b', labels: { app: 'x' } },
  data,
};
const container = {
  name: 'nginx',
  image: 'nginx:1',
  ports: [{ containerPort: 80, protocol: 'TCP' }],
  env: [
    { name: 'A', value: '1' },
    { name: 'B', value: '2' },
  ],
  resources: { limits: { cpu: '1', memory: '1Gi' } },
  imagePullPolicy: 'IfNotPresent',
};
const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'a', namespace: 'b', labels: { app: 'x' }, annotations: { note: 'y' } },
  spec: {
    replicas: 3,
    selector: { matchLabels: { app: 'x' } },
    template: {
      metadata: { labels: { app: 'x' } },
      spec: { containers: [container, { ...container, name: 'sidecar' }] },
    },
  },
};
const status = {
  observedGeneration: 2,
  replicas: 3,
  conditions: ['Available', 'Progressing'].map((type) => ({ type, status: 'True', reason: 'R', message: 'm' })),
};

const typeOf = (object: JsonObject) =>
  mergeTypeOfBuiltin(schemaOf(object['apiVersion'] as string, object['kind'] as string)!);
const stored = (object: JsonObject): KubeObject => {
  const struct = schemaOf(object['apiVersion'] as string, object['kind'] as string)!;
  return normalise(struct, object) as KubeObject;
};
const copyOf = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;
const common = { apiVersion: 'v1', subresource: '', now, resetFields: [] as string[], manager: 'bench' };

function update(live: KubeObject | undefined, object: KubeObject, options: Partial<typeof common> = {}): KubeObject {
  updateManagedFields({ ...common, apiVersion: object.apiVersion, type: typeOf(object), live, object, ...options });
  return object;
}

function apply(live: KubeObject | undefined, patch: JsonObject): KubeObject {
  const apiVersion = patch['apiVersion'] as string;
  return applyObject({ ...common, apiVersion, type: typeOf(patch), live, patch, force: false }).object;
}

const withUid = (object: KubeObject): KubeObject => ({ ...object, metadata: { ...object.metadata, uid: 'u' } });
const created = withUid(update(undefined, stored(configMap)));
const changed = { ...created, data: { ...data, 'key-3': 'y' } } as KubeObject;
const applied = withUid(stored(apply(undefined, configMap)));
const deployed = withUid(update(undefined, stored(deployment)));
const withStatus = update(deployed, { ...copyOf(deployed), status } as KubeObject, {
  manager: 'controller',
  subresource: 'status',
});
const nextStatus = { ...withStatus, status: { ...status, observedGeneration: 3 } } as KubeObject;
const appliedDeployment = withUid(stored(apply(undefined, deployment)));
const patched = { ...deployment, spec: { ...deployment.spec, replicas: 4 } };
const smaller = { ...configMap, data: { ...data, 'key-8': 'new' } };
delete (smaller.data as JsonObject)['key-0'];
const statusOptions = { manager: 'controller', subresource: 'status', resetFields: ['spec', 'metadata.labels'] };

type Case = readonly [name: string, inputs: () => unknown[], run: (inputs: unknown[]) => unknown];
const two = (live: KubeObject | undefined, object: JsonObject) => () => [live && copyOf(live), copyOf(object)];
const asUpdate =
  (options: Partial<typeof common> = {}) =>
  ([live, object]: unknown[]) =>
    update(live as KubeObject | undefined, object as KubeObject, options);
const asApply = ([live, patch]: unknown[]) => apply(live as KubeObject | undefined, patch as JsonObject);

const cases: readonly Case[] = [
  ['create ConfigMap of 1 KiB', two(undefined, stored(configMap)), asUpdate()],
  ['update one key of it', two(created, changed), asUpdate()],
  ['update one key, as another manager', two(created, changed), asUpdate({ manager: 'other' })],
  ['create Deployment', two(undefined, stored(deployment)), asUpdate()],
  ['update status of Deployment', two(withStatus, nextStatus), asUpdate(statusOptions)],
  ['apply ConfigMap, created', two(undefined, configMap), asApply],
  ['apply ConfigMap, nothing changes', two(applied, configMap), asApply],
  ['apply ConfigMap, one key changes', two(applied, { ...configMap, data: changed['data'] }), asApply],
  ['apply ConfigMap, one key goes, one comes', two(applied, smaller), asApply],
  ['apply Deployment, replicas change', two(appliedDeployment, patched), asApply],
];

const batch = 500;

/** Processor time, the best of many rounds, so that other programs do not count. */
function microseconds([, inputs, run]: Case): number {
  let best = Infinity;
  for (let round = 0; round < 40; round++) {
    const all = Array.from({ length: batch }, inputs);
    const start = process.cpuUsage();
    for (const one of all) run(one);
    best = Math.min(best, process.cpuUsage(start).user / batch);
  }
  return best;
}

for (const one of cases) console.log(`${one[0].padEnd(45)} ${microseconds(one).toFixed(1).padStart(7)} µs`);
