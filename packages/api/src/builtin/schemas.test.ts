import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { builtinGroups, builtinKinds, builtinResource, schemaOf, schemaOfKind } from './schemas.ts';
import { structIds, structType } from './types.ts';
import type { ValueType } from './types.ts';
import { table } from './table.ts';

/** The groups that a control plane is expected to serve. */
const expectedGroups = [
  '',
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'apiregistration.k8s.io',
  'apps',
  'authentication.k8s.io',
  'authorization.k8s.io',
  'autoscaling',
  'batch',
  'certificates.k8s.io',
  'coordination.k8s.io',
  'discovery.k8s.io',
  'events.k8s.io',
  'flowcontrol.apiserver.k8s.io',
  'networking.k8s.io',
  'node.k8s.io',
  'policy',
  'rbac.authorization.k8s.io',
  'resource.k8s.io',
  'scheduling.k8s.io',
  'storage.k8s.io',
];

test('every group of the checklist is in the table, with a stable version', () => {
  const stable = builtinGroups().filter(({ versions }) => versions.some(({ name }) => /^v\d+$/.test(name)));
  assert.deepEqual(
    stable
      .map(({ name }) => name)
      .filter((name) => expectedGroups.includes(name))
      .sort(),
    [...expectedGroups].sort(),
  );
});

test('every resource and subresource has a schema', () => {
  for (const { versions } of builtinGroups()) {
    for (const { resources } of versions) {
      for (const resource of resources) {
        assert.ok(schemaOfKind(resource), `${resource.group}/${resource.version} ${resource.kind}`);
        for (const one of resource.subresources) assert.ok(schemaOfKind(one), `${resource.name}/${one.name}`);
      }
    }
  }
});

test('every reference of every type leads to a type', () => {
  let fields = 0;
  const follow = (type: ValueType): void => {
    if (type.element) follow(type.element);
    if (type.kind === 'struct') assert.ok(type.struct.id);
  };
  for (const id of Object.keys(table.packages)) {
    for (const struct of structIds(id).map(structType)) {
      for (const field of struct.fields) follow(field.type);
      fields += struct.properties.size;
    }
  }
  assert.ok(fields > 3000, `only ${fields} fields`);
});

test('a resource has its names, its place in the storage and its columns', () => {
  const services = builtinResource({ group: '', version: 'v1', resource: 'services' })!;
  assert.equal(services.kind, 'Service');
  assert.deepEqual(services.shortNames, ['svc']);
  assert.deepEqual(services.categories, ['all']);
  assert.deepEqual(services.storage, { apiVersion: 'v1', prefix: 'services/specs' });
  assert.deepEqual(services.columns.at(-1), { name: 'Selector', type: 'string', format: '', priority: 1 });
  assert.equal(builtinResource({ group: '', version: 'v1', resource: 'nodes' })!.storage!.prefix, 'minions');
  assert.equal(builtinResource({ group: '', version: 'v1', resource: 'constructor' }), undefined);
});

test('a subresource may be of another group', () => {
  const { subresources } = builtinResource({ group: 'apps', version: 'v1', resource: 'deployments' })!;
  const scale = subresources.find(({ name }) => name === 'scale')!;
  assert.deepEqual([scale.group, scale.version, scale.kind], ['autoscaling', 'v1', 'Scale']);
});

test('fields say how they are merged, required, limited and inlined', () => {
  const container = schemaOf('v1', 'Pod')!.properties.get('spec')!.type.struct.properties.get('containers')!;
  assert.equal(container.isRequired, true);
  assert.deepEqual([container.listType, container.mapKeys], ['map', ['name']]);
  assert.deepEqual([container.patchStrategies, container.mergeKey], [['merge'], 'name']);
  const port = container.type.element!.struct.properties.get('ports')!.type.element!.struct;
  assert.deepEqual(port.properties.get('protocol')!.type.enumValues, ['SCTP', 'TCP', 'UDP']);
  assert.equal(port.properties.get('protocol')!.default, 'TCP');
  const volume = structType('core/v1.Volume');
  assert.ok(volume.properties.has('emptyDir'), 'inlined fields are properties');
  assert.equal(structType('meta/v1.LabelSelector').isAtomic, true);
});

test('kinds that every group-version has are found there, strangers nowhere', () => {
  assert.equal(schemaOf('apps/v1', 'DeleteOptions')?.id, 'meta/v1.DeleteOptions');
  assert.equal(schemaOf('v1', 'Status')?.id, 'meta/v1.Status');
  assert.equal(schemaOf('v1', 'List')?.id, 'meta/v1.List');
  assert.equal(schemaOf('apps/v1', 'Status'), undefined);
  assert.equal(schemaOf('example.org/v1', 'DeleteOptions'), undefined);
  for (const kind of ['__proto__', 'constructor', 'toString', 'PodSpec', '']) {
    assert.equal(schemaOf('v1', kind), undefined, kind);
  }
  assert.ok([...builtinKinds()].length > 200);
});

test('the table contains no prose', () => {
  for (const { types } of Object.values(table.packages)) {
    for (const notation of Object.values(types)) assert.doesNotMatch(notation, /[a-z]+ [a-z]+ [a-z]+ [a-z]+ [a-z]+/);
  }
});

test('loading the package is quick', async () => {
  // A separate process, so that nothing is loaded yet; processor time, because the machine may be busy.
  const script = `const before = process.cpuUsage(); await import(${JSON.stringify(new URL('schemas.ts', import.meta.url).href)}); const { user, system } = process.cpuUsage(before); console.log((user + system) / 1000)`;
  const times: number[] = [];
  for (let i = 0; i < 5; i++) {
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
    times.push(Number(stdout));
  }
  assert.ok(Math.min(...times) < 300, `took ${Math.min(...times)} ms`);
});
