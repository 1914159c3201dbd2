import assert from 'node:assert/strict';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { ConfigMap } from '@hangar/client/kinds/core-v1';
import { CustomResourceDefinition } from '@hangar/client/kinds/apiextensions-v1';
import { defineKind } from '@hangar/client';
import type { ApiObject } from '@hangar/client';
import { startFleetSearch } from '../testing/fleet-search.ts';

const map = (name: string, text: string) => ({ metadata: { namespace: 'default', name }, data: { text } });

describe('the index', () => {
  test('continues from its revision after a restart, and finds what changed meanwhile', async () => {
    await using search = await startFleetSearch(['red']);
    const red = search.fleet.clientOf('red');
    await red.create(ConfigMap, map('kept', 'kiwi'));
    await red.create(ConfigMap, map('deleted', 'kiwi'));
    await search.index.current.synced;
    await search.until('kiwi', (found) => found.length === 2);
    const { id } = search.index.current;
    await search.restart();
    assert.equal(search.index.current.id, id);
    assert.equal(search.index.current.isSynced, true, 'the generation was complete');
    await red.delete(ConfigMap, { namespace: 'default', name: 'deleted' });
    await red.create(ConfigMap, map('new', 'lime'));
    await search.until('lime', (found) => found.length === 1);
    assert.deepEqual(await search.found('kiwi'), ['red/default/kept']);
  });

  test('lists again when its revision is too old', async () => {
    await using search = await startFleetSearch(['red']);
    const red = search.fleet.clientOf('red');
    await red.create(ConfigMap, map('deleted', 'kiwi'));
    await search.index.current.synced;
    await search.until('kiwi', (found) => found.length === 1);
    await search.index.close();
    await red.delete(ConfigMap, { namespace: 'default', name: 'deleted' });
    await red.create(ConfigMap, map('new', 'lime'));
    const { store } = search.fleet;
    await store.compact(await store.revision());
    await search.restart();
    await search.until('lime', (found) => found.length === 1);
    await search.until('kiwi', (found) => found.length === 0);
  });

  test('is rebuilt while it answers, when its directory is deleted', async () => {
    await using search = await startFleetSearch(['red']);
    const red = search.fleet.clientOf('red');
    await red.create(ConfigMap, map('first', 'kiwi'));
    await search.index.current.synced;
    await search.until('kiwi', (found) => found.length === 1);
    const old = search.index.current.id;
    await rm(search.directory, { recursive: true });
    let answers = 0;
    while (search.index.current.id === old) {
      const { results, incomplete } = await search.search('kiwi');
      assert.deepEqual([results.length, incomplete], [1, undefined]);
      answers++;
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.ok(answers > 0);
    assert.deepEqual(await search.found('kiwi'), ['red/default/first']);
    await red.create(ConfigMap, map('second', 'kiwi'));
    await search.until('kiwi', (found) => found.length === 2);
    while (search.index.isRebuilding) await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(await readdir(search.directory), [`generation-${search.index.current.id}`]);
  });

  test('is rebuilt when its file is not a database', async () => {
    await using search = await startFleetSearch(['red']);
    await search.fleet.clientOf('red').create(ConfigMap, map('first', 'kiwi'));
    await search.index.current.synced;
    await search.index.close();
    for (const name of ['index.db', 'index.db-wal']) {
      await writeFile(join(search.directory, `generation-${search.index.current.id}`, name), 'garbage'.repeat(1_000));
    }
    await search.restart();
    await search.until('kiwi', (found) => found.length === 1);
  });

  test('follows custom resources as their definitions appear and disappear', async () => {
    interface Widget extends ApiObject {
      spec: { color: string };
    }
    const Widget = defineKind<Widget>({
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      plural: 'widgets',
      isNamespaced: true,
    });
    await using search = await startFleetSearch(['red', 'blue']);
    await search.index.current.synced;
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
    for (const cluster of ['red', 'blue']) {
      const client = search.fleet.clientOf(cluster);
      await client.create(CustomResourceDefinition, {
        metadata: { name: 'widgets.example.com' },
        spec: {
          group: 'example.com',
          scope: 'Namespaced',
          names: { kind: 'Widget', plural: 'widgets' },
          versions: [{ name: 'v1', served: true, storage: true, schema }],
        },
      });
      await client.create(Widget, { metadata: { namespace: 'default', name: 'one' }, spec: { color: 'turquoise' } });
    }
    await search.until('turquoise kind:Widget', (found) => found.length === 2);
    await search.fleet.clientOf('red').delete(Widget, { namespace: 'default', name: 'one' });
    await search.until('turquoise', (found) => found.length === 1);
    for (const cluster of ['red', 'blue']) {
      await search.fleet.clientOf(cluster).delete(Widget, { namespace: 'default', name: 'one' });
      await search.fleet.clientOf(cluster).delete(CustomResourceDefinition, { name: 'widgets.example.com' });
    }
    await search.until('turquoise', (found) => found.length === 0);
  });
});
