import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../object.ts';
import { encodeTable, partialObjectMetadata, tableOf, tableOfOne } from './index.ts';
import type { TablePrinter } from './index.ts';

const column = { name: 'Name', type: 'string', format: 'name', description: '', priority: 0 };
const printer: TablePrinter = { columns: [column], cells: ({ metadata }) => [metadata.name] };
const thing = (name: string): KubeObject => ({
  kind: 'Thing',
  apiVersion: 'example.com/v1',
  metadata: { name, resourceVersion: '7', labels: { a: 'b' } },
  spec: { large: true },
});

test('a table of one has the version of its object and carries its metadata', () => {
  const object = thing('a');
  assert.deepEqual(tableOfOne(printer, object), {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata: { resourceVersion: '7' },
    columnDefinitions: [column],
    rows: [
      {
        cells: ['a'],
        object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: object.metadata },
      },
    ],
  });
});

test('a table of a list has the metadata of the list', () => {
  const listMeta = { resourceVersion: '9', continue: 'more', remainingItemCount: 3 };
  const table = tableOf(printer, [thing('b'), thing('a')], { listMeta });
  assert.deepEqual(table.metadata, listMeta);
  assert.deepEqual(
    table.rows?.map(({ cells }) => cells),
    [['b'], ['a']],
  );
});

test('rows carry as much of their objects as is asked for', () => {
  const object = thing('a');
  const carried = (options: object): unknown => tableOfOne(printer, object, options).rows?.[0]?.object;
  assert.equal(carried({ includeObject: 'None' }), null);
  assert.equal(carried({ includeObject: 'Object' }), object);
  assert.deepEqual(carried({ includeObject: 'Metadata' }), partialObjectMetadata(object));
  assert.deepEqual(
    carried({ apiVersion: 'meta.k8s.io/v1beta1' }),
    partialObjectMetadata(object, 'meta.k8s.io/v1beta1'),
  );
});

test('the bookmark that ends the initial events is never without its annotation', () => {
  const bookmark: KubeObject = {
    ...thing('a'),
    metadata: { resourceVersion: '8', annotations: { 'k8s.io/initial-events-end': 'true' } },
  };
  const [row] = tableOfOne(printer, bookmark, { includeObject: 'None' }).rows!;
  assert.deepEqual(row?.object, partialObjectMetadata(bookmark));
});

test('later events of a watch have no columns, unless the kind repeats them', () => {
  const options = { withColumns: false };
  assert.equal(tableOfOne(printer, thing('a'), options).columnDefinitions, null);
  assert.deepEqual(tableOfOne({ ...printer, repeatsColumns: true }, thing('a'), options).columnDefinitions, [column]);
});

test('a table without rows is a table', () => {
  assert.deepEqual(tableOf(printer, []).rows, []);
  assert.equal(tableOf({ ...printer, writesNoRowsAsNull: true }, []).rows, null);
});

test('a printer may order and mark its rows', () => {
  const marked: TablePrinter = {
    ...printer,
    compare: (a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1),
    conditions: ({ metadata }) => (metadata.name === 'a' ? [{ type: 'Completed', status: 'True' }] : undefined),
  };
  const objects = [thing('b'), thing('a')];
  assert.deepEqual(tableOf(marked, objects, { includeObject: 'None' }).rows, [
    { cells: ['a'], conditions: [{ type: 'Completed', status: 'True' }], object: null },
    { cells: ['b'], object: null },
  ]);
  assert.equal(objects[0]?.metadata.name, 'b', 'the list is left as it was');
});

test('a table around encoded objects is the table as JSON', () => {
  const objects = [thing('b'), thing('a')];
  const items = objects.map((object) => ({ object, json: Buffer.from(JSON.stringify(object)) }));
  for (const includeObject of ['None', 'Metadata', 'Object'] as const) {
    for (const count of [0, 1, 2]) {
      const options = { includeObject, now: 0, listMeta: { resourceVersion: '9' } };
      const expected = JSON.stringify(tableOf(printer, objects.slice(0, count), options));
      assert.equal(encodeTable(printer, items.slice(0, count), options).toString(), expected);
    }
  }
});
