/** Creation and update of every kind, compared with the answers of a real kube-apiserver. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { builtinGroups, schemaOf } from '../builtin/schemas.ts';
import type { BuiltinResource } from '../builtin/schemas.ts';
import { normalise } from '../fields/normalise.ts';
import { isObject } from '../object.ts';
import type { JsonObject, KubeObject } from '../object.ts';
import { nameIsPathSegment } from '../validation/formats.ts';
import { seededRandom } from '../testing/random-object.ts';
import { startRealServer } from '../testing/real-server.ts';
import type { RealServer } from '../testing/real-server.ts';
import { applyScale, builtinStrategy, convert, recordRequester, scaleOf } from './index.ts';
import { changeList } from './testing/changes.ts';
import type { Change } from './testing/changes.ts';
import { corpus } from './testing/corpus/index.ts';
import { variantOf } from './testing/variants.ts';

let server: RealServer;
/** They add to objects (tolerations, priorities, labels of nodes), or refuse them (quotas without a controller). */
const unwantedPlugins = [
  'ServiceAccount',
  'DefaultTolerationSeconds',
  'Priority',
  'TaintNodesByCondition',
  'NamespaceLifecycle',
  'StorageObjectInUseProtection',
  'DefaultStorageClass',
  'RuntimeClass',
  'DefaultIngressClass',
  'LimitRanger',
  'ResourceQuota',
];
before(async () => {
  server = await startRealServer([`--disable-admission-plugins=${unwantedPlugins.join(',')}`]);
});
after(async () => server?.[Symbol.asyncDispose]());

function resourceOf({ apiVersion, kind }: KubeObject): BuiltinResource {
  for (const { name: group, versions } of builtinGroups()) {
    for (const { name: version, resources } of versions) {
      if ((group === '' ? version : `${group}/${version}`) !== apiVersion) continue;
      const found = resources.find((one) => one.kind === kind);
      if (found) return found;
    }
  }
  throw new Error(`no resource ${apiVersion} ${kind}`);
}

function collection(resource: BuiltinResource): string {
  const root = resource.group === '' ? '/api/v1' : `/apis/${resource.group}/${resource.version}`;
  return `${root}${resource.namespaced ? '/namespaces/default' : ''}/${resource.name}`;
}

class Refused extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

async function send(method: string, path: string, body?: KubeObject): Promise<KubeObject> {
  const answer = await server.request(method, path, body === undefined ? {} : { body: JSON.stringify(body) });
  const parsed = JSON.parse(answer.body.toString()) as KubeObject;
  if (answer.status >= 300) throw new Refused(answer.status, `${method} ${path}: ${JSON.stringify(parsed['message'])}`);
  return parsed;
}

const times = new Set(['lastTransitionTime', 'lastPhaseTransitionTime', 'timeAdded', 'lastUpdateTime']);
/** The allocator of services sets these, and is not under test. */
const allocated = new Set([
  'clusterIP',
  'clusterIPs',
  'ipFamilies',
  'ipFamilyPolicy',
  'nodePort',
  'healthCheckNodePort',
]);

/** Removes fields that differ from request to request. */
function comparable(object: KubeObject): JsonObject {
  const {
    uid: _uid,
    resourceVersion: _version,
    creationTimestamp: _time,
    managedFields: _fields,
    ...metadata
  } = object.metadata;
  const isService = object.kind === 'Service';
  const strip = (value: unknown): unknown => {
    // Objects stored as protobuf are returned without empty lists.
    if (Array.isArray(value)) return value.length === 0 ? null : value.map(strip);
    if (!isObject(value)) return value;
    const kept = Object.entries(value).filter(([name]) => !(isService && allocated.has(name)));
    return Object.fromEntries(kept.map(([name, inner]) => [name, times.has(name) ? 'some time' : strip(inner)]));
  };
  return strip({ ...object, metadata }) as JsonObject;
}

const admin = { username: 'admin', uid: 'admin', groups: ['system:masters', 'system:authenticated'] };

