/** Backups by the name of a ControlPlane, in both modes, with a double of the target of HostedControlPlanes. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { rangeExport } from '@hangar/backup';
import { labels as backupLabels } from '@hangar/backup-operator';
import type { BackupTarget, Exported, RestoreOptions, RestoreProgress } from '@hangar/backup-operator';
import { find } from '@hangar/client';
import type { Client } from '@hangar/client';
import { ConfigMap, Namespace, Secret } from '@hangar/client/kinds/core-v1';
import { isControlledBy } from '@hangar/runtime';
import { ControlPlane, retainedRecordName } from '../api/index.ts';
import { HostedControlPlane } from '../dedicated/hosted-control-plane.ts';
import { startDedicatedPlatform } from '../dedicated/testing/dedicated-platform.ts';
import { untilGone, untilReady } from '../testing/until.ts';
import { controlPlaneTarget, modeFault, modeMismatch } from './control-plane-target.ts';

const { signal } = new AbortController();
const snapshot = 'snapshot-of-etcd';
const summary = { objects: 3, contentDigest: 'd', revision: '9' };
const complete: RestoreProgress = { state: 'Complete', summary };

async function* bytes(text: string): AsyncGenerator<Uint8Array, void, void> {
  yield Buffer.from(text);
}

const restoring = (uid: string, payload: string, more: Partial<RestoreOptions> = {}): RestoreOptions => ({
  uid,
  signal,
  open: () => Promise.resolve({ payload, hasKeys: false, content: bytes('content') }),
  ...more,
});

interface HostedTargetDouble extends BackupTarget {
  readonly calls: string[];
  /** Of the next `create`. */
  progress: RestoreProgress;
}

/** Creates HostedControlPlanes, as a restore does. */
function hostedTargetDouble(client: Client): HostedTargetDouble {
  const shown = ({ namespace, name }: { namespace?: string | undefined; name: string }) => `${namespace}/${name}`;
  const double: HostedTargetDouble = {
    kind: 'HostedControlPlane',
    isNamespaced: true,
    calls: [],
    progress: complete,
    list: () => Promise.resolve([]),
    export(name): Promise<Exported> {
      double.calls.push(`export ${shown(name)}`);
      const about = { payload: snapshot, mode: 'Dedicated', versions: {}, hasKeys: false };
      return Promise.resolve({ ...about, content: bytes('content'), summary: () => Promise.resolve(summary) });
    },
    summarize: () => Promise.resolve(summary),
    async create(name, { labels = {}, className }) {
      assert.equal(className, undefined);
      double.calls.push(`create ${shown(name)}`);
      const key = { namespace: name.namespace!, name: name.name };
      if (!(await find(client, HostedControlPlane, key))) {
        await client.create(HostedControlPlane, { metadata: { ...key, labels }, spec: { version: 'v1.35.0' } });
      }
      return double.progress;
    },
    async replace(name, { open }) {
      await open();
      double.calls.push(`replace ${shown(name)}`);
      return complete;
    },
    async delete({ namespace, name }) {
      double.calls.push(`delete ${namespace}/${name}`);
      await client.delete(HostedControlPlane, { namespace: namespace!, name });
    },
  };
  return double;
}

async function started() {
  const the = await startDedicatedPlatform();
  the.platform.start();
  const hosted = hostedTargetDouble(the.client);
  const target = controlPlaneTarget({ management: the.client, host: the.client, hosted });
  const make = async (name: string, mode: 'Virtual' | 'Dedicated') => {
    await the.client.create(ControlPlane, { metadata: { name, labels: { team: 'a' } }, spec: { mode } });
    await untilReady(the.client, name);
  };
  return { the, client: the.client, hosted, target, make, [Symbol.asyncDispose]: () => the[Symbol.asyncDispose]() };
}

