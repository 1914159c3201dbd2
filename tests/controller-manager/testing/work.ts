/** Work for the controllers of a cluster; observed by watches, so that the observation costs little. */

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { find } from '@hangar/client';
import type { ApiObject, Client, Kind, ListOptions } from '@hangar/client';
import { Deployment, ReplicaSet } from '@hangar/client/kinds/apps-v1';
import { Job } from '@hangar/client/kinds/batch-v1';
import { ConfigMap, Namespace, Node, Pod, ServiceAccount } from '@hangar/client/kinds/core-v1';
import * as workloads from '../../conformance/components/workloads.ts';

const withinMs = 60_000;
const finalizer = 'example.com/held';

/** Resolves with the objects of a selection, when the condition holds. */
export async function untilAll<T extends ApiObject>(
  client: Client,
  kind: Kind<T>,
  options: ListOptions & { readonly what: string; readonly isSo: (all: readonly T[]) => boolean },
): Promise<T[]> {
  const { what, isSo, ...selection } = options;
  const signal = AbortSignal.timeout(withinMs);
  const { items, resourceVersion } = await client.list(kind, selection);
  const all = new Map(items.map((one) => [one.metadata.uid!, one]));
  const now = (): T[] => [...all.values()];
  try {
    if (isSo(now())) return now();
    for await (const event of client.watch(kind, { ...selection, resourceVersion, signal })) {
      if (event.type === 'BOOKMARK') continue;
      if (event.type === 'DELETED') all.delete(event.object.metadata.uid!);
      else all.set(event.object.metadata.uid!, event.object);
      if (isSo(now())) return now();
    }
  } catch (error) {
    const there = now().map(({ metadata, ...rest }) => `${metadata.name} ${JSON.stringify(rest)}`);
    throw new Error(`it did not happen: ${what}\n${there.join('\n').slice(0, 4_000)}`, { cause: error });
  }
  throw new Error(`the watch ended before ${what}`);
}

const ownedBy = (one: ApiObject, kind: string, name: string): boolean =>
  one.metadata.ownerReferences?.some((owner) => owner.kind === kind && owner.name === name) ?? false;

/** A namespace in which pods may be created. */
export async function makeNamespace(client: Client, name: string): Promise<void> {
  await client.create(Namespace, { metadata: { name } });
  await untilAll(client, ServiceAccount, {
    what: `the account default of ${name}`,
    namespace: name,
    fieldSelector: 'metadata.name=default',
    isSo: (all) => all.length === 1,
  });
}

/** A Deployment becomes a ReplicaSet, and that becomes Pods. */
export async function deploy(client: Client, namespace: string, name = 'web', replicas = 2): Promise<void> {
  const { metadata, spec } = workloads.deployment(name, replicas);
  await client.create(Deployment, { metadata: { ...metadata, namespace }, spec } as unknown as Deployment);
  const pods = await untilAll(client, Pod, {
    what: `${replicas} pods of the Deployment ${name}`,
    namespace,
    labelSelector: { app: name },
    isSo: (all) => all.length === replicas,
  });
  const sets = await client.list(ReplicaSet, { namespace, labelSelector: { app: name } });
  assert.equal(sets.items.length, 1);
  const [set] = sets.items;
  assert.ok(ownedBy(set!, 'Deployment', name));
  for (const pod of pods) assert.ok(ownedBy(pod, 'ReplicaSet', set!.metadata.name!));
}

/** A Job gets its pods. */
export async function runJob(client: Client, namespace: string): Promise<void> {
  const { metadata, spec } = workloads.job('once');
  await client.create(Job, { metadata: { ...metadata, namespace }, spec } as unknown as Job);
  await untilAll(client, Pod, {
    what: 'two pods of the Job',
    namespace,
    labelSelector: { app: 'once' },
    isSo: (all) => all.length === 2 && all.every((pod) => ownedBy(pod, 'Job', 'once')),
  });
}

