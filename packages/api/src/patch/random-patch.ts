/** Arbitrary patches for tests: mostly sensible, now and then not. */

import type { JsonObject } from '../object.ts';
import type { Random } from '../testing/random-object.ts';

const pick = <T>(random: Random, list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
const chance = (random: Random, p: number): boolean => random() < p;
const some = <T>(random: Random, list: readonly T[], p: number): T[] => list.filter(() => chance(random, p));
const shuffled = <T>(random: Random, list: readonly T[]): T[] =>
  list
    .map((value) => ({ value, rank: random() }))
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ value }) => value);

export const sampleDocument = {
  apiVersion: 'example.com/v1',
  kind: 'Document',
  metadata: { name: 'sample' },
  spec: {
    list: [1, 'two', { three: [3, 33] }, [4], true],
    map: { a: 'x', b: { c: { d: 1 } }, 'e/f': { '~g': [] } },
    text: 'text',
    number: 0.5,
  },
};

const pointers = [
  '/spec/list/0',
  '/spec/list/2/three/1',
  '/spec/list/-',
  '/spec/list/-1',
  '/spec/list/5',
  '/spec/list/6',
  '/spec/list/x',
  '/spec/list/+1',
  '/spec/list/3/0',
  '/spec/list/3/-1',
  '/spec/list',
  '/spec/map/a',
  '/spec/map/b/c/d',
  '/spec/map/b',
  '/spec/map/e~1f/~0g/0',
  '/spec/map/e~1f/~0g/-',
  '/spec/map/e~1f',
  '/spec/map/none',
  '/spec/map/none/x',
  '/spec/map/',
  '/spec/text',
  '/spec/text/x',
  '/spec/number',
  '/spec/constructor',
  '/spec/toString/x',
  'before/spec/text',
  '/spec',
];
const values: readonly unknown[] = [
  1,
  'x',
  true,
  {},
  [],
  { a: { b: 'c' } },
  [1, [2]],
  'text',
  'two',
  { three: [3, 33] },
];

export function randomJsonPatch(random: Random): JsonObject[] {
  return Array.from({ length: 1 + Math.floor(random() * 4) }, () => {
    const op = pick(random, ['add', 'add', 'remove', 'replace', 'move', 'copy', 'test']);
    const operation: JsonObject = { op, path: pick(random, pointers) };
    if (op === 'move' || op === 'copy') operation['from'] = pick(random, pointers);
    if (op === 'add' || op === 'replace' || op === 'test') operation['value'] = pick(random, values);
    return operation;
  });
}

const keys = ['list', 'map', 'text', 'number', 'a', 'b', 'c', 'd', 'new', 'constructor'];

export function randomMergePatch(random: Random, depth = 0): JsonObject {
  const patch: JsonObject = {};
  for (const key of some(random, keys, 0.4)) patch[key] = randomMergeValue(random, depth);
  return patch;
}

function randomMergeValue(random: Random, depth: number): unknown {
  if (chance(random, 0.25)) return null;
  if (depth < 4 && chance(random, 0.5)) return randomMergePatch(random, depth + 1);
  return chance(random, 0.3) ? [{ a: null, b: [{ c: null }] }, null] : pick(random, values);
}

const container = (name: string): JsonObject => ({
  name,
  image: `image-${name}`,
  env: ['A', 'B', 'C'].map((key) => ({ name: key, value: name })),
  ports: [
    { containerPort: 80, name: 'web' },
    { containerPort: 90, protocol: 'UDP', name: 'other' },
  ],
  args: ['x', 'y'],
  volumeMounts: [{ name: 'v1', mountPath: '/v1' }],
});

export const sampleDeployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'sample', labels: { a: '1', b: '2' }, finalizers: ['x/a', 'x/b', 'x/c', 'x/d'] },
  spec: {
    selector: { matchLabels: { app: 'sample' } },
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
    template: {
      metadata: { labels: { app: 'sample' } },
      spec: {
        containers: ['one', 'two', 'three', 'four'].map(container),
        volumes: [
          { name: 'v1', emptyDir: {} },
          { name: 'v2', configMap: { name: 'c' } },
          { name: 'v3', secret: { secretName: 's' } },
        ],
        tolerations: [{ key: 'k', operator: 'Exists' }],
        nodeSelector: { disk: 'ssd' },
      },
    },
  },
};

