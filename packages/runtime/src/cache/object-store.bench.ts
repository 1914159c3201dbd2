/**
 * `node packages/runtime/src/cache/object-store.bench.ts`: measures the overhead of a cached object, the savings of shared strings, and the
 * cost of a copy, for 100,000 small objects as a server sends them.
 */

import type { ApiObject } from '@hangar/client';
import { cloneJson } from '../json/clone-json.ts';
import { Indexes } from './indexes.ts';
import { ObjectStore } from './object-store.ts';
import { SharedStrings } from './strings.ts';
import { heapBytes } from './testing/heap.ts';

const count = 100_000;
const kind = { apiVersion: 'example.com/v1alpha1', kind: 'ConfigurationMap', plural: 'x', isNamespaced: true };

const text = (n: number): string =>
  JSON.stringify({
    apiVersion: 'example.com/v1alpha1',
    kind: 'ConfigurationMap',
    metadata: {
      name: `configuration-of-${n}`,
      namespace: `team-number-${n % 500}`,
      uid: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
      resourceVersion: `${1_000_000 + n}`,
      creationTimestamp: '2026-01-01T00:00:00Z',
      labels: {
        'app.kubernetes.io/name': `application-${n % 100}`,
        'app.kubernetes.io/managed-by': 'some-fine-operator',
      },
      ownerReferences: [
        {
          apiVersion: 'example.com/v1alpha1',
          kind: 'ConfigurationSet',
          name: `configuration-set-${n % 1_000}`,
          uid: `11111111-0000-4000-8000-${String(n % 1_000).padStart(12, '0')}`,
          controller: true,
        },
      ],
    },
    data: { key: `value ${n}` },
  });

/** Prints the bytes for each object of the result of `make`. */
function measure(what: string, make: (next: (n: number) => ApiObject) => unknown): void {
  const before = heapBytes();
  const begunMs = performance.now();
  const kept = make((n) => JSON.parse(text(n)) as ApiObject);
  const tookMs = performance.now() - begunMs;
  const bytes = (heapBytes() - before) / count;
  console.log(`${what}: ${bytes.toFixed(0)} bytes an object, ${((tookMs * 1_000) / count).toFixed(2)} µs each`);
  if (kept === undefined) throw new Error('nothing was kept');
}

const all = (next: (n: number) => ApiObject): ApiObject[] => Array.from({ length: count }, (_, n) => next(n));

measure('the objects alone, in an array', all);
measure('… with shared strings', (next) => {
  const strings = new SharedStrings();
  return all((n) => {
    const object = next(n);
    strings.share(kind, object);
    return object;
  });
});
measure('one map by "namespace/name"', (next) => {
  const map = new Map<string, ApiObject>();
  for (const object of all(next)) map.set(`${object.metadata.namespace}/${object.metadata.name}`, object);
  return map;
});
const stored = (next: (n: number) => ApiObject, indexes: Indexes<ApiObject>): ObjectStore<ApiObject> => {
  const [store, strings] = [new ObjectStore<ApiObject>(indexes), new SharedStrings()];
  for (let n = 0; n < count; n++) {
    const object = next(n);
    strings.share(kind, object);
    store.put(object);
  }
  return store;
};
measure('the store: a map by name in a map by namespace, shared strings', (next) =>
  stored(next, new Indexes(undefined)),
);
measure('… with one index', (next) => {
  const indexes = new Indexes<ApiObject>(undefined);
  indexes.add('owner', ({ metadata }) => metadata.ownerReferences!.map(({ uid }) => uid));
  return stored(next, indexes);
});

const object = JSON.parse(text(1)) as ApiObject;
const copies: Record<string, () => unknown> = {
  cloneJson: () => cloneJson(object),
  structuredClone: () => structuredClone(object),
  'JSON.parse(JSON.stringify())': () => JSON.parse(JSON.stringify(object)) as unknown,
};
for (const [what, copy] of Object.entries(copies)) {
  for (let n = 0; n < 20_000; n++) copy();
  const begunMs = performance.now();
  for (let n = 0; n < count; n++) copy();
  console.log(`a copy by ${what}: ${(((performance.now() - begunMs) * 1_000) / count).toFixed(2)} µs`);
}
