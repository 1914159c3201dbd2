import assert from 'node:assert/strict';
import { test } from 'node:test';
import { table } from '../../../packages/api/src/builtin/table.ts';
import type { Table } from '../../../packages/api/src/builtin/table.ts';
import { kindsProblems } from './files.ts';
import { generateKinds } from './kinds.ts';

const kinds = generateKinds(table);

const declared = (file: string, name: string): string | undefined =>
  kinds
    .get(file)
    ?.trimEnd()
    .split('\n\n')
    .find((block) => new RegExp(`^export (interface|type) ${name}\\b`).test(block));

test('what is committed is what the table gives', async () => {
  assert.deepEqual(await kindsProblems(table), []);
});

test('a change of the table is noticed', async () => {
  const changed = structuredClone(table) as unknown as { packages: Record<string, { types: Record<string, string> }> };
  changed.packages['coordination/v1']!.types['LeaseSpec'] = ';holderIdentity 1 *string ?';
  const problems = await kindsProblems(changed as unknown as Table);
  assert.deepEqual(problems, ['kinds/coordination-v1.ts is not what npm run generate writes: run it']);
});

test('every resource of every group-version has a value, once, with its own names', () => {
  for (const { name: group, versions } of table.groups) {
    for (const { name: version, package: home, resources } of versions) {
      const text = kinds.get(`${home.replace('/', '-')}.ts`) ?? '';
      for (const { kind, name, namespaced = false } of resources) {
        const apiVersion = group === '' ? version : `${group}/${version}`;
        const values = text.replaceAll(/\s+/g, ' ').match(new RegExp(`export const ${kind}: .*?\\)`, 'g')) ?? [];
        assert.equal(values.length, 1, `${apiVersion} ${kind}`);
        const names = `apiVersion: '${apiVersion}', kind: '${kind}', plural: '${name}', isNamespaced: ${namespaced}`;
        assert.ok(values[0]!.includes(names), values[0]);
      }
    }
  }
});

test('no file is too long to be read', () => {
  for (const [file, text] of kinds) assert.ok(text.split('\n').length <= 600, file);
});

test('required fields are required, closed strings are unions, maps and lists are what JSON has', () => {
  assert.equal(
    declared('core/containers.ts', 'ContainerPort'),
    'export interface ContainerPort {\n  name?: string;\n  hostPort?: number;\n  containerPort: number;\n  protocol?: Protocol;\n  hostIP?: string;\n}',
  );
  assert.equal(declared('core/services.ts', 'Protocol'), "export type Protocol = 'SCTP' | 'TCP' | 'UDP';");
  assert.equal(declared('core/containers.ts', 'ResourceList'), 'export type ResourceList = Record<string, Quantity>;');
});

test('inlined structs are inherited', () => {
  assert.match(declared('core/volumes.ts', 'Volume')!, /^export interface Volume extends VolumeSource \{\n {2}name: /);
});

test('a time that Go writes as null may be null; one that it leaves out may not', () => {
  assert.match(declared('core/pods.ts', 'PodCondition')!, /lastProbeTime\?: Time \| null;/);
  assert.match(declared('core/pods.ts', 'PodStatus')!, /startTime\?: Time;/);
});

test('JSON of several shapes is a union', () => {
  assert.equal(
    declared('apiextensions-v1.ts', 'JSONSchemaPropsOrBool'),
    'export type JSONSchemaPropsOrBool = boolean | JSONSchemaProps;',
  );
});