export function randomDeploymentPatch(random: Random): JsonObject {
  const patch: JsonObject = {};
  if (chance(random, 0.5)) patch['metadata'] = randomMetadata(random);
  const spec: JsonObject = { template: { spec: randomPodSpec(random) } };
  if (chance(random, 0.3)) {
    spec['strategy'] = pick<JsonObject>(random, [
      { $retainKeys: ['type'], type: 'Recreate' },
      { type: 'Recreate' },
      { rollingUpdate: { maxSurge: '50%' } },
      { $patch: 'replace', type: 'Recreate' },
      { type: 'Recreate', rollingUpdate: null },
    ]);
  }
  return { ...patch, spec };
}

function randomMetadata(random: Random): JsonObject {
  const finalizers = ['x/a', 'x/b', 'x/c', 'x/d', 'x/e', 'x/f'];
  const metadata: JsonObject = {};
  if (chance(random, 0.5))
    metadata['labels'] = pick<JsonObject>(random, [
      { a: null, c: '3' },
      { $patch: 'replace', d: '4' },
      { $patch: 'delete' },
      { none: null },
    ]);
  const change = random();
  if (change < 0.6) metadata['finalizers'] = shuffled(random, some(random, finalizers, 0.4));
  else if (change < 0.85) metadata['$deleteFromPrimitiveList/finalizers'] = some(random, finalizers, 0.4);
  if (chance(random, 0.4)) metadata['$setElementOrder/finalizers'] = shuffled(random, some(random, finalizers, 0.8));
  return metadata;
}

const names = ['one', 'two', 'three', 'four', 'five', 'six'];

function randomPodSpec(random: Random): JsonObject {
  const spec: JsonObject = {};
  const elements = shuffled(random, some(random, names, 0.4)).map((name) => randomContainer(random, name));
  if (chance(random, 0.05)) elements.splice(Math.floor(random() * 3), 0, { $patch: 'replace' });
  if (chance(random, 0.8)) spec['containers'] = elements;
  if (chance(random, 0.5)) {
    const listed = elements.flatMap((element) => (element['$patch'] ? [] : [element['name']]));
    const others = some(random, names, 0.4).filter((name) => !listed.includes(name));
    const order = chance(random, 0.8) ? [...listed, ...others] : shuffled(random, [...listed, ...others]);
    spec['$setElementOrder/containers'] = chance(random, 0.1) ? [] : order.map((name) => ({ name }));
  }
  if (chance(random, 0.5)) spec['volumes'] = [randomVolume(random)];
  if (chance(random, 0.2)) spec['tolerations'] = [{ operator: 'Exists' }];
  if (chance(random, 0.2)) spec['nodeSelector'] = pick<unknown>(random, [null, { disk: null }, { zone: 'z' }]);
  return spec;
}

function randomContainer(random: Random, name: string): JsonObject {
  if (chance(random, 0.15)) return { name, $patch: 'delete' };
  const element: JsonObject = { name };
  if (chance(random, 0.7)) element['image'] = 'changed';
  if (chance(random, 0.3))
    element['env'] = shuffled(random, ['A', 'C', 'D']).map((key) =>
      pick<JsonObject>(random, [
        { name: key, value: 'new' },
        { name: key, $patch: 'delete' },
      ]),
    );
  if (chance(random, 0.3))
    element['ports'] = [
      { containerPort: 90, name: 'renamed' },
      { containerPort: 100, hostPort: null },
    ];
  if (chance(random, 0.2)) element['args'] = pick<unknown>(random, [['z'], null, []]);
  if (chance(random, 0.1)) element['$retainKeys'] = ['name', 'image', 'env', 'ports', 'args', 'volumeMounts'];
  return element;
}

const randomVolume = (random: Random): JsonObject =>
  pick<JsonObject>(random, [
    { name: 'v1', hostPath: { path: '/' }, emptyDir: null },
    { name: 'v2', $retainKeys: ['name', 'emptyDir'], emptyDir: {} },
    { name: 'v2', $retainKeys: ['name'], emptyDir: {} },
    { name: 'v3', $patch: 'delete' },
    { name: 'v4', emptyDir: { medium: 'Memory', sizeLimit: null } },
    { name: 'v2', configMap: { items: [{ key: 'k', path: 'p' }] } },
  ]);
