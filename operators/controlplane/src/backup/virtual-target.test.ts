import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { rangeExport } from '@hangar/backup';
import type { BackupTarget, Exported, RestoreOptions, RestoreProgress } from '@hangar/backup-operator';
import { find } from '@hangar/client';
import type { Client } from '@hangar/client';
import { ConfigMap, Namespace } from '@hangar/client/kinds/core-v1';
import { ControlPlane } from '../api/index.ts';
import { Tenant } from '../host/index.ts';
import { startTestPlatform } from '../testing/platform.ts';
import type { TestPlatform } from '../testing/platform.ts';
import { until, untilReady } from '../testing/until.ts';
import { virtualTarget } from './virtual-target.ts';

const { signal } = new AbortController();

interface Plane extends AsyncDisposable {
  readonly platform: TestPlatform;
  readonly client: Client;
  readonly target: BackupTarget;
  readonly inside: Client;
}

/** A platform with the ready control plane `demo` and objects in it. */
async function filled(): Promise<Plane> {
  const platform = await startTestPlatform();
  platform.start();
  const { client } = platform;
  await client.create(ControlPlane, { metadata: { name: 'demo', labels: { team: 'a' } }, spec: {} });
  await untilReady(client, 'demo');
  const inside = platform.inside('demo');
  await inside.create(Namespace, { metadata: { name: 'shop' } });
  for (const name of ['a', 'b']) {
    await inside.create(ConfigMap, { metadata: { name, namespace: 'shop' }, data: { k: 'x'.repeat(100_000) } });
  }
  const target = virtualTarget({ management: client, host: client });
  return { platform, client, target, inside, [Symbol.asyncDispose]: () => platform[Symbol.asyncDispose]() };
}

async function bytesOf(exported: Exported): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of exported.content) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const restoring = (uid: string, bytes: Buffer, more: Partial<RestoreOptions> = {}): RestoreOptions => ({
  uid,
  signal,
  open: () => Promise.resolve({ payload: rangeExport, hasKeys: false, content: inPieces(bytes) }),
  ...more,
});

async function* inPieces(bytes: Buffer): AsyncGenerator<Uint8Array, void, void> {
  for (let at = 0; at < bytes.length; at += 50_000) yield bytes.subarray(at, at + 50_000);
}

function summaryIn(progress: RestoreProgress): { objects: number; contentDigest: string } {
  assert.ok(progress.state === 'Complete');
  const { objects, contentDigest } = progress.summary;
  return { objects, contentDigest };
}

