/**
 * Random writes by several managers against a real kube-apiserver. Every step starts from the object that the server last returned; the
 * server's result is compared with ours.
 */

import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { schemaOf } from '../builtin/schemas.ts';
import { structType } from '../builtin/types.ts';
import { normalise } from '../fields/normalise.ts';
import type { JsonObject, KubeObject, ManagedFieldsEntry } from '../object.ts';
import { isObject } from '../object.ts';
import { StatusError } from '../status/status.ts';
import type { RealServer } from '../testing/real-server.ts';
import { applyObject, keepManagedFieldsTimes, updateManagedFields } from './index.ts';
import type { RandomKind } from './random-kinds.ts';
import { configMap, deployment, Draw, service, widget } from './random-kinds.ts';
import { comparableStatus, startServerWithWidgets, typeOfKind } from './real-support.ts';
import { mergeValues } from './merge.ts';

let server: RealServer;

before(async () => {
  server = await startServerWithWidgets();
});
after(() => server[Symbol.asyncDispose]());

const applyPatch = 'application/apply-patch+yaml';
const mergePatch = 'application/merge-patch+json';
const managers = ['alice', 'bob', 'kubectl'];

interface Write {
  readonly what: string;
  readonly method: string;
  readonly path: string;
  readonly contentType?: string;
  readonly body: JsonObject;
  readonly manager: string;
  readonly force?: boolean;
  readonly subresource: string;
}

async function send(write: Write): Promise<{ status: number; body: JsonObject }> {
  const force = write.force ? '&force=true' : '';
  const path = `${write.path}?fieldManager=${write.manager}${force}`;
  const { contentType = 'application/json' } = write;
  const answer = await server.request(write.method, path, { body: JSON.stringify(write.body), contentType });
  return { status: answer.status, body: JSON.parse(answer.body.toString()) as JsonObject };
}

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

function nextWrite(kind: RandomKind, draw: Draw, name: string, live: KubeObject | undefined): Write {
  const manager = draw.one(...managers);
  const { apiVersion, path } = kind;
  const metadata = {
    name,
    namespace: 'default',
    ...draw.fields(
      {
        labels: () => draw.map('l1', 'l2'),
        annotations: () => draw.map('n1', 'n2'),
        finalizers: () => draw.some('example.com/f', 'example.com/g'),
        ownerReferences: () =>
          draw.some('u1', 'u2').map((uid) => ({ apiVersion: 'v1', kind: 'Node', name: draw.one('x', 'y'), uid })),
      },
      0.3,
    ),
  };
  const config: JsonObject = { apiVersion, kind: kind.kind, metadata, ...kind.config(draw) };
  const whole = mergeValues(typeOfKind(kind), config, kind.required) as JsonObject;
  const at = `${path}/${name}`;
  if (!live) {
    if (draw.chance(0.5)) return { what: 'create', method: 'POST', path, body: whole, manager, subresource: '' };
    return { what: 'apply', method: 'PATCH', path: at, contentType: applyPatch, body: whole, manager, subresource: '' };
  }
  const status = kind.status && draw.chance(0.25) ? kind.status(draw) : undefined;
  const subresource = status ? 'status' : '';
  const target = status ? `${at}/status` : at;
  const choice = draw.random();
  if (choice < 0.5) {
    const body = status
      ? { apiVersion, kind: kind.kind, metadata: { name }, status }
      : draw.chance(0.3)
        ? whole
        : config;
    const force = draw.chance(0.6);
    return { what: 'apply', method: 'PATCH', path: target, contentType: applyPatch, body, manager, force, subresource };
  }
  const changes = status ? { status } : kind.config(draw);
  if (choice < 0.75) {
    return {
      what: 'merge',
      method: 'PATCH',
      path: target,
      contentType: mergePatch,
      body: changes,
      manager,
      subresource,
    };
  }
  const copy = structuredClone(live);
  const body =
    draw.chance(0.5) || !isObject(copy['spec'])
      ? { ...copy, ...changes }
      : { ...copy, spec: { ...copy['spec'], ...(changes['spec'] as object) } };
  if (draw.chance(0.05) && !status) body.metadata.managedFields = draw.one([], [{}]);
  if (draw.chance(0.3)) {
    body.metadata.annotations = { ...body.metadata.annotations, [lastApplied]: JSON.stringify(draw.one(config, live)) };
  }
  return { what: 'update', method: 'PUT', path: target, body, manager, subresource };
}

type Entry = Omit<ManagedFieldsEntry, 'time'> & { readonly hasTime: boolean };

const identity = ({ operation, manager, subresource }: ManagedFieldsEntry | Entry): string =>
  JSON.stringify([operation, manager, subresource]);

/** Compared by name: the times differ. */
const entriesOf = ({ metadata }: KubeObject): Entry[] =>
  (metadata.managedFields ?? [])
    .map(({ time, ...entry }) => ({ ...entry, hasTime: time !== undefined }))
    .toSorted((a, b) => (identity(a) < identity(b) ? -1 : 1));

const now = '2099-01-01T00:00:00Z';

function compareEntries(ours: KubeObject, theirs: KubeObject): void {
  assert.deepEqual(entriesOf(ours), entriesOf(theirs));
  for (const { time, ...entry } of ours.metadata.managedFields ?? []) {
    if (time === now) continue;
    const other = theirs.metadata.managedFields?.find((one) => identity(one) === identity(entry));
    assert.equal(time, other?.time, `the time of ${identity(entry)}`);
  }
}

