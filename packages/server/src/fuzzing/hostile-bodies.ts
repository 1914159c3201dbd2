/** Bodies for the fuzzer: valid ones and mutations of them. */

import { dumpYaml, encodeProtobuf } from '@hangar/api';
import type { JsonObject } from '@hangar/api';
import { chance, pick } from '@hangar/core';
import type { Random } from '@hangar/core';
import { languageNames, names } from './hostile-texts.ts';

const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };

const samples: readonly JsonObject[] = [
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { k: 'v' } },
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', labels: { a: 'b' }, annotations: { c: 'd' } } },
  { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' }, data: { k: 'dg==' }, stringData: { x: 'y' } },
  { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' }, spec: template.spec },
  { apiVersion: 'v1', kind: 'Service', metadata: { name: 'a' }, spec: { ports: [{ port: 80 }], selector: { a: 'b' } } },
  { apiVersion: 'v1', kind: 'Event', metadata: { name: 'a' }, involvedObject: { namespace: 'default' }, count: 1 },
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'web' } },
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'a' },
    spec: { replicas: 1, selector: { matchLabels: { a: 'b' } }, template },
  },
  { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'a' }, spec: { leaseDurationSeconds: 5 } },
  {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'a' },
    spec: { maxReplicas: 3, scaleTargetRef: { kind: 'Deployment', name: 'a' } },
  },
  {
    apiVersion: 'fuzz.example.com/v1',
    kind: 'Thing',
    metadata: { name: 'a' },
    spec: { text: 'aaaa', list: ['x'], any: {} },
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'a' },
    rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
  },
];

export const collectionOf: Readonly<Record<string, string>> = {
  ConfigMap: '/api/v1/namespaces/default/configmaps',
  Secret: '/api/v1/namespaces/default/secrets',
  Pod: '/api/v1/namespaces/default/pods',
  Service: '/api/v1/namespaces/default/services',
  Event: '/api/v1/namespaces/default/events',
  Namespace: '/api/v1/namespaces',
  Deployment: '/apis/apps/v1/namespaces/default/deployments',
  Lease: '/apis/coordination.k8s.io/v1/namespaces/default/leases',
  HorizontalPodAutoscaler: '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers',
  Thing: '/apis/fuzz.example.com/v1/namespaces/default/things',
  ClusterRole: '/apis/rbac.authorization.k8s.io/v1/clusterroles',
};

/** Has patterns and rules that are expensive to evaluate. */
export const thingDefinition: JsonObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'things.fuzz.example.com' },
  spec: {
    group: 'fuzz.example.com',
    scope: 'Namespaced',
    names: { plural: 'things', kind: 'Thing' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {}, scale: { specReplicasPath: '.spec.count', statusReplicasPath: '.status.count' } },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  text: { type: 'string', pattern: '^(a+)+$', maxLength: 100 },
                  count: { type: 'integer', default: 1 },
                  list: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
                  any: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
                  embedded: {
                    type: 'object',
                    'x-kubernetes-embedded-resource': true,
                    'x-kubernetes-preserve-unknown-fields': true,
                  },
                  named: { type: 'object', additionalProperties: { type: 'string' }, maxProperties: 5 },
                },
                'x-kubernetes-validations': [{ rule: "!has(self.text) || self.text != 'never'" }],
              },
              status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
            },
          },
        },
      },
    ],
  },
};

export const sample = (random: Random): JsonObject => structuredClone(pick(random, samples));

/** Numbers, texts and structures that are hard to handle. Written as JSON text, because not all of them can be JavaScript values. */
const hostileValues = [
  'null',
  'true',
  '0',
  '-0',
  '1e400',
  '-1e400',
  '1e-400',
  '123456789012345678901234567890',
  '0.1e1',
  '01',
  '+1',
  '.5',
  '5.',
  'NaN',
  'Infinity',
  '0x1',
  '""',
  '"\\ud800"',
  '"\\udfff\\ud800"',
  '"\\u0000"',
  '"\\x"',
  '"\n"',
  '"\u007f"',
  '"\u2028"',
  "'a'",
  '{}',
  '[]',
  '[[]]',
  '{"a":1,"a":2}',
  '{"a":{"a":1},"a":[1]}',
  ...languageNames.flatMap((name) => [
    `{"${name}":{"polluted":true}}`,
    `{"${name}":null}`,
    `"${name}"`,
    `{"${name}":"a"}`,
  ]),
  '{"__proto__":{"__proto__":{"polluted":true}}}',
  '{"constructor":{"prototype":{"polluted":true}}}',
  '{"\\u005f_proto__":{"polluted":true}}',
  `"${'a'.repeat(60)}!"`,
];