/** An owner is deleted, with its dependents and their dependents. */
export async function collectGarbage(client: Client, namespace: string): Promise<void> {
  const make = (name: string, owner?: ConfigMap): Promise<ConfigMap> => {
    const ownerReferences = owner && [
      { apiVersion: 'v1', kind: 'ConfigMap', name: owner.metadata.name!, uid: owner.metadata.uid! },
    ];
    const metadata = { namespace, name, labels: { garbage: '' }, ...(ownerReferences && { ownerReferences }) };
    return client.create(ConfigMap, { metadata });
  };
  const owner = await make('owner');
  const child = await make('child', owner);
  await make('grandchild', child);
  await client.delete(ConfigMap, { namespace, name: 'owner' });
  await untilAll(client, ConfigMap, {
    what: 'the end of all that was owned',
    namespace,
    labelSelector: 'garbage',
    isSo: (all) => all.length === 0,
  });
}

/** A namespace with an object that a finalizer holds: it stays as long as that, and no longer. */
export async function endNamespace(client: Client, name: string): Promise<void> {
  await client.create(Namespace, { metadata: { name } });
  const held = { namespace: name, name: 'held' };
  await client.create(ConfigMap, { metadata: { ...held, finalizers: [finalizer] } });
  await client.create(ConfigMap, { metadata: { namespace: name, name: 'free' } });
  await client.delete(Namespace, { name });
  await untilAll(client, ConfigMap, {
    what: `only what is held is left in ${name}`,
    namespace: name,
    isSo: (all) => all.every(({ metadata }) => metadata.name === 'held' && metadata.deletionTimestamp !== undefined),
  });
  assert.equal((await client.get(Namespace, { name })).status?.phase, 'Terminating');
  await client.patch(ConfigMap, held, { type: 'merge', body: { metadata: { finalizers: null } } });
  await namespaceGone(client, name);
}

export const namespaceGone = (client: Client, name: string): Promise<unknown> =>
  untilAll(client, Namespace, {
    what: `the end of the namespace ${name}`,
    fieldSelector: `metadata.name=${name}`,
    isSo: (all) => all.length === 0,
  });

/** Deletes the namespace, which the controllers empty. Resolves with the duration. */
export async function deleteNamespace(client: Client, name: string): Promise<number> {
  await client.create(Namespace, { metadata: { name } });
  await client.create(ConfigMap, { metadata: { namespace: name, name: 'something' } });
  await client.delete(Namespace, { name });
  const begunMs = performance.now();
  await namespaceGone(client, name);
  return performance.now() - begunMs;
}

/** A node, and a pod that a scheduler assigns to it. */
export async function schedule(client: Client, namespace: string): Promise<void> {
  const allocatable = { cpu: '4', memory: '8Gi', pods: '100' };
  await client.create(Node, { metadata: { name: 'node-1' } });
  const conditions = [{ type: 'Ready', status: 'True', reason: 'KubeletReady', message: '' }];
  const body = { status: { allocatable, capacity: allocatable, conditions } };
  await client.status.patch(Node, { name: 'node-1' }, { type: 'merge', body });
  const { metadata, spec } = workloads.pod('lonely');
  const tolerations = [{ operator: 'Exists' }];
  await client.create(Pod, { metadata: { ...metadata, namespace }, spec: { ...spec, tolerations } } as unknown as Pod);
  await untilAll(client, Pod, {
    what: 'the pod is on the node',
    namespace,
    fieldSelector: 'metadata.name=lonely',
    isSo: ([one]) => one?.spec?.nodeName === 'node-1',
  });
}

/** All of the above except the scheduler. */
export async function exercise(client: Client, name: string): Promise<void> {
  await makeNamespace(client, name);
  await Promise.all([
    deploy(client, name),
    runJob(client, name),
    collectGarbage(client, name),
    endNamespace(client, `${name}-ending`),
  ]);
  await client.delete(Deployment, { namespace: name, name: 'web' }, { propagationPolicy: 'Background' });
  await untilAll(client, Pod, {
    what: 'the end of the pods of the Deployment',
    namespace: name,
    labelSelector: { app: 'web' },
    isSo: (all) => all.length === 0,
  });
}

/** The absence of a change can only be waited for. */
export async function staysThere(client: Client, namespace: string, forMs: number): Promise<void> {
  const untilMs = performance.now() + forMs;
  while (performance.now() < untilMs) {
    assert.ok(await find(client, Namespace, { name: namespace }), `${namespace} has ended`);
    await sleep(100);
  }
}
