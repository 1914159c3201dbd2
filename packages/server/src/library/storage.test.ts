import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { hasCode, systemClock, systemRandom } from '@hangar/core';
import { openMemoryStore, prefixRange } from '@hangar/store';
import type { Revision } from '@hangar/store';
import { clusterAccess, kubeconfigAccess } from '../outbound/cluster-access.ts';
import { Feed } from './feed.ts';
import { declareKind } from './kind.ts';
import { libraryPlane } from './plane.ts';
import { list, map, object, oneOf, optional, string } from './schema.ts';
import type { TypeOf } from './schema.ts';
import { verbsOf } from './storage.ts';
import type { KindStorage } from './storage.ts';
import { NoteMap } from './testing/notes.ts';

const thing = (name: string, version: number) => ({
  kind: 'Thing',
  apiVersion: 'a.example/v1',
  metadata: { name, namespace: 'default', uid: name, resourceVersion: String(version) },
});

test('a feed tells every change after a version, and says so when it no longer can', async () => {
  const feed = new Feed<ReturnType<typeof thing>>(10, 3);
  const stop = new AbortController();
  const watch = feed.watch(10, stop.signal);
  const first = watch.next();
  for (const version of [11, 12]) feed.push({ type: 'created', version, object: thing('a', version) });
  assert.deepEqual([(await first).value!.version, (await watch.next()).value!.version], [11, 12]);
  await assert.rejects(feed.watch(9, stop.signal).next(), (error) => hasCode(error, 'Compacted'));
  const slow = feed.watch(11, stop.signal);
  for (let version = 13; version <= 20; version++) feed.push({ type: 'created', version, object: thing('a', version) });
  await assert.rejects(slow.next(), (error) => hasCode(error, 'Compacted'));
  const present = feed.watch(20, stop.signal).next();
  stop.abort();
  assert.equal((await present).done, true);
});

async function storeOf(storage: KindStorage) {
  const kind = declareKind({
    group: 'a.example',
    version: 'v1',
    kind: 'Thing',
    plural: 'things',
    schema: object({}),
    storage,
  });
  const store = await openMemoryStore({ clock: systemClock });
  const plane = libraryPlane({ kinds: [kind], store, prefix: '/x', clock: systemClock, random: systemRandom });
  const resource = plane.catalogue.find({ group: 'a.example', version: 'v1', resource: 'things' })!;
  return resource.plane!.store;
}

test('a list goes on from the snapshot that it began with, while that is remembered', async () => {
  let version = 5;
  let items = ['c', 'a', 'b'].map((name) => thing(name, 5));
  const asked: string[] = [];
  const store = await storeOf({
    list: (namespace) => {
      asked.push(namespace);
      return { items, version };
    },
  });
  const range = prefixRange('/x/a.example/things/default/');
  const page = await store.range(range, { limit: 2 });
  assert.deepEqual([page.entries.map(({ key }) => key.at(-1)), page.more, page.revision], [['a', 'b'], true, 5]);
  [items, version] = [[], 6];
  const rest = { ...range, start: `${page.entries[1]!.key}\0` };
  const next = await store.range(rest, { atRevision: 5 as Revision });
  assert.deepEqual([next.entries.map(({ key }) => key.at(-1)), next.more], [['c'], false]);
  await assert.rejects(store.range(range, { atRevision: 4 as Revision }), (error) => hasCode(error, 'Compacted'));
  assert.deepEqual(new Set(asked), new Set(['default']));
  await store.range(prefixRange('/x/a.example/things/'), {});
  assert.equal(asked.at(-1), '');
});

test('verbs follow from what a storage has', () => {
  assert.deepEqual(verbsOf({}), []);
  assert.deepEqual(verbsOf({ create: () => 1 }), ['create']);
  assert.deepEqual(verbsOf({ get: () => undefined, update: () => 1 }), ['get', 'patch', 'update']);
  assert.deepEqual(verbsOf({ delete: () => 1 }), []);
  assert.equal(verbsOf(new NoteMap() as unknown as KindStorage).length, 8);
});

test('schemas are structural, and their types are those of TypeScript', () => {
  const fields = object({
    spec: object({ size: oneOf('small', 'large'), tags: optional(list(string({ maxLength: 5 }))) }),
    data: optional(map(string())),
  });
  const value: TypeOf<typeof fields> = { spec: { size: 'small', tags: ['a'] } };
  // @ts-expect-error -- it is none of these
  const wrong: TypeOf<typeof fields> = { spec: { size: 'huge' } };
  assert.ok(value && wrong);
  assert.deepEqual(fields.openApi, {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: {
          size: { type: 'string', enum: ['small', 'large'] },
          tags: { type: 'array', items: { type: 'string', maxLength: 5 } },
        },
        required: ['size'],
      },
      data: { type: 'object', additionalProperties: { type: 'string' } },
    },
    required: ['spec'],
  });
});

test('a kubeconfig says where the cluster is and who we are there', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hangar-library-'));
  try {
    const write = async (user: string, current = 'one'): Promise<string> => {
      const text = [
        `current-context: ${current}`,
        'contexts: [{name: one, context: {cluster: here, user: me}}]',
        'clusters: [{name: here, cluster: {server: "https://a.example:6443/", certificate-authority: ca.crt}}]',
        `users: [{name: me, user: ${user}}]`,
      ].join('\n');
      await writeFile(join(folder, 'config'), text);
      return join(folder, 'config');
    };
    await writeFile(join(folder, 'ca.crt'), 'the CA');
    await writeFile(join(folder, 'token'), 'secret\n');
    const access = await kubeconfigAccess(await write('{tokenFile: token}'));
    assert.deepEqual([access.server, access.ca, await access.token!()], ['https://a.example:6443', 'the CA', 'secret']);
    const pair = await kubeconfigAccess(await write('{client-certificate-data: YQ==, client-key-data: Yg==}'));
    assert.deepEqual(pair.clientCertificate, { certificate: 'a', key: 'b' });
    await assert.rejects(
      kubeconfigAccess(await write('{exec: {command: rm}}')),
      /exec and auth-provider credentials are not supported/,
    );
    await assert.rejects(kubeconfigAccess(await write('{}', 'two')), /context "two" is missing/);
    await assert.rejects(clusterAccess(undefined, {}), /not in a cluster/);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
