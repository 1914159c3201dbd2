import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '@hangar/api/json';
import { ConfigMap } from '@hangar/client/kinds/core-v1';
import { SharedStrings } from './strings.ts';

const configMap = (name: string, fieldsV1: JsonObject): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, managedFields: [{ manager: 'a-manager-of-objects', operation: 'Update', fieldsV1 }] },
});
const treeOf = ({ metadata }: ConfigMap): JsonObject => metadata.managedFields![0]!.fieldsV1!;

test('objects that one manager made alike have one tree of owned fields, others their own', () => {
  const shared = new SharedStrings();
  const [one, other, third] = [
    configMap('a', { 'f:data': { 'f:x': {} } }),
    configMap('b', { 'f:data': { 'f:x': {} } }),
    configMap('c', { 'f:data': { 'f:y': {} } }),
  ];
  for (const object of [one, other, third]) shared.share(ConfigMap, object);
  assert.equal(treeOf(one), treeOf(other));
  assert.deepEqual(treeOf(third), { 'f:data': { 'f:y': {} } });
  assert.notEqual(treeOf(one), treeOf(third));
});

test('a tree that is nested too deep for a recursion stays what it is', () => {
  let deep: JsonObject = {};
  for (let depth = 0; depth < 50_000; depth++) deep = { f: deep };
  const object = configMap('a', deep);
  new SharedStrings().share(ConfigMap, object);
  assert.equal(treeOf(object), deep);
});