/** Removes fields that the server sets after ownership is computed. */
function withoutAllocated(object: JsonObject, { what, body }: Write): JsonObject {
  if (object['kind'] !== 'Service' || what === 'merge') return object;
  const spec: JsonObject = { ...(object['spec'] as JsonObject) };
  for (const name of ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy']) {
    if (!Object.hasOwn(body['spec'] as JsonObject, name)) delete spec[name];
  }
  return { ...object, spec };
}

function expectSubset(part: unknown, whole: unknown, path: string): void {
  if (isObject(part) && isObject(whole)) {
    for (const [key, value] of Object.entries(part)) expectSubset(value, whole[key], `${path}.${key}`);
  } else if (Array.isArray(part) && Array.isArray(whole)) {
    assert.equal(part.length, whole.length, path);
    part.forEach((value, i) => expectSubset(value, whole[i], `${path}[${i}]`));
  } else assert.deepEqual(part ?? undefined, whole ?? undefined, path);
}

/** The defaults that no other part of the request shows. */
function withDefaults(object: KubeObject): KubeObject {
  const spec = object['spec'] as { ports?: JsonObject[] | null } | undefined;
  if (!spec?.ports || object.kind === 'Deployment') return object;
  const added = ({ port }: JsonObject): JsonObject =>
    object.kind === 'Service' ? { targetPort: port } : { protocol: 'TCP' };
  return { ...object, spec: { ...spec, ports: spec.ports.map((port) => ({ ...added(port), ...port })) } };
}

function withoutServerSet(object: JsonObject): JsonObject {
  const metadata: JsonObject = { ...(object['metadata'] as JsonObject) };
  for (const name of ['managedFields', 'resourceVersion', 'uid', 'generation', 'creationTimestamp'])
    delete metadata[name];
  return { ...object, metadata, status: undefined };
}

/** For custom resources only the metadata is decoded into Go's types. */
function inGoForm(object: KubeObject): KubeObject {
  const struct = schemaOf(object.apiVersion, object.kind);
  if (struct) return normalise(struct, object) as KubeObject;
  return { ...object, metadata: normalise(structType('meta/v1.ObjectMeta'), object.metadata as JsonObject) };
}

function compare(
  kind: RandomKind,
  write: Write,
  live: KubeObject | undefined,
  answer: { status: number; body: JsonObject },
): void {
  const type = typeOfKind(kind);
  const { manager, subresource, body, force = false } = write;
  const { apiVersion } = kind;
  const common = { type, live, manager, apiVersion, subresource, resetFields: kind.resetFields[subresource]! };
  if (write.what === 'apply') {
    let ours;
    try {
      ours = applyObject({ ...common, patch: body, force, now });
    } catch (error) {
      assert.ok(error instanceof StatusError, String(error));
      assert.deepEqual(comparableStatus(error.status), comparableStatus(answer.body));
      return;
    }
    assert.ok(answer.status < 300 || answer.body['reason'] === 'Invalid', JSON.stringify(answer.body));
    if (answer.status >= 300) return;
    const object = inGoForm(withDefaults(ours.object));
    if (live) keepManagedFieldsTimes(object, live);
    compareEntries(object, answer.body as KubeObject);
    const part = (one: JsonObject): unknown => (subresource === 'status' ? one['status'] : withoutServerSet(one));
    expectSubset(part(object), part(answer.body), 'ours');
    // Without defaults, it is visible that nothing else was removed.
    if (kind === configMap || kind === widget) expectSubset(part(answer.body), part(object), 'answer');
    return;
  }
  if (answer.status >= 300) return;
  const object = structuredClone(withoutAllocated(answer.body, write)) as KubeObject;
  const sent =
    write.what === 'update' ? (body['metadata'] as KubeObject['metadata']).managedFields : live?.metadata.managedFields;
  // An empty list of a custom resource is lost before it can be compared.
  if (sent && (kind !== widget || sent.length > 0)) object.metadata.managedFields = structuredClone(sent);
  else delete object.metadata.managedFields;
  updateManagedFields({ ...common, object, now });
  const theirs = answer.body as KubeObject;
  compareEntries(object, theirs);
  if (!live) return;
  const { resourceVersion = '' } = live.metadata;
  const isUnchanged = keepManagedFieldsTimes({ ...object, metadata: { ...object.metadata, resourceVersion } }, live);
  // The server also writes objects that differ only in their stored bytes.
  if (theirs.metadata.resourceVersion === resourceVersion) assert.ok(isUnchanged, 'nothing has changed');
}

const runs = [
  { kind: configMap, objects: 12, steps: 12 },
  { kind: widget, objects: 25, steps: 14 },
  { kind: deployment, objects: 18, steps: 12 },
  { kind: service, objects: 12, steps: 12 },
];

suite('random writes are owned as in kube-apiserver', () => {
  for (const { kind, objects, steps } of runs) {
    for (const seed of Array.from({ length: objects }, (_, i) => i + 1)) {
      test(`${kind.kind}, seed ${seed}`, async () => {
        const draw = new Draw(seed);
        let live: KubeObject | undefined;
        const log: string[] = [];
        for (let step = 0; step < steps; step++) {
          const write = nextWrite(kind, draw, `random-${seed}`, live);
          const answer = await send(write);
          log.push(
            `${write.what} ${write.subresource} by ${write.manager}${write.force ? ' forced' : ''}: ${answer.status} ${JSON.stringify(write.body)}`,
          );
          try {
            compare(kind, write, live, answer);
          } catch (error) {
            throw new Error(
              `step ${step}:\n${log.slice(-1).join('\n')}\nlive: ${JSON.stringify(live)}\nanswer: ${JSON.stringify(answer.body)}\n${(error as Error).message}`,
              { cause: error },
            );
          }
          if (answer.status < 300) live = answer.body as KubeObject;
        }
      });
    }
  }
});
