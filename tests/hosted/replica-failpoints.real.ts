/**
 * The operator ends before and after every write of a replica, from its creation to its activation, and on the way back. The next operator
 * continues; no API server starts before the fence.
 */

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { find } from '@hangar/client';
import { Deployment } from '@hangar/client/kinds/apps-v1';
import { CodedError, Failpoints, hasCode, seededRandom, systemClock } from '@hangar/core';
import { createAuthority, newPrivateKey } from '@hangar/pki';
import type { ReplicaFrame, Revision } from '@hangar/store';
import { writeSnapshotFile } from '@hangar/store/etcd-snapshot';
import { annotations, HostedControlPlane, replicaStateOf } from '../../operators/hosted/src/api/index.ts';
import { spoolSnapshotFile } from '../../operators/hosted/src/backup/spool.ts';
import { hostedReplicas } from '../../operators/hosted/src/replica/index.ts';
import type { HostedReplica } from '../../operators/hosted/src/replica/index.ts';
import type { PlaneEtcd } from '../../operators/hosted/src/replica/plane-etcd.ts';
import { namespace, startTestPlatform } from '../../operators/hosted/src/testing/platform.ts';
import { untilObject, untilReady } from '../../operators/hosted/src/testing/until.ts';
import { restorePodsDouble } from './testing/restore-pods-double.ts';

/** Records the failpoints that an undisturbed replica passes. */
class Recorded extends Failpoints {
  readonly names = new Set<string>();

  override hit(name: string): void {
    this.names.add(name);
    super.hit(name);
  }
}

const { signal } = new AbortController();
const revision = 7 as Revision;
const values = {
  'pods/a': 'p',
  'ranges/servicenodeports': '{}\n',
  'servicecidrs/kubernetes': JSON.stringify({ kind: 'ServiceCIDR', spec: { cidrs: ['10.0.0.0/24'] } }),
};

async function* frames(): AsyncGenerator<ReplicaFrame, void, void> {
  for (const [key, text] of Object.entries(values)) {
    const entry = { key, value: Buffer.from(text), createRevision: revision, modRevision: revision, version: 1 };
    yield { type: 'entry', entry };
  }
  yield { type: 'snapshot', revision };
}

function newKeys() {
  const world = { clock: systemClock, random: seededRandom(1) };
  const authority = (name: string) => createAuthority(name, 365, world);
  const issuer = 'https://hangar.test/clusters/a/control-plane';
  return { authority: authority('a'), frontProxyAuthority: authority('b'), serviceAccountKey: newPrivateKey(), issuer };
}

async function repeated<T>(call: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const result = await call().catch((error: unknown) => {
      if (hasCode(error, 'Conflict') || hasCode(error, 'NotReady')) return undefined;
      throw error;
    });
    if (result !== undefined) return result;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test('an operator that ends at any write of a replica leaves one that another operator completes', async (context) => {
  const scratchFolder = await mkdtemp(join(tmpdir(), 'hangar-replica-loop-'));
  context.after(() => rm(scratchFolder, { recursive: true }));
  const make = (path: string) => writeSnapshotFile(path, frames(), { prefix: '/registry/' });
  const { facts } = await spoolSnapshotFile(make, scratchFolder, signal);
  const summary = { objects: facts.entries, contentDigest: facts.contentDigest, revision: String(revision) };
  await using platform = await startTestPlatform();
  const { client } = platform;
  await using pods = restorePodsDouble(client, namespace);
  platform.start();
  const keys = newKeys();

  /** Names of control planes whose etcd is fenced, and that were fenced at least once. */
  const [fenced, known] = [new Set<string>(), new Set<string>()];
  const etcdOf = (name: string): PlaneEtcd => ({
    async fence() {
      const server = await find(client, Deployment, { namespace, name: `${name}-apiserver` });
      assert.ok(known.has(name) || server === undefined, 'an API server exists before the fence');
      known.add(name);
      fenced.add(name);
      return revision;
    },
    unfence: () => Promise.resolve(void fenced.delete(name)),
    isFenced: () => Promise.resolve(fenced.has(name)),
    revision: () => Promise.resolve(revision),
    openContent: () => Promise.reject(new Error('the content of a double cannot be opened')),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  });
  const replicaWith = (name: string, failpoints?: Failpoints): HostedReplica =>
    hostedReplicas({
      client,
      reach: 'endpoint',
      scratchFolder,
      image: 'hangar',
      failpoints,
      contentOf: () => Promise.resolve(summary),
      openEtcd: ({ name: plane }) => Promise.resolve(etcdOf(plane)),
    })({ namespace, name });
  const create = (name: string) =>
    client.create(HostedControlPlane, {
      metadata: { namespace, name, annotations: { [annotations.replicaOf]: `there-${name}` } },
      spec: { version: 'v1.36.4', replicas: 1, etcd: { replicas: 3 } },
    });
  const phaseIs = async (replica: HostedReplica, phase: string) =>
    (await replica.state(signal)).phase === phase ? true : undefined;
  /** All calls of a migration there, and of one back that is aborted. Each can be repeated. */
  const life = async (replica: HostedReplica, name: string): Promise<void> => {
    if (known.has(`${name} switched`)) return back(replica, name);
    const options = { id: `there-${name}`, keys, frames };
    await repeated(async () => {
      const { phase, remote } = await replica.seed(options, signal);
      return (phase === 'Fenced' || phase === 'Active') && remote ? true : undefined;
    });
    const session = await replica.open(`there-${name}`, signal);
    await session.activate();
    await repeated(() => phaseIs(replica, 'Active'));
    known.add(`${name} switched`);
    await back(replica, name);
  };
  const back = async (replica: HostedReplica, name: string): Promise<void> => {
    const session = await replica.open(`back-${name}`, signal);
    await session.fence();
    await repeated(() => phaseIs(replica, 'Fenced'));
    await untilObject(client, Deployment, `${name}-scheduler`, ({ spec }) => spec?.replicas === 0);
    await session.activate();
    await repeated(() => phaseIs(replica, 'Active'));
  };
  const check = async (name: string): Promise<void> => {
    const object = await untilReady(client, name);
    const state = replicaStateOf(object);
    assert.ok(typeof state === 'object' && state.phase === 'Active' && state.issuer === keys.issuer);
    assert.equal(object.metadata.annotations?.[annotations.restore], undefined);
    await untilObject(client, Deployment, `${name}-scheduler`, ({ spec }) => spec?.replicas === 1);
    assert.ok(!fenced.has(name));
  };

  const recorded = new Recorded();
  await create('first');
  await life(replicaWith('first', recorded), 'first');
  await check('first');
  const names = [...recorded.names].sort();
  assert.ok(names.length >= 20, names.join());
  for (const [at, failpoint] of names.entries()) {
    const name = `p${at}`;
    await create(name);
    const failpoints = new Failpoints();
    failpoints.arm(failpoint, { times: 1, throws: new CodedError('Aborted', 'the process ended') });
    await assert.rejects(life(replicaWith(name, failpoints), name), (error) => hasCode(error, 'Aborted'), failpoint);
    // The next operator reads the state first, and the annotation follows etcd.
    await replicaWith(name)
      .state(signal)
      .catch(() => undefined);
    await life(replicaWith(name), name);
    await check(name);
    await client.delete(HostedControlPlane, { namespace, name });
  }
  for (const [pod, members] of pods.seen) assert.equal(members, 0, `${pod} was created while etcd had members`);
  console.log(`${names.length} failpoints, ${pods.seen.length} pods`);
});