/** Returns the answer of our server, given the metadata that the real one set. */
function created(object: KubeObject, theirs: KubeObject): KubeObject {
  const ours = structuredClone(object);
  const resource = resourceOf(object);
  const strategy = builtinStrategy(resource);
  if (resource.namespaced) ours.metadata.namespace = 'default';
  strategy.applyDefaults(ours);
  ours.metadata.uid = theirs.metadata.uid!;
  strategy.prepareForCreate(ours);
  if (object.kind === 'CertificateSigningRequest') recordRequester(ours, admin);
  const once = JSON.stringify(ours);
  strategy.applyDefaults(ours);
  assert.equal(JSON.stringify(ours), once, `${object.kind}: defaults are there after preparation`);
  return normalise(schemaOf(ours.apiVersion, ours.kind)!, ours) as KubeObject;
}

test('a new object of every kind gets what the server gives it', { timeout: 120_000 }, async () => {
  await compareEach(corpus, async (object) => {
    const theirs = await send('POST', collection(resourceOf(object)), object);
    assert.deepEqual(comparable(created(object, theirs)), comparable(theirs));
  });
});

/** Reports all differences together. */
async function compareEach<T>(list: readonly T[], compare: (one: T) => Promise<void>): Promise<void> {
  const problems: string[] = [];
  for (const one of list) {
    try {
      await compare(one);
    } catch (error) {
      problems.push(`${JSON.stringify(one)}: ${(error as Error).message}`);
    }
  }
  assert.equal(problems.length, 0, problems.join('\n\n'));
}

/** RFC 7386. */
function merge(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const result: JsonObject = isObject(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else result[name] = merge(result[name], value);
  }
  return result;
}

const pathOf = (object: KubeObject): string =>
  `${collection(resourceOf(object))}/${encodeURIComponent(object.metadata.name!)}`;

async function compareChange({ apiVersion, kind, index, subresource, patch }: Change): Promise<void> {
  const object = corpus.filter((one) => one.apiVersion === apiVersion && one.kind === kind)[index]!;
  await compareUpdate(object, subresource, (old) => merge(old, patch) as KubeObject);
}

async function compareUpdate(
  object: KubeObject,
  subresource: string,
  change: (old: KubeObject) => KubeObject,
  attemptsLeft = 5,
): Promise<void> {
  const { apiVersion, kind } = object;
  const path = pathOf(object);
  const old = await send('GET', path);
  const body = change(old);
  let theirs: KubeObject;
  try {
    theirs = await send('PUT', subresource === '' ? path : `${path}/${subresource}`, body);
  } catch (error) {
    // The server's own controllers write some of them.
    if (!(error instanceof Refused) || error.code !== 409 || attemptsLeft === 0) throw error;
    return compareUpdate(object, subresource, change, attemptsLeft - 1);
  }
  const ours = structuredClone(body);
  const before = JSON.stringify(old);
  const strategy = builtinStrategy(resourceOf(object));
  strategy.applyDefaults(ours);
  strategy.prepareForUpdate(ours, old, subresource);
  assert.equal(JSON.stringify(old), before, 'the old object is never changed');
  assert.deepEqual(comparable(normalise(schemaOf(apiVersion, kind)!, ours) as KubeObject), comparable(theirs));
}

test(
  'an update, of the object or a subresource, keeps and counts what the server does',
  { timeout: 120_000 },
  async () => {
    await compareEach(changeList, compareChange);
  },
);

/** Their names are derived from their specs. */
const namedBySpec = new Set(['CustomResourceDefinition', 'APIService']);

/** A refused object, for example one without a dependency, is not compared. */
async function unlessRefused(compare: Promise<void>): Promise<boolean> {
  try {
    await compare;
    return true;
  } catch (error) {
    if (error instanceof Refused) return false;
    throw error;
  }
}

test('so it is with anything left out or emptied', { timeout: 120_000 }, async () => {
  const random = seededRandom(5);
  let compared = 0;
  await compareEach(
    corpus.filter(({ kind }) => !namedBySpec.has(kind) && kind !== 'IPAddress'),
    async (object) => {
      const share = [0.03, 0.08, 0.2][compared % 3]!;
      const metadata = { ...object.metadata, name: `variant-${object.metadata.name!.replaceAll(/[^a-z0-9-]/g, '-')}` };
      const variant = variantOf({ ...object, metadata }, share, random);
      const create = async (): Promise<void> => {
        const theirs = await send('POST', collection(resourceOf(variant)), variant);
        assert.deepEqual(comparable(created(variant, theirs)), comparable(theirs));
      };
      if (!(await unlessRefused(create()))) return;
      compared++;
      for (const subresource of ['', 'status']) {
        const change = (old: KubeObject): KubeObject => variantOf(old, share, random);
        if (await unlessRefused(compareUpdate(variant, subresource, change))) compared++;
      }
    },
  );
  assert.ok(compared > 200, `${compared} compared`);
});

