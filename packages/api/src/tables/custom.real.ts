/** The columns of custom resources against a real kube-apiserver: its result for each path. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startRealServer } from '../testing/real-server.ts';
import type { RealServer } from '../testing/real-server.ts';
import { cases, resource, unreadable } from './column-cases.ts';
import { customTable, tableOfOne } from './index.ts';
import type { CustomColumn, Table } from './index.ts';
import type { KubeObject } from '../object.ts';

const shown: CustomColumn[] = [
  ...cases.map(([type, jsonPath], i) => ({ name: `C${i}`, type, jsonPath })),
  { name: 'Past', type: 'date', jsonPath: '.spec.past', description: 'long ago', priority: 1 },
  { name: 'Offset', type: 'date', jsonPath: '.spec.offset', format: 'date-time' },
];

/** One version for each set of columns. */
const versions = [
  { name: 'v1', columns: shown },
  { name: 'v2', columns: [] },
  ...unreadable
    .filter(([jsonPath]) => jsonPath.startsWith('.'))
    .map(([jsonPath], i) => ({
      name: `v3alpha${i + 1}`,
      columns: [
        { name: 'Fine', type: 'string', jsonPath: '.spec.text' },
        { name: 'Broken', type: 'string', jsonPath },
        { name: 'Behind', type: 'string', jsonPath: '.spec.text' },
      ],
    })),
];

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'things.example.com' },
  spec: {
    group: 'example.com',
    names: { kind: 'Thing', plural: 'things' },
    scope: 'Cluster',
    versions: versions.map(({ name, columns }) => ({
      name,
      served: true,
      storage: name === 'v1',
      schema: {
        openAPIV3Schema: {
          type: 'object',
          properties: { spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      },
      additionalPrinterColumns: columns,
    })),
  },
};

async function create(server: RealServer): Promise<void> {
  const { status, body } = await server.request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    body: JSON.stringify(definition),
  });
  assert.equal(status, 201, body.toString());
  const deadlineMs = Date.now() + 20_000;
  for (;;) {
    const answer = await server.request('POST', '/apis/example.com/v1/things', { body: JSON.stringify(resource) });
    if (answer.status === 201) return;
    assert.ok(Date.now() < deadlineMs, answer.body.toString());
    await sleep(100);
  }
}

test('every column shows in Kubernetes what it shows here', async () => {
  await using server = await startRealServer();
  await create(server);
  for (const { name, columns } of versions) {
    const path = `/apis/example.com/${name}/things/thing?includeObject=None`;
    const read = async <T>(accept: string): Promise<T> =>
      JSON.parse((await server.request('GET', path, { accept })).body.toString()) as T;
    const object = await read<KubeObject>('application/json');
    const real = await read<Table>('application/json;as=Table;v=v1;g=meta.k8s.io');
    const ours = tableOfOne(customTable(columns), object, { includeObject: 'None' });
    assert.deepEqual(withPaths(real, columns), withPaths(ours, columns), JSON.stringify(columns[1]));
    // Except for descriptions that every kind has, the bytes are the same too.
    if (name === 'v1') assert.equal(JSON.stringify(withoutName(real)), JSON.stringify(withoutName(ours)));
  }
});

/** Cells with the paths that they come from: differences name what differs. */
const withPaths = ({ rows, columnDefinitions }: Table, columns: readonly CustomColumn[]): unknown => ({
  columns: columnDefinitions?.map(({ name, type, format, priority }) => ({ name, type, format, priority })),
  cells: rows?.[0]?.cells.map((cell, i) => [columns[i - 1]?.jsonPath, cell]),
});

const withoutName = ({ columnDefinitions, ...table }: Table): unknown => ({
  ...table,
  columnDefinitions: columnDefinitions?.slice(1),
});