describe('backups by the name of a ControlPlane', () => {
  test('the mode of the control plane decides what is backed up, and both modes are listed', async () => {
    await using world = await started();
    const { target, hosted, make } = world;
    await make('big', 'Dedicated');
    await make('small', 'Virtual');
    const names = (await target.list({ team: 'a' }, { signal })).map(({ name }) => name).sort();
    assert.deepEqual(names, ['big', 'small']);
    const modes = [];
    for (const name of names) {
      const exported = await target.export({ name }, { includesKeys: false, signal });
      modes.push([exported.mode, exported.payload]);
      await exported.content.return();
    }
    assert.deepEqual(modes, [
      ['Dedicated', snapshot],
      ['Virtual', rangeExport],
    ]);
    assert.deepEqual(hosted.calls, ['export kplane-cp-big/big']);
    await assert.rejects(target.export({ name: 'none' }, { includesKeys: false, signal }), { code: 'NotFound' });
  });

  test('a backup of one mode does not replace the data of the other', async () => {
    await using world = await started();
    const { target, hosted, make } = world;
    await make('big', 'Dedicated');
    await make('small', 'Virtual');
    await assert.rejects(target.replace({ name: 'big' }, restoring('r1', rangeExport)), {
      code: 'Refused',
      message: /backup is of a control plane with mode Virtual, and ControlPlane "big" has mode Dedicated/,
    });
    await assert.rejects(target.replace({ name: 'small' }, restoring('r1', snapshot)), {
      code: 'Refused',
      message: /backup is of a control plane with mode Dedicated, and ControlPlane "small" has mode Virtual/,
    });
    assert.deepEqual(hosted.calls, []);
    assert.deepEqual(await target.replace({ name: 'big' }, restoring('r1', snapshot)), complete);
    assert.deepEqual(hosted.calls, ['replace kplane-cp-big/big']);
  });

  test('a backup of a dedicated control plane becomes a new one, which owns the restored data', async () => {
    await using world = await started();
    const { target, hosted, client, the } = world;
    const options = restoring('r1', snapshot, { labels: { [backupLabels.drill]: 's' } });
    hosted.progress = { state: 'Pending', message: 'waiting', retryAfterMs: 1 };
    assert.equal((await target.create({ name: 'copy' }, options)).state, 'Pending');
    assert.equal(await find(client, ControlPlane, { name: 'copy' }), undefined);
    await assert.rejects(target.create({ name: 'copy' }, restoring('r2', snapshot)), { code: 'AlreadyExists' });
    hosted.progress = complete;
    await (await the.hosted.inside('copy')).create(ConfigMap, { metadata: { namespace: 'default', name: 'kept' } });
    assert.deepEqual(await target.create({ name: 'copy' }, options), complete);
    const object = await untilReady(client, 'copy');
    assert.equal(object.spec!.mode, 'Dedicated');
    assert.equal(object.metadata.labels![backupLabels.drill], 's');
    const adopted = await client.get(HostedControlPlane, { namespace: 'kplane-cp-copy', name: 'copy' });
    assert.ok(isControlledBy(adopted, object));
    assert.equal(adopted.spec!.version, 'v1.35.0');
    await (await the.hosted.inside('copy')).get(ConfigMap, { namespace: 'default', name: 'kept' });
    await untilGone(client, Secret, retainedRecordName('copy'));
    assert.deepEqual(await target.create({ name: 'copy' }, options), complete);
    await target.delete({ name: 'copy' }, { signal });
    await untilGone(client, ControlPlane, 'copy');
    await untilGone(client, Namespace, 'kplane-cp-copy');
  });

  test('delete removes what an interrupted restore left, and nothing else', async () => {
    await using world = await started();
    const { target, hosted, client } = world;
    hosted.progress = { state: 'Pending', message: 'waiting', retryAfterMs: 1 };
    await target.create({ name: 'copy' }, restoring('r1', snapshot));
    await target.delete({ name: 'copy' }, { signal });
    await untilGone(client, HostedControlPlane, 'copy');
    await untilGone(client, Namespace, 'kplane-cp-copy');
    await client.create(Namespace, { metadata: { name: 'kplane-cp-other' } });
    await target.delete({ name: 'other' }, { signal });
    await client.get(Namespace, { name: 'kplane-cp-other' });
  });
});

test('a control plane whose mode changes is not backed up', () => {
  const migration = { from: 'Virtual', to: 'Dedicated' } as const;
  const object = (spec: ControlPlane['spec'], status: ControlPlane['status'] = {}) =>
    ({ metadata: { name: 'a' }, spec, status }) as ControlPlane;
  const table: [ControlPlane, 'Virtual' | 'Dedicated', RegExp | undefined][] = [
    [object({}), 'Virtual', undefined],
    [object({ mode: 'Dedicated' }), 'Dedicated', undefined],
    [object({ mode: 'Dedicated' }), 'Virtual', /spec\.mode is Dedicated, but its data has mode Virtual/],
    [object({}), 'Dedicated', /spec\.mode is Virtual, but its data has mode Dedicated/],
    [object({ mode: 'Dedicated' }, { migration }), 'Dedicated', /migration from Virtual to Dedicated is in progress/],
    [object({ mode: 'Dedicated' }, { migration: { ...migration, completedAt: 'now' } }), 'Dedicated', undefined],
  ];
  for (const [given, recorded, expected] of table) {
    const fault = modeFault(given, recorded);
    if (expected) assert.match(fault ?? '', expected);
    else assert.equal(fault, undefined);
  }
  assert.equal(modeMismatch('a', 'Virtual', 'Virtual'), undefined);
});