test('scales are those of the server, and scaling changes the same', async () => {
  const kinds = new Set(['Deployment', 'ReplicaSet', 'StatefulSet', 'ReplicationController']);
  const scalable = corpus.filter(({ kind }) => kinds.has(kind));
  await compareEach(scalable, async (object) => {
    const path = pathOf(object);
    const old = await send('GET', path);
    const scale = await send('GET', `${path}/scale`);
    assert.deepEqual(comparable(scaleOf(old)), comparable(scale));
    const wanted = merge(scale, { spec: { replicas: 7 } }) as KubeObject;
    await send('PUT', `${path}/scale`, wanted);
    const ours = structuredClone(old);
    applyScale(ours, wanted);
    builtinStrategy(resourceOf(object)).prepareForUpdate(ours, old, 'scale');
    assert.deepEqual(comparable(ours), comparable(await send('GET', path)));
  });
});

test('an object is the same in other versions as the server shows it', async () => {
  const versions: Record<string, string> = {
    'autoscaling/v2': '/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers',
    'autoscaling/v1': '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers',
    v1: '/apis/events.k8s.io/v1/namespaces/default/events',
    'events.k8s.io/v1': '/api/v1/namespaces/default/events',
  };
  const convertible = corpus.filter(({ kind }) => kind === 'HorizontalPodAutoscaler' || kind === 'Event');
  await compareEach(convertible, async (object) => {
    const own = await send('GET', pathOf(object));
    const theirs = await send('GET', `${versions[object.apiVersion]!}/${object.metadata.name}`);
    const ours = convert(own, theirs.apiVersion);
    assert.deepEqual(
      comparable(normalise(schemaOf(ours.apiVersion, ours.kind)!, ours) as KubeObject),
      comparable(theirs),
    );
  });
});

const names = [
  'A',
  'a.b',
  'a_b',
  '1a',
  '-a',
  'x'.repeat(64),
  'x'.repeat(254),
  'a/b',
  '..',
  '10.0.0.1',
  '0:0:0:0:0:0:0:1',
  'a%b',
];

test('names are refused for the reasons that the server has', { timeout: 60_000 }, async () => {
  const firsts = new Map(corpus.toReversed().map((object) => [`${object.apiVersion} ${object.kind}`, object]));
  const all = [...firsts.values()].filter(({ kind }) => !namedBySpec.has(kind));
  await compareEach(
    all.flatMap((object) => names.map((name) => ({ ...object, metadata: { name } }))),
    async (object) => {
      const resource = resourceOf(object);
      const body = JSON.stringify(object);
      const answer = await server.request('POST', `${collection(resource)}?dryRun=All`, { body });
      const { details } = JSON.parse(answer.body.toString()) as {
        details?: { causes?: { field: string; message: string }[] };
      };
      const causes = (details?.causes ?? []).filter(
        // The room that cron jobs leave for the names of their jobs is checked by validation.
        ({ field, message }) => field === 'metadata.name' && !message.endsWith('52 characters'),
      );
      const theirs = causes.map(({ message }) => message.replace(/^Invalid value: "(?:[^"\\]|\\.)*": /, ''));
      const { name } = object.metadata;
      const reasons = builtinStrategy(resource).validateName(name, false);
      assert.deepEqual(
        [...new Set(reasons.length > 0 ? reasons : nameIsPathSegment(name, false))],
        [...new Set(theirs)],
      );
    },
  );
});

test('every kind that clients can create is in the corpus', () => {
  const compared = new Set(corpus.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`));
  const missing = builtinGroups()
    .flatMap(({ versions }) => versions.flatMap(({ resources }) => resources))
    .filter(({ isServedByDefault, storage }) => isServedByDefault && storage !== undefined)
    .map(({ group, version, kind }) => `${group === '' ? version : `${group}/${version}`} ${kind}`)
    .filter((key) => !compared.has(key));
  assert.deepEqual(missing, []);
});