/** Large variants: each costs as much as a hundred small ones. */
const largeValues = [
  `"${'a'.repeat(20_000)}"`,
  '['.repeat(20_000),
  `${'['.repeat(10_001)}${']'.repeat(10_001)}`,
  `${'{"a":'.repeat(10_001)}1${'}'.repeat(10_001)}`,
  `${'[{"a":'.repeat(300)}1${'}]'.repeat(300)}`,
  '{"a":'.repeat(20_000),
  `[${'1,'.repeat(20_000)}1]`,
  `{${Array.from({ length: 5_000 }, (_, at) => `"k${at}":${at}`).join(',')}}`,
];

const hostileValue = (random: Random): string => pick(random, chance(random, 0.02) ? largeValues : hostileValues);

const mark = '\u0001here\u0001';

/** Returns the sample with one place replaced. */
export function hostileJson(random: Random, value: unknown): string {
  if (chance(random, 0.05)) return hostileValue(random);
  const text = JSON.stringify(marked(random, value));
  return text.replace(JSON.stringify(mark), () => hostileValue(random));
}

function marked(random: Random, value: unknown): unknown {
  if (Array.isArray(value) && value.length > 0 && chance(random, 0.85)) {
    const at = random.below(value.length);
    return value.with(at, marked(random, value[at]));
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value) || chance(random, 0.15)) return mark;
  const object = value as JsonObject;
  const keys = Object.keys(object);
  if (keys.length === 0 || chance(random, 0.2)) {
    // Computed keys define properties, including `__proto__`.
    return { ...object, [pick(random, [...names, 'unknown', 'metadata', 'kind'])]: mark };
  }
  const key = pick(random, keys);
  return { ...object, [key]: marked(random, object[key]) };
}

const yamls = [
  'a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\nd: &d [*c,*c]\ne: [*d,*d]\n',
  `${Array.from({ length: 30 }, (_, at) => `a${at}: &a${at} [${at === 0 ? 'x' : `*a${at - 1},*a${at - 1}`}]`).join('\n')}\n`,
  'a: &a\n  b: *a\n',
  '<<: {a: b}\n__proto__: {polluted: true}\n',
  '? {a: b}\n: c\n',
  '? [a]\n: c\n',
  '--- \na: b\n---\nc: d\n',
  'a: !!js/function "x"\n',
  'a: !!binary "%%%"\n',
  'a: !!float x\n',
  'a:\n\tb: c\n',
  '%YAML 9.9\n---\na: b\n',
  `${'- '.repeat(5_000)}a\n`,
  `${'{a: '.repeat(5_000)}`,
  Array.from({ length: 2_000 }, (_, at) => `${' '.repeat(at)}a:`).join('\n'),
  '"\\xzz": b',
  'a: 1_000\nb: 0o17\nc: .inf\nd: .nan\ne: 2001-01-01\nf: ~\n1: 2\ntrue: x\n',
];

export function hostileYaml(random: Random, value: JsonObject): string {
  if (chance(random, 0.3)) return pick(random, yamls);
  if (chance(random, 0.4)) return hostileJson(random, value);
  return damagedBytes(random, Buffer.from(dumpYaml(value))).toString();
}

export function hostileProtobuf(random: Random, value: JsonObject): Buffer {
  if (value['apiVersion'] === 'fuzz.example.com/v1' || chance(random, 0.05)) {
    return Buffer.concat([Buffer.from('k8s\0'), Buffer.from(pick(random, deepMessages))]);
  }
  const bytes = Buffer.from(encodeProtobuf(value));
  return chance(random, 0.1) ? bytes : damagedBytes(random, bytes);
}

/** Lengths beyond the end, endless varints, groups, and nested messages. */
const deepMessages: readonly Uint8Array[] = [
  Buffer.alloc(10_000, 0x0a),
  Buffer.alloc(10_000, 0xff),
  Buffer.alloc(10_000, 0x0b),
  Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f]),
  Buffer.from([0x12, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]),
  new Uint8Array(),
];

