/** testing: finalizers and create-or-update, on any server. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { defineKind } from '@hangar/client';
import type { ApiObject, Client } from '@hangar/client';
import { createOrPatch, createOrUpdate } from '../create-or-update.ts';
import {
  addFinalizer,
  dropFinalizer,
  ensureFinalizer,
  finalize,
  hasFinalizer,
  removeFinalizer,
} from '../finalizers.ts';

interface ConfigMap extends ApiObject {
  data?: Record<string, string>;
}
interface Namespace extends ApiObject {
  status?: { phase?: string; conditions?: object[] };
}
const ConfigMap = defineKind<ConfigMap>({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  isNamespaced: true,
});
const Namespace = defineKind<Namespace>({
  apiVersion: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
  isNamespaced: false,
});

const mine = 'example.org/mine';
const theirs = 'example.org/theirs';

export interface Place {
  readonly client: Client;
  stop(): Promise<void>;
}

export function writesSuite(name: string, start: () => Promise<Place>): void {
  describe(name, () => writes(start));
}

function writes(start: () => Promise<Place>): void {
  let place: Place | undefined;
  let client: Client;
  before(async () => {
    place = await start();
    ({ client } = place);
  });
  after(() => place?.stop());

  let made = 0;
  const newKey = () => ({ namespace: 'default', name: `thing-${++made}` });
  const newMap = () => client.create(ConfigMap, { metadata: newKey() });

  test('a finalizer is added once, and an object that has it is not written', async () => {
    const map = await newMap();
    const once = await ensureFinalizer(client, ConfigMap, map, mine);
    assert.deepEqual(once.metadata.finalizers, [mine]);
    assert.equal(await ensureFinalizer(client, ConfigMap, once, mine), once);
  });

  test('two controllers that add at once: neither takes away what the other put', async () => {
    const map = await newMap();
    await ensureFinalizer(client, ConfigMap, map, theirs);
    await assert.rejects(ensureFinalizer(client, ConfigMap, map, mine), { code: 'Conflict' });
    const fresh = await ensureFinalizer(client, ConfigMap, await client.get(ConfigMap, map.metadata as never), mine);
    assert.deepEqual(fresh.metadata.finalizers, [theirs, mine]);
  });

  test('an object that was made anew under the name is not finalized by what was known of the old one', async () => {
    const map = await newMap();
    const key = { namespace: 'default', name: map.metadata.name! };
    await client.delete(ConfigMap, key);
    await client.create(ConfigMap, { metadata: key });
    await assert.rejects(ensureFinalizer(client, ConfigMap, map, mine), { code: 'Conflict' });
  });

  test('finalize: live objects get the finalizer, deleted ones are cleaned up and let go', async () => {
    const map = await newMap();
    const key = { namespace: 'default', name: map.metadata.name! };
    let cleaned = 0;
    const options = { finalizer: mine, cleanUp: () => void cleaned++ };
    const { live } = await finalize(client, ConfigMap, map, options);
    assert.equal(hasFinalizer(live!, mine), true);
    assert.equal(cleaned, 0);
    await client.delete(ConfigMap, key);
    const deleted = await client.get(ConfigMap, key);
    assert.deepEqual(await finalize(client, ConfigMap, deleted, options), { result: undefined });
    assert.equal(cleaned, 1);
    await assert.rejects(client.get(ConfigMap, key), { code: 'NotFound' });
    // From an outdated cache: the object is already deleted, as desired.
    await dropFinalizer(client, ConfigMap, deleted, mine);
  });

  test('finalize: a clean-up that failed or is not finished keeps the object', async () => {
    const map = await ensureFinalizer(client, ConfigMap, await newMap(), mine);
    const key = { namespace: 'default', name: map.metadata.name! };
    await client.delete(ConfigMap, key);
    const deleted = await client.get(ConfigMap, key);
    const failing = { finalizer: mine, cleanUp: () => Promise.reject(new Error('not now')) };
    await assert.rejects(finalize(client, ConfigMap, deleted, failing), /not now/);
    const unfinished = { finalizer: mine, cleanUp: () => ({ requeueAfterMs: 1_000 }) };
    assert.deepEqual(await finalize(client, ConfigMap, deleted, unfinished), { result: { requeueAfterMs: 1_000 } });
    assert.equal(hasFinalizer(await client.get(ConfigMap, key), mine), true);
    await dropFinalizer(client, ConfigMap, deleted, mine);
  });

  test('finalize: somebody else may still be at work on what is deleted; it is not our turn again', async () => {
    const map = await newMap();
    const key = { namespace: 'default', name: map.metadata.name! };
    const other = await ensureFinalizer(client, ConfigMap, map, theirs);
    await client.delete(ConfigMap, key);
    const deleted = await client.get(ConfigMap, key);
    const never = { finalizer: mine, cleanUp: () => assert.fail('nothing of ours is there') };
    assert.deepEqual(await finalize(client, ConfigMap, deleted, never), { result: undefined });
    assert.equal(await ensureFinalizer(client, ConfigMap, deleted, mine), deleted);
    await dropFinalizer(client, ConfigMap, { ...other, metadata: deleted.metadata }, theirs);
  });

  test('drafts are changed in place', () => {
    const draft = { metadata: { name: 'x' } as ApiObject['metadata'] };
    assert.equal(addFinalizer(draft, mine), true);
    assert.equal(addFinalizer(draft, mine), false);
    assert.equal(removeFinalizer(draft, mine), true);
    assert.equal(removeFinalizer(draft, mine), false);
    assert.deepEqual(draft.metadata, { name: 'x' });
  });

  test('createOrUpdate: created, then unchanged, then updated', async () => {
    const key = newKey();
    const want = (value: string) => (map: ConfigMap) => void (map.data = { ...map.data, value });
    const first = await createOrUpdate(client, ConfigMap, key, want('1'));
    assert.equal(first.operation, 'created');
    const again = await createOrUpdate(client, ConfigMap, key, want('1'));
    assert.equal(again.operation, 'unchanged');
    assert.equal(again.object.metadata.resourceVersion, first.object.metadata.resourceVersion);
    const changed = await createOrUpdate(client, ConfigMap, key, want('2'));
    assert.equal(changed.operation, 'updated');
    assert.deepEqual(changed.object.data, { value: '2' });
  });

  test('createOrUpdate: who was overtaken gets a conflict; who renames is refused', async () => {
    const key = newKey();
    await client.create(ConfigMap, { metadata: key });
    const overtaken = createOrUpdate(client, ConfigMap, key, async (map) => {
      await client.patch(ConfigMap, key, { type: 'merge', body: { data: { other: 'wins' } } });
      map.data = { mine: 'loses' };
    });
    await assert.rejects(overtaken, { code: 'Conflict' });
    const renamed = createOrUpdate(client, ConfigMap, key, (map) => void (map.metadata.name = 'else'));
    await assert.rejects(renamed, { code: 'InvalidOptions' });
  });

  test('createOrPatch: leaves what others wrote meanwhile', async () => {
    const key = newKey();
    await createOrPatch(client, ConfigMap, key, (map) => void (map.data = { a: '1', b: '1' }));
    const { object, operation } = await createOrPatch(client, ConfigMap, key, async (map) => {
      await client.patch(ConfigMap, key, { type: 'merge', body: { data: { other: 'stays' } } });
      map.data!['a'] = '2';
      delete map.data!['b'];
    });
    assert.equal(operation, 'updated');
    assert.deepEqual(object.data, { a: '2', other: 'stays' });
    const same = await createOrPatch(client, ConfigMap, key, () => {});
    assert.equal(same.operation, 'unchanged');
  });

  test('createOrPatch: the status is written apart, also of what was just created', async () => {
    const name = `space-${++made}`;
    const condition = {
      type: 'Checked',
      status: 'True',
      reason: 'Seen',
      message: '',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    };
    const first = await createOrPatch(client, Namespace, { name }, (space) => {
      space.status = { ...space.status, phase: 'Active', conditions: [condition] };
    });
    assert.equal(first.operation, 'created');
    assert.equal((await client.get(Namespace, { name })).status?.conditions?.length, 1);
    const second = await createOrPatch(client, Namespace, { name }, (space) => {
      space.metadata.labels = { ...space.metadata.labels, seen: 'yes' };
      space.status = { ...space.status, conditions: [] };
    });
    assert.equal(second.operation, 'updated');
    const there = await client.get(Namespace, { name });
    assert.equal(there.metadata.labels?.['seen'], 'yes');
    assert.equal(there.status?.conditions?.length ?? 0, 0);
  });

  test('createOrPatch: an object that was made anew meanwhile is not patched', async () => {
    const key = newKey();
    await client.create(ConfigMap, { metadata: key });
    const replaced = createOrPatch(client, ConfigMap, key, async (map) => {
      await client.delete(ConfigMap, key);
      await client.create(ConfigMap, { metadata: key });
      map.data = { old: 'news' };
    });
    await assert.rejects(replaced, { code: 'Invalid' });
  });
}
