/** Files that a restore must refuse: damaged, foreign or malicious. */

import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { describe, test } from 'node:test';
import { seededRandom } from '@hangar/core';
import { exportRange, openMemoryStore, prefixRange, readTransfer } from '@hangar/store';
import type { Store } from '@hangar/store';
import * as fc from 'fast-check';
import { planePath, TenancyServer } from '../../testing/tenancy-server.ts';
import { configMap, configMaps } from '../../testing/test-server.ts';
import { encodeAbout } from './about.ts';
import type { BackupAbout } from './about.ts';
import { backup, restore } from './testing.ts';

const about: BackupAbout = {
  path: 'demo',
  identity: { seed: '0c2c4a4e-6a3b-4b55-9d59-6f1f8d9e8a11', createdAt: '2026-01-02T03:04:05Z' },
  revision: 7,
  version: 'v1',
  hasKeys: false,
};

const object = (name: string): string =>
  JSON.stringify({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name, namespace: 'default', uid: name } });

type Entries = readonly (readonly [key: string, value: string | Uint8Array])[];

/** Returns a file with a valid checksum and arbitrary contents; keys are in the order of the store. */
async function fileOf(entries: Entries, head: Uint8Array | undefined = encodeAbout(about)): Promise<Buffer> {
  const store = await openMemoryStore();
  try {
    for (const [key, value] of entries) {
      await store.commit([{ type: 'put', key: `x${key}`, value: Buffer.from(value as string) }]);
    }
    const options = { prefix: 'x', ...(head ? { about: head } : {}) };
    return Buffer.concat(await Array.fromAsync(exportRange(store, options)));
  } finally {
    await store.close();
  }
}

const stored = async (store: Store): Promise<string[]> => {
  const { entries } = await store.range(prefixRange('/registry/'));
  return entries.map(({ key, modRevision }) => `${key} ${modRevision}`);
};

async function refusal(server: TenancyServer, file: Uint8Array): Promise<string> {
  const before = await stored(server.store);
  const { status, data } = await restore(server, 'copy/restore', file);
  assert.equal(status, 400, JSON.stringify(data));
  assert.deepEqual(await stored(server.store), before, 'nothing is left');
  assert.match(data.message, /^the backup cannot be restored: /);
  return data.message.slice('the backup cannot be restored: '.length);
}

describe('a file is refused, and nothing of it stays, when', () => {
  const good: Entries = [['configmaps/default/a', object('a')]];
  const cases: readonly [what: string, entries: Entries, why: RegExp][] = [
    ['a key leads out of the range', [['../other/configmaps/default/a', object('a')]], /is not the key of an object/],
    ['a key leads out of its place', [['configmaps/../secrets/a', object('a')]], /is not the key of an object/],
    ['a key begins with a slash', [['/configmaps/default/a', object('a')]], /is not the key of an object/],
    ['a key has an empty segment', [['configmaps//a', object('a')]], /is not the key of an object/],
    ['a key ends in a slash', [['configmaps/default/', object('a')]], /is not the key of an object/],
    ['a key has one segment', [['configmaps', object('a')]], /is not the key of an object/],
    ['it brings an identity', [['.hangar/tenant', '{}']], /is not the key of an object/],
    ['it brings what is counted', [['.hangar/usage', '{}']], /is not the key of an object/],
    ['it brings the mark of an import', [['.hangar/importing', '{}']], /is not the key of an object/],
    [
      'it brings keys, and does not say so',
      [['.hangar/keys', 'x']],
      /it contains keys of the tenant, but its header does not declare them/,
    ],
    ['a deletion has a value', [['.hidden/namespaces/default', 'x']], /the deletion of .* is not allowed/],
    ['a deletion leads out of the range', [['.hidden/../a/b', '']], /is not the key of an object/],
    [
      'an object is there and deleted',
      [...good, ['.hidden/configmaps/default/a', '']],
      /both an object and a deletion/,
    ],
    ['a value is no JSON', [['configmaps/default/a', 'k8s:enc:secretbox:v1:x:']], /is not an object/],
    ['a value is no object', [['configmaps/default/a', '"a"']], /is not an object/],
    ['a value has no metadata', [['configmaps/default/a', '{"kind":"ConfigMap"}']], /is not an object/],
    ['a value is empty', [['configmaps/default/a', '']], /is not an object/],
  ];
  for (const [what, entries, why] of cases) {
    test(what, async () => {
      await using server = await TenancyServer.open();
      // Valid entries come first: they must be removed after the fault.
      const many: Entries = Array.from({ length: 250 }, (_, n) => [`aaa/default/${1000 + n}`, object(`${n}`)]);
      assert.match(await refusal(server, await fileOf([...entries, ...many])), why);
    });
  }

  test('its keys are none', async () => {
    await using server = await TenancyServer.open();
    const head = encodeAbout({ ...about, hasKeys: true });
    assert.match(
      await refusal(server, await fileOf([['.hangar/keys', 'x']], head)),
      /the keys of the tenant are invalid/,
    );
  });

  const heads: readonly [what: string, head: Uint8Array | undefined, why: RegExp][] = [
    ['it says nothing of itself', undefined, /it is not a backup of a tenant/],
    ['it says it is something else', Buffer.from('{"kind":"Other"}'), /it is not a backup of a tenant/],
    ['what it says is no JSON', Buffer.from('{'), /it is not a backup of a tenant/],
    ['it is of a later form', withHead({ form: 2 }), /it has format 2/],
    ['its path is none', withHead({ path: '../root' }), /no valid tenant name/],
    ['its seed is none', withHead({ identity: { ...about.identity, seed: 'x' } }), /no valid tenant seed/],
    ['its time is none', withHead({ identity: { ...about.identity, createdAt: 'now' } }), /no valid creation time/],
    ['it has no identity', withHead({ identity: 1 }), /no tenant identity/],
  ];
  for (const [what, head, why] of heads) {
    test(what, async () => {
      await using server = await TenancyServer.open();
      const file = head ? await fileOf(good, head) : await fileOf(good, undefined).then(() => plain(good));
      assert.match(await refusal(server, file), why);
    });
  }

  test('it is empty, or no such file at all', async () => {
    await using server = await TenancyServer.open();
    assert.match(await refusal(server, new Uint8Array()), /it is truncated/);
    assert.match(
      await refusal(server, Buffer.from('PK\x03\x04 something else entirely')),
      /does not start with the signature/,
    );
  });

  test('a key is in it twice', async () => {
    await using server = await TenancyServer.open();
    const file = await fileOf(good);
    const at = file.indexOf('configmaps') - 6;
    const end = file.length - (file.length - file.indexOf(object('a')) - object('a').length);
    const twice = Buffer.concat([file.subarray(0, end), file.subarray(at, end), file.subarray(end)]);
    assert.match(await refusal(server, twice), /is a duplicate or out of order/);
  });

  test('a value claims to be huge', async () => {
    await using server = await TenancyServer.open();
    const file = await fileOf(good);
    const frame = Buffer.alloc(5);
    frame.writeUInt32LE(0xffff_fff0, 0);
    frame[4] = 1;
    const at = file.indexOf('configmaps') - 6;
    assert.match(await refusal(server, Buffer.concat([file.subarray(0, at), frame])), /is too long/);
  });
});