export function damagedBytes(random: Random, bytes: Buffer): Buffer {
  const at = (): number => random.below(bytes.length + 1);
  switch (random.below(6)) {
    case 0:
      return bytes.subarray(0, at());
    case 1:
      return Buffer.concat([bytes.subarray(0, at()), bytes.subarray(at())]);
    case 2:
      return Buffer.concat([bytes, random.bytes(1 + random.below(20))]);
    case 3: {
      const place = at();
      const bad = pick(random, [
        [0xff],
        [0xc0, 0xaf],
        [0xed, 0xa0, 0x80],
        [0xf5, 0x80, 0x80, 0x80],
        [0x80],
        [0],
        [0xef, 0xbb, 0xbf],
      ]);
      return Buffer.concat([bytes.subarray(0, place), Buffer.from(bad), bytes.subarray(place)]);
    }
    case 4: {
      const copy = Buffer.from(bytes);
      if (copy.length > 0) copy[random.below(copy.length)]! ^= 1 << random.below(8);
      return copy;
    }
    default:
      return Buffer.from(random.bytes(random.below(200)));
  }
}

const pointers = [
  '',
  '/',
  '/metadata',
  '/metadata/name',
  '/metadata/labels/a',
  '/data/k',
  '/data/-',
  '/spec/containers/0',
  '/spec/containers/-',
  '/spec/containers/99999999999',
  '/spec/containers/-1',
  '/spec/containers/01',
  'x',
  '/~',
  '/~2',
  '/a/b/c',
  '/\u0000',
  ...languageNames.flatMap((name) => [
    `/${name}`,
    `/${name}/polluted`,
    `/metadata/${name}/polluted`,
    `/metadata/labels/${name}`,
  ]),
  '/constructor/prototype/polluted',
  `${'/a'.repeat(5_000)}`,
];

export function hostilePatch(random: Random, length = 1 + random.below(4)): string {
  const operations = Array.from({ length }, () => ({
    op: pick(random, ['add', 'replace', 'remove', 'test', 'copy', 'move', 'odd', '', '__proto__']),
    path: pick(random, pointers),
    from: pick(random, pointers),
    value: pick(random, [1, 'a', null, {}, [], { polluted: true }, 'x'.repeat(100)]),
  }));
  return chance(random, 0.2) ? hostileJson(random, operations) : JSON.stringify(operations);
}

const copyBomb = JSON.stringify([
  { op: 'add', path: '/data', value: { a: 'x'.repeat(1_000) } },
  ...Array.from({ length: 60 }, (_, at) => ({ op: 'copy', from: '/data', path: `/data/k${at}` })),
]);

/** Rare, because each costs as much as a thousand others. */
export const costly: readonly {
  readonly name: string;
  readonly contentType: string;
  readonly method: string;
  body(): Buffer;
}[] = [
  {
    name: 'a body over 3 MiB',
    contentType: 'application/json',
    method: 'POST',
    body: () => Buffer.alloc(3 * 1024 * 1024 + 1, 0x20),
  },
  {
    name: 'a patch of 10,001 operations',
    contentType: 'application/json-patch+json',
    method: 'PATCH',
    body: () =>
      Buffer.from(
        JSON.stringify(Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/kind', value: 'ConfigMap' }))),
      ),
  },
  {
    name: 'copies of copies',
    contentType: 'application/json-patch+json',
    method: 'PATCH',
    body: () => Buffer.from(copyBomb),
  },
  {
    name: 'three megabytes of brackets',
    contentType: 'application/json',
    method: 'POST',
    body: () => Buffer.alloc(3 * 1024 * 1024, 0x5b),
  },
  {
    name: 'three megabytes of YAML',
    contentType: 'application/apply-patch+yaml',
    method: 'PATCH',
    body: () => Buffer.from('- '.repeat(1_500_000)),
  },
  {
    name: 'three megabytes of repeated keys',
    contentType: 'application/json',
    method: 'POST',
    body: () => Buffer.from(`{"data":{${'"a":"b",'.repeat(390_000)}"a":"b"}}`),
  },
];
