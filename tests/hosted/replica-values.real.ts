/**
 * The values that a kube-apiserver stores as protobuf become JSON for the way back to a tenant: the same objects that it serves. Every value can
 * be converted.
 */

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { isProtobuf } from '@hangar/api';
import { prefixRange } from '@hangar/store';
import { openEtcdStore } from '@hangar/store/etcd';
import { asJson } from '../../operators/hosted/src/replica/stored-values.ts';
import { startReal } from '../conformance/servers/index.ts';
import { Access } from '../tenancy/testing/access.ts';
import type { Data } from '../tenancy/testing/access.ts';
import { everything, listedPaths } from '../tenancy/testing/everything.ts';
import { makeBuiltinObjects } from '../tenancy/testing/objects.ts';

const prefix = '/registry/';

test('all stored values become the JSON of the served objects', async () => {
  await using real = await startReal();
  const ca = await readFile(join(dirname(real.kubeconfig), 'certificates', 'apiserver.crt'));
  using access = new Access({ url: real.url, token: real.token!, ca });
  await makeBuiltinObjects(access);
  const store = await openEtcdStore({ endpoints: [real.etcdUrl] });
  const byUid = new Map<string, Data>();
  let converted = 0;
  try {
    const { entries } = await store.range(prefixRange(prefix));
    for (const { key, value, modRevision } of entries) {
      const json = asJson(key.slice(prefix.length), value);
      if (isProtobuf(value)) converted++;
      else assert.equal(json, value);
      const object = JSON.parse(Buffer.from(json).toString());
      assert.ok(object.kind && object.apiVersion, key);
      if (object.metadata.uid) byUid.set(object.metadata.uid, { object, modRevision });
    }
  } finally {
    await store.close();
  }
  let same = 0;
  for (const [path, objects] of await everything(access, await listedPaths(access))) {
    for (const [name, served] of objects) {
      const { object, modRevision } = byUid.get(served.metadata.uid) ?? {};
      const groupVersion = path.replace(/^\/apis?\//, '').replace(/\/[^/]*$/, '');
      // Another version of the same object, or an object that changed meanwhile.
      if (object?.apiVersion !== groupVersion || String(modRevision) !== served.metadata.resourceVersion) continue;
      const { resourceVersion: _, ...metadata } = served.metadata;
      const wanted = { kind: object.kind, apiVersion: object.apiVersion, ...served, metadata };
      // Fields in the same order: an object is stored in one way.
      assert.equal(JSON.stringify(object), JSON.stringify(wanted), `${path} ${name}`);
      same++;
    }
  }
  console.log(`${converted} values converted, ${same} compared with the served objects`);
  assert.ok(converted > 70 && same > 90);
});