async function entriesOf(file: Uint8Array): Promise<string[]> {
  const { about: head, entries } = await readTransfer(Readable.from([file]));
  const { identity } = JSON.parse(Buffer.from(head!).toString());
  const told = await Array.fromAsync(entries, ({ key, value }) => `${key} ${Buffer.from(value).toString()}`);
  return told.map((one) => `${JSON.stringify(identity)} ${one}`);
}

const plain = async (entries: Entries): Promise<Buffer> => {
  const store = await openMemoryStore();
  for (const [key, value] of entries) {
    await store.commit([{ type: 'put', key: `x${key}`, value: Buffer.from(value as string) }]);
  }
  const file = Buffer.concat(await Array.fromAsync(exportRange(store, { prefix: 'x' })));
  await store.close();
  return file;
};

function withHead(changes: object): Uint8Array {
  return Buffer.from(JSON.stringify({ ...JSON.parse(encodeAbout(about).toString()), ...changes }));
}

test('a file that is cut off, or has a flipped bit, anywhere, is refused and leaves nothing', async () => {
  await using server = await TenancyServer.open();
  const path = await server.make('demo');
  for (const name of ['a', 'b', 'c']) {
    await server.expect(201, 'POST', `${path}${configMaps}`, { body: configMap(name, { k: name }) });
  }
  const file = await backup(server, 'demo', '?includeKeys=true');
  const random = seededRandom(11);
  for (let round = 0; round < 120; round++) {
    const damaged = Buffer.from(file);
    const at = random.below(file.length);
    if (round % 2 === 0) await refusal(server, damaged.subarray(0, at));
    else {
      damaged[at]! ^= 1 << random.below(8);
      await refusal(server, damaged);
    }
  }
  assert.equal((await restore(server, 'copy/restore', file)).status, 201);
});

test('whatever a tenant holds: backup, restore and backup again give the same entries', async () => {
  const name = fc.stringMatching(/^[a-z][a-z0-9]{0,8}$/);
  const data = fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), fc.string({ unit: 'grapheme', maxLength: 200 }), {
    maxKeys: 4,
  });
  const roles = fc.subarray(['system:node', 'system:discovery', 'system:basic-user', 'system:monitoring'], {
    minLength: 0,
  });
  await using server = await TenancyServer.open();
  let round = 0;
  await fc.assert(
    fc.asyncProperty(fc.dictionary(name, data, { maxKeys: 12 }), roles, async (maps, deleted) => {
      const [from, to] = [`from-${++round}`, `to-${round}`];
      const path = await server.make(from);
      for (const [key, value] of Object.entries(maps)) {
        await server.expect(201, 'POST', `${path}${configMaps}`, { body: configMap(key, value) });
      }
      for (const role of deleted) {
        await server.expect(200, 'DELETE', `${path}/apis/rbac.authorization.k8s.io/v1/clusterroles/${role}`);
      }
      const first = await backup(server, from);
      assert.equal((await restore(server, `${to}/restore`, first)).status, 201);
      const second = await backup(server, to);
      assert.deepEqual(await entriesOf(second), await entriesOf(first));
      assert.equal((await entriesOf(first)).length, Object.keys(maps).length + deleted.length);
      const { items } = await server.expect(200, 'GET', `${planePath(to)}${configMaps}`);
      assert.equal(items.length, Object.keys(maps).length);
    }),
    { numRuns: 15, seed: 5 },
  );
});