describe('a virtual control plane', () => {
  test('is restored under another name with the digest of its backup', async () => {
    await using plane = await filled();
    const { client, target, platform } = plane;
    const exported = await target.export({ name: 'demo' }, { includesKeys: false, signal });
    assert.deepEqual([exported.payload, exported.mode, exported.hasKeys], [rangeExport, 'Virtual', false]);
    assert.match(exported.versions['hangar']!, /^v/);
    const bytes = await bytesOf(exported);
    const { objects, contentDigest, revision } = await exported.summary();
    assert.ok(objects >= 3 && Number(revision) > 0);
    const labels = { drill: 'yes' };
    const created = await target.create({ name: 'copy' }, restoring('r1', bytes, { labels }));
    assert.deepEqual(summaryIn(created), { objects, contentDigest });
    await untilReady(client, 'copy');
    const object = await client.get(ControlPlane, { name: 'copy' });
    assert.equal(object.metadata.labels?.['drill'], 'yes');
    const copy = platform.inside('copy');
    assert.equal((await copy.list(ConfigMap, { namespace: 'shop' })).items.length, 2);
    // Writable.
    await copy.create(ConfigMap, { metadata: { name: 'c', namespace: 'shop' } });
    assert.notEqual((await target.summarize({ name: 'copy' }, { signal })).contentDigest, contentDigest);
    // A repeated call returns the same; another restore gets an error.
    assert.deepEqual(await target.create({ name: 'copy' }, restoring('r1', bytes)), created);
    await assert.rejects(target.create({ name: 'copy' }, restoring('r2', bytes)), { code: 'AlreadyExists' });
    await assert.rejects(target.create({ name: 'demo' }, restoring('r1', bytes)), { code: 'AlreadyExists' });
    await target.delete({ name: 'copy' }, { signal });
    await until(client, Tenant, 'copy', (one) => one === undefined);
    await target.delete({ name: 'copy' }, { signal });
  });

  test('is created by the call that follows an interrupted one', async () => {
    await using plane = await filled();
    const { client, target } = plane;
    const bytes = await bytesOf(await target.export({ name: 'demo' }, { includesKeys: false, signal }));
    const failing = {
      get: client.get.bind(client),
      create: () => Promise.reject(new Error('the operator was killed')),
    } as unknown as Client;
    const killed = virtualTarget({ management: failing, host: client });
    await assert.rejects(killed.create({ name: 'copy' }, restoring('r1', bytes)), /killed/);
    await assert.rejects(target.create({ name: 'copy' }, restoring('r2', bytes)), { code: 'AlreadyExists' });
    const progress = await target.create(
      { name: 'copy' },
      {
        ...restoring('r1', bytes),
        open: () => Promise.reject(new Error('the backup is not read again')),
      },
    );
    assert.equal(progress.state, 'Complete');
    await untilReady(client, 'copy');
  });

  test('is replaced in place, once for each restore', async () => {
    await using plane = await filled();
    const { target, inside } = plane;
    const exported = await target.export({ name: 'demo' }, { includesKeys: false, signal });
    const bytes = await bytesOf(exported);
    const { objects, contentDigest } = await exported.summary();
    await inside.delete(ConfigMap, { namespace: 'shop', name: 'a' });
    const replaced = await target.replace({ name: 'demo' }, restoring('r1', bytes));
    assert.deepEqual(summaryIn(replaced), { objects, contentDigest });
    assert.equal((await inside.list(ConfigMap, { namespace: 'shop' })).items.length, 2);
    await inside.delete(ConfigMap, { namespace: 'shop', name: 'a' });
    assert.deepEqual(await target.replace({ name: 'demo' }, restoring('r1', bytes)), replaced);
    assert.equal((await inside.list(ConfigMap, { namespace: 'shop' })).items.length, 1);
  });

  test('is listed by labels, and errors say what is wrong', async () => {
    await using plane = await filled();
    const { client, target } = plane;
    assert.deepEqual(await target.list({ team: 'a' }, { signal }), [{ name: 'demo' }]);
    assert.deepEqual(await target.list({ team: 'b' }, { signal }), []);
    await client.create(ControlPlane, {
      metadata: { name: 'dedicated' },
      spec: { mode: 'Dedicated', dedicated: {} } as never,
    });
    assert.deepEqual(await target.list({}, { signal }), [{ name: 'demo' }]);
    const call = { includesKeys: false, signal };
    await assert.rejects(target.export({ name: 'missing' }, call), { code: 'NotFound' });
    await assert.rejects(target.export({ name: 'dedicated' }, call), { code: 'Refused', message: /mode Dedicated/ });
    await assert.rejects(target.delete({ name: 'demo' }, { signal }), { code: 'Refused' });
    const bytes = await bytesOf(await target.export({ name: 'demo' }, call));
    const damaged = Buffer.from(bytes);
    damaged[damaged.length - 20]! ^= 1;
    await assert.rejects(target.create({ name: 'copy' }, restoring('r1', damaged)), { code: 'Refused' });
    assert.equal(await find(client, Tenant, { name: 'copy' }), undefined);
    await assert.rejects(
      target.create(
        { name: 'copy' },
        {
          ...restoring('r1', bytes),
          open: () => Promise.resolve({ payload: 'other', hasKeys: false, content: inPieces(bytes) }),
        },
      ),
      { code: 'Refused', message: /"other"/ },
    );
  });
});
