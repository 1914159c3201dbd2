import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeProtobuf, encodeProtobuf } from '../protobuf/envelope.ts';
import {
  aggregatedDiscovery,
  apiGroupList,
  apiResourceList,
  apiVersions,
  builtinServedGroups,
  etagOf,
  storageVersionHash,
} from './index.ts';
import type { ServedGroup } from './index.ts';
import { servedGroupsOf } from './testing/definitions.ts';
import { sampleDefinitions } from './testing/samples.ts';

const custom = servedGroupsOf(sampleDefinitions);
const groups = [...custom, ...builtinServedGroups()];
const namesOf = (list: unknown): string[] => (list as { groups: { name: string }[] }).groups.map(({ name }) => name);

test('what is served by default are the stable versions, the preferred one first', () => {
  const versions = builtinServedGroups().flatMap(({ name, versions: all }) => all.map((one) => `${name}/${one.name}`));
  assert.equal(versions[0], '/v1');
  assert.ok(versions.indexOf('autoscaling/v2') < versions.indexOf('autoscaling/v1'));
  assert.deepEqual(
    versions.filter((version) => /alpha|beta/.test(version)),
    [],
  );
});

test('the storage version hash is the one that kube-apiserver shows for the same kind', () => {
  assert.equal(storageVersionHash({ group: '', version: 'v1', kind: 'ConfigMap' }), 'qFsyl6wFWjQ=');
  assert.equal(storageVersionHash({ group: 'apps', version: 'v1', kind: 'Deployment' }), '8aSe+NMegvE=');
});

test('custom groups come after built-in ones: ordered by version first, in aggregated discovery by name', () => {
  assert.deepEqual(namesOf(apiGroupList(groups)).slice(-2), ['example.org', 'another.dev']);
  const { items } = aggregatedDiscovery('/apis', groups) as { items: { metadata: { name?: string } }[] };
  assert.deepEqual(
    items.slice(-2).map(({ metadata }) => metadata.name),
    ['another.dev', 'example.org'],
  );
  assert.equal(items[0]!.metadata.name, 'apiregistration.k8s.io');
});

test('the core group is under /api only', () => {
  assert.deepEqual(apiVersions(groups, '192.0.2.1:443')['versions'], ['v1']);
  assert.ok(!namesOf(apiGroupList(groups)).includes(''));
  assert.equal((aggregatedDiscovery('/api', groups)['items'] as unknown[]).length, 1);
});

test('a subresource names its group and version only where they are not its resource’s own', () => {
  const example = custom.find(({ name }) => name === 'example.org')!;
  const { resources } = apiResourceList('example.org', example.versions[0]!) as {
    resources: { name: string; group?: string; version?: string }[];
  };
  const found = (name: string): unknown[] => {
    const { group, version } = resources.find((one) => one.name === name)!;
    return [group, version];
  };
  assert.deepEqual(found('widgets/status'), [undefined, undefined]);
  assert.deepEqual(found('widgets/scale'), ['autoscaling', 'v1']);
});

test('a group without any version does not break the lists', () => {
  const empty: ServedGroup = { name: 'empty.example.org', versions: [] };
  assert.ok(namesOf(apiGroupList([...groups, empty])).includes('empty.example.org'));
});

test('discovery documents can be written in protobuf and read back', () => {
  for (const document of [aggregatedDiscovery('/apis', groups), apiGroupList(groups)]) {
    const read = decodeProtobuf(encodeProtobuf(document)) as { items?: unknown[]; groups?: unknown[] };
    assert.equal((read.items ?? read.groups)!.length, groups.length - 1);
  }
});

test('an entity tag is the quoted hash of the content', () => {
  assert.match(etagOf('{}'), /^"[0-9A-F]{128}"$/);
  assert.notEqual(etagOf('{}'), etagOf('{ }'));
});
