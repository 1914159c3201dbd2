/**
 * The operator ends before and after every write of a restore, in place and into a new control plane. The next operator completes the
 * restore, and no pod uses a volume while etcd uses it.
 */

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { BackupTarget, RestoreOptions, RestoreProgress } from '@hangar/backup-operator';
import { Deployment, StatefulSet } from '@hangar/client/kinds/apps-v1';
import { Pod, Secret } from '@hangar/client/kinds/core-v1';
import { CodedError, Failpoints, hasCode } from '@hangar/core';
import { boltDatabase } from '../../packages/store/src/drivers/etcd/snapshot-file/testing/bolt-writer.ts';
import { entriesOf } from '../../packages/store/src/drivers/etcd/snapshot-file/testing/history.ts';
import { annotations, HostedControlPlane } from '../../operators/hosted/src/api/index.ts';
import { encodeHead, payloadFormat } from '../../operators/hosted/src/backup/payload.ts';
import { spoolSnapshot } from '../../operators/hosted/src/backup/spool.ts';
import { hostedTarget } from '../../operators/hosted/src/backup/target.ts';
import { base64 } from '../../operators/hosted/src/pki/secrets.ts';
import { namespace, startTestPlatform } from '../../operators/hosted/src/testing/platform.ts';
import { untilObject, untilReady } from '../../operators/hosted/src/testing/until.ts';
import { restorePodsDouble } from './testing/restore-pods-double.ts';

/** Records the failpoints that an undisturbed restore passes. */
class Recorded extends Failpoints {
  readonly names = new Set<string>();

  override hit(name: string): void {
    this.names.add(name);
    super.hit(name);
  }
}

const { signal } = new AbortController();
const spec = { version: 'v1.36.4', replicas: 1, etcd: { replicas: 3 } };

/** A backup with one object, and the key of service accounts. */
async function backup(scratchFolder: string) {
  const database = boltDatabase({ key: entriesOf([['/registry/pods/a', 'b']]) });
  const bytes = Buffer.concat([database, createHash('sha256').update(database).digest()]);
  async function* once() {
    yield bytes;
  }
  await using spooled = await spoolSnapshot(once(), scratchFolder, signal);
  const head = encodeHead({
    controlPlane: { namespace, name: 'original' },
    spec,
    annotations: {},
    versions: { kubernetes: 'v1.36.4', etcd: '3.6.8' },
    objects: [{ kind: 'Secret', role: 'mounted', name: 'encryption', data: { key: base64('k') } }],
    hasKeys: true,
    snapshot: spooled.facts,
  });
  async function* content() {
    yield head;
    yield bytes;
  }
  const open = () => Promise.resolve({ payload: payloadFormat, hasKeys: true, content: content() });
  const { entries: objects, contentDigest, revision } = spooled.facts;
  return { open, summary: { objects, contentDigest, revision: String(revision) } };
}

async function completed(restore: () => Promise<RestoreProgress>): Promise<RestoreProgress> {
  for (;;) {
    const progress = await restore().catch((error: unknown) => {
      if (hasCode(error, 'Conflict') || hasCode(error, 'NotReady')) return undefined;
      throw error;
    });
    if (progress?.state === 'Complete') return progress;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

for (const mode of ['replace', 'create'] as const) {
  test(`an operator that ends at any write of a restore (${mode}) leaves one that another operator completes`, async (context) => {
    const scratchFolder = await mkdtemp(join(tmpdir(), 'hangar-restore-loop-'));
    context.after(() => rm(scratchFolder, { recursive: true }));
    await using platform = await startTestPlatform();
    const { client } = platform;
    await using pods = restorePodsDouble(client, namespace);
    platform.start();
    const { open, summary } = await backup(scratchFolder);
    const targetWith = (failpoints?: Failpoints): BackupTarget =>
      hostedTarget({
        client,
        reach: 'endpoint',
        scratchFolder,
        image: 'hangar',
        failpoints,
        contentOf: () => Promise.resolve(summary),
      });
    const restore = (target: BackupTarget, name: string): Promise<RestoreProgress> => {
      const options: RestoreOptions = { uid: `restore-${name}`, signal, open };
      return target[mode]({ namespace, name }, options);
    };
    const prepare = async (name: string): Promise<void> => {
      if (mode === 'create') {
        // Of the earlier restores, which would not create it again.
        await client.deleteCollection(Secret, { namespace, fieldSelector: 'metadata.name=encryption' });
        return;
      }
      await client.create(HostedControlPlane, { metadata: { namespace, name }, spec });
      await untilReady(client, name);
    };
    const check = async (name: string): Promise<void> => {
      const { metadata } = await untilReady(client, name);
      assert.equal(metadata.annotations?.[annotations.restore], undefined);
      assert.match(metadata.annotations?.[annotations.restored] ?? '', new RegExp(`"restore-${name}"`));
      for (const suffix of ['apiserver', 'controller-manager', 'scheduler']) {
        await untilObject(client, Deployment, `${name}-${suffix}`, (one) => (one.spec?.replicas ?? 1) > 0);
      }
      const set = await client.get(StatefulSet, { namespace, name: `${name}-etcd` });
      assert.equal(set.spec?.replicas, 3);
      const left = (await client.list(Pod, { namespace })).items.map((pod) => pod.metadata.name!);
      assert.deepEqual(left, []);
    };
    const recorded = new Recorded();
    await prepare('first');
    await completed(() => restore(targetWith(recorded), 'first'));
    await check('first');
    const names = [...recorded.names].sort();
    assert.ok(names.length >= 10, names.join());
    for (const [at, failpoint] of names.entries()) {
      const name = `p${at}`;
      await prepare(name);
      const failpoints = new Failpoints();
      failpoints.arm(failpoint, { times: 1, throws: new CodedError('Aborted', 'the process ended') });
      const interrupted = targetWith(failpoints);
      await assert.rejects(
        completed(() => restore(interrupted, name)),
        (error) => hasCode(error, 'Aborted'),
        failpoint,
      );
      const progress = await completed(() => restore(targetWith(), name));
      assert.equal(progress.state === 'Complete' && progress.summary.contentDigest, summary.contentDigest);
      await check(name);
      await client.delete(HostedControlPlane, { namespace, name });
    }
    for (const [pod, members] of pods.seen) {
      assert.ok(/-clean-/.test(pod) || members === 0, `${pod} was created while etcd had ${members} members`);
    }
    if (mode === 'create') await client.get(Secret, { namespace, name: 'encryption' });
    console.log(`${mode}: ${names.length} failpoints, ${pods.seen.length} pods`);
  });
}
