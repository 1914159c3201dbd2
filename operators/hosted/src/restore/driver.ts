/** Carries out a restore: one action after the other, each derived from the objects, until one has to wait. */

import { find, keyOf } from '@hangar/client';
import type { Client, Reader } from '@hangar/client';
import { Deployment, StatefulSet } from '@hangar/client/kinds/apps-v1';
import { PersistentVolumeClaim, Pod, Secret } from '@hangar/client/kinds/core-v1';
import { hasCode } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { isBeingDeleted } from '@hangar/runtime';
import type { ContentSummary, RestoreOptions, RestoreProgress } from '@hangar/backup-operator';
import { TargetError } from '@hangar/backup-operator';
import { annotations, HostedControlPlane, pausedAnnotation } from '../api/index.ts';
import type { EtcdOfPlane } from '../backup/member-access.ts';
import { findPlane, planeNameOf } from '../backup/export.ts';
import type { ExportWorld } from '../backup/export.ts';
import { credentialsOf } from '../etcd/connection.ts';
import type { Writes } from '../control-plane/writes.ts';
import { adminKubeconfigName, etcdClientPort, workloadName } from '../render/index.ts';
import type { Component } from '../render/index.ts';
import { observe } from './observe.ts';
import type { Observed } from './observe.ts';
import { nextAction, podActions } from './plan.ts';
import type { RestoreAction } from './plan.ts';
import { claimName, memberClaim, memberHost, podName, restorePod } from './pods.ts';
import { createPlaneObjects } from './plane-objects.ts';
import type { Spools } from './spools.ts';
import { restoreResultOf, restoreStateOf } from './state.ts';
import type { RestoreResult, RestoreState } from './state.ts';
import { sendSnapshot, TransferError } from './transfer.ts';

export interface RestoreWorld extends ExportWorld {
  readonly client: Client;
  readonly apiReader: Reader;
  readonly clock: Clock;
  readonly writes: Pick<Writes, 'make'>;
  readonly spools: Pick<Spools, 'get' | 'drop'>;
  /** Image with the program `hangar`. */
  readonly image: string;
  /** Returns the rendered StatefulSet of etcd. */
  readonly etcdSet: (object: HostedControlPlane) => Promise<StatefulSet>;
  /** Returns the content of the running etcd. Undefined: no member can be reached yet. */
  readonly contentOf: (etcd: EtcdOfPlane, signal: AbortSignal) => Promise<ContentSummary | undefined>;
}

/** Without events, the next action is due after this time. */
const retryAfterMs = 1_000;
const actionsMax = 100;

/** Continues the restore of an object that has its state. Throws `Refused` when the restore was reverted. */
export async function continueRestore(
  world: RestoreWorld,
  key: { readonly namespace: string; readonly name: string },
  options: RestoreOptions,
): Promise<RestoreProgress> {
  for (let actions = 0; actions < actionsMax; actions++) {
    const object = await findPlane(world, key, options.signal);
    const done = resultFor(object, options.uid);
    if (done) return done;
    const state = restoreStateOf(object);
    if (state === 'malformed' || state?.uid !== options.uid) {
      const message = `the restore of HostedControlPlane ${JSON.stringify(`${key.namespace}/${key.name}`)} was cancelled: its annotation ${annotations.restore} was removed or changed`;
      throw new TargetError('Refused', message);
    }
    const step = new RestoreStep(world, object, state, options);
    const message = await step.run();
    if (message !== undefined) return { state: 'Pending', message: `${state.phase}: ${message}`, retryAfterMs };
  }
  return { state: 'Pending', message: 'continuing', retryAfterMs };
}

/** The result of a restore that is complete. */
export function resultFor(object: HostedControlPlane, uid: string): RestoreProgress | undefined {
  const result = restoreResultOf(object);
  if (result?.uid !== uid || restoreStateOf(object) !== undefined) return undefined;
  if (result.fault !== undefined) {
    throw new TargetError('Refused', `the restore failed, and the earlier data is in use again: ${result.fault}`);
  }
  const { entries, contentDigest, revision } = result;
  return { state: 'Complete', summary: { objects: entries, contentDigest, revision: String(revision) } };
}

/** One action of a restore. */
class RestoreStep {
  readonly #world: RestoreWorld;
  readonly #object: HostedControlPlane;
  readonly #state: RestoreState;
  readonly #options: RestoreOptions;
  readonly #namespace: string;
  /** Prefix of the names of all objects. */
  readonly #name: string;
  readonly #members: number;

  constructor(world: RestoreWorld, object: HostedControlPlane, state: RestoreState, options: RestoreOptions) {
    this.#world = world;
    this.#object = object;
    this.#state = state;
    this.#options = options;
    this.#namespace = object.metadata.namespace!;
    this.#name = planeNameOf(object);
    this.#members = state.members;
  }

  /** Returns why the restore has to wait. Undefined: the next action is due now. */
  async run(): Promise<string | undefined> {
    const { clock, apiReader: reader } = this.#world;
    const { signal } = this.#options;
    const seen = await observe({
      reader,
      object: this.#object,
      name: this.#name,
      state: this.#state,
      members: this.#members,
      nowMs: clock.now(),
      signal,
    });
    return this.#act(nextAction(this.#state, seen.observation), seen);
  }

  async #act(action: RestoreAction, seen: Observed): Promise<string | undefined> {
    switch (action.type) {
      case 'wait':
        return action.message;
      case 'prepare':
        return this.#prepare();
      case 'scale-down':
        return this.#scaleDown(action.what);
      case 'create-pods':
        return this.#createPods(action.ordinals, seen);
      case 'remove-failed':
        return this.#removeFailed(action.ordinals, seen);
      case 'remove-others':
        return this.#removeOthers(seen);
      case 'send':
        return this.#send(action.ordinals, seen);
      case 'compare':
        return this.#compare(seen);
      case 'go':
        return this.#go(action, seen);
      case 'complete':
        return this.#complete(seen);
    }
  }

  /** Creates the objects of a new control plane, then lets the reconciler create certificates. */
  async #prepare(): Promise<undefined> {
    const { head } = await this.#world.spools.get(this.#options);
    await createPlaneObjects(this.#world, this.#object, head.objects, this.#options.signal);
    await this.#write('unpause', { [pausedAnnotation]: null, ...this.#annotation({ phase: 'Stopping' }) });
  }

  async #scaleDown(what: 'controllers' | 'api-servers' | 'etcd'): Promise<undefined> {
    const components: Record<typeof what, readonly Component[]> = {
      controllers: ['kube-controller-manager', 'kube-scheduler'],
      'api-servers': ['kube-apiserver'],
      etcd: ['etcd'],
    };
    const { client, writes } = this.#world;
    const { signal } = this.#options;
    for (const component of components[what]) {
      const key = { namespace: this.#namespace, name: workloadName({ name: this.#name }, component) };
      const patch = { type: 'merge' as const, body: { spec: { replicas: 0 } } };
      await writes.make(`restore-stop-${component}`, async () => {
        try {
          if (component === 'etcd') await client.patch(StatefulSet, key, patch, { signal });
          else await client.patch(Deployment, key, patch, { signal });
        } catch (error) {
          if (!hasCode(error, 'NotFound')) throw error;
        }
      });
    }
  }

  async #createPods(ordinals: readonly number[], { etcdPods }: Observed): Promise<undefined> {
    const { client, writes, image } = this.#world;
    const { signal } = this.#options;
    const action = podActions[this.#state.phase]!;
    const set = await this.#world.etcdSet(this.#object);
    for (const ordinal of ordinals) {
      if (action === 'restore') await this.#ensureClaim(set, ordinal);
      // A volume can be used by several pods only on one node.
      const nodeName = etcdPods.get(`${workloadName({ name: this.#name }, 'etcd')}-${ordinal}`)?.spec?.nodeName;
      const pod = restorePod({
        object: this.#object,
        set,
        name: this.#name,
        state: this.#state,
        action,
        ordinal,
        image,
        nodeName: action === 'clean' ? nodeName : undefined,
      });
      await writes.make(`restore-pod-${action}`, () => unlessExists(client.create(Pod, pod, { signal })));
    }
  }

  async #ensureClaim(set: StatefulSet, ordinal: number): Promise<void> {
    const { client, apiReader, writes } = this.#world;
    const { signal } = this.#options;
    const key = { namespace: this.#namespace, name: claimName(set, ordinal) };
    if (await find(apiReader, PersistentVolumeClaim, key, { signal })) return;
    const claim = memberClaim(set, this.#object, ordinal);
    await writes.make('restore-claim', () => unlessExists(client.create(PersistentVolumeClaim, claim, { signal })));
  }

  /** Counts the failures, so that a restore that cannot succeed ends. */
  async #removeFailed(ordinals: readonly number[], { pods }: Observed): Promise<string> {
    const action = podActions[this.#state.phase]!;
    const failed = ordinals.flatMap((ordinal) => pods.get(podName(this.#name, action, ordinal)) ?? []);
    const isOwn = (pod: Pod): boolean => pod.metadata.annotations?.[annotations.restore] === this.#state.uid;
    const failures = this.#state.failures + failed.filter(isOwn).length;
    const reasons = failed.flatMap((pod) => failureOf(pod) ?? []);
    await this.#write('failures', this.#annotation({ failures }));
    await this.#deletePods(failed);
    return `a pod failed and is created again: ${reasons.join('; ')}`;
  }

  /** Deletes the pods of earlier phases. */
  async #removeOthers({ pods }: Observed): Promise<string> {
    const action = podActions[this.#state.phase]!;
    const current = new Set(
      Array.from({ length: this.#members }, (_, ordinal) => podName(this.#name, action, ordinal)),
    );
    const others = [...pods.values()].filter((pod) => !current.has(pod.metadata.name!));
    await this.#deletePods(others.filter((pod) => !isBeingDeleted(pod)));
    return `waiting for ${others.length} earlier pods to terminate`;
  }

  async #send(ordinals: readonly number[], { pods }: Observed): Promise<string> {
    const { client } = this.#world;
    const { signal, uid } = this.#options;
    const credentials = await credentialsOf({ namespace: this.#namespace, name: this.#name }, client, signal);
    if (!credentials) throw new TargetError('NotReady', 'the client certificate of etcd does not exist');
    const { snapshot } = await this.#world.spools.get(this.#options);
    const { bytes, sha256 } = this.#state.snapshot;
    const failures: string[] = [];
    for (const ordinal of ordinals) {
      const pod = pods.get(podName(this.#name, 'restore', ordinal))!;
      try {
        await sendSnapshot({
          host: pod.status!.podIP!,
          port: etcdClientPort,
          tls: credentials,
          serverName: memberHost(this.#name, this.#namespace, ordinal),
          head: { restore: uid, bytes, sha256 },
          content: snapshot.read(),
          signal,
        });
      } catch (error) {
        // The pod has stopped to receive, or fails: its status reports it soon.
        if (!(error instanceof TransferError)) throw error;
        failures.push(error.message);
      }
    }
    return failures[0] ?? 'the members received the snapshot';
  }

  /** Compares all keys of the running etcd with the backup. */
  async #compare(seen: Observed): Promise<string | undefined> {
    const etcd = { namespace: this.#namespace, name: this.#name, replicas: this.#members };
    const content = await this.#world.contentOf(etcd, this.#options.signal);
    if (!content) return 'waiting for the addresses of the members of etcd';
    const { contentDigest, entries } = this.#state.snapshot;
    const isEqual = content.contentDigest === contentDigest && content.objects === entries;
    return this.#act(nextAction(this.#state, { ...seen.observation, isEqual }), seen);
  }

  async #go({ phase, fault }: Extract<RestoreAction, { type: 'go' }>, { pods }: Observed): Promise<undefined> {
    if (phase === 'Starting') await this.#forgetWorkload();
    if (phase === 'Activating' || phase === 'Reverting') await this.#world.spools.drop(this.#state.uid);
    await this.#write(`phase-${phase.toLowerCase()}`, this.#annotation({ phase, failures: 0, fault }));
    await this.#deletePods([...pods.values()]);
  }

  /** The objects inside the control plane are those of the backup, so they are applied again. */
  async #forgetWorkload(): Promise<void> {
    const { client, writes } = this.#world;
    const key = { namespace: this.#namespace, name: adminKubeconfigName({ name: this.#name }) };
    const body = { metadata: { annotations: { [annotations.workload]: null } } };
    await writes.make('restore-workload', async () => {
      try {
        await client.patch(Secret, key, { type: 'merge', body }, { signal: this.#options.signal });
      } catch (error) {
        if (!hasCode(error, 'NotFound')) throw error;
      }
    });
  }

  async #complete({ pods }: Observed): Promise<undefined> {
    const { uid, fault, snapshot, bumpRevision } = this.#state;
    const { entries, contentDigest } = snapshot;
    const revision = snapshot.revision + bumpRevision;
    const result: RestoreResult = { uid, revision, entries, contentDigest, ...(fault === undefined ? {} : { fault }) };
    await this.#deletePods([...pods.values()]);
    await this.#world.spools.drop(uid);
    await this.#write('complete', { [annotations.restore]: null, [annotations.restored]: JSON.stringify(result) });
  }

  #annotation(change: Partial<RestoreState>): Record<string, string> {
    const since = change.phase === undefined ? this.#state.since : new Date(this.#world.clock.now()).toISOString();
    return { [annotations.restore]: JSON.stringify({ ...this.#state, since, ...change }) };
  }

  async #write(name: string, changes: Readonly<Record<string, string | null>>): Promise<void> {
    const { uid, resourceVersion } = this.#object.metadata;
    const body = { metadata: { uid, resourceVersion, annotations: changes } };
    const { client, writes } = this.#world;
    const { signal } = this.#options;
    await writes.make(`restore-${name}`, () =>
      client.patch(HostedControlPlane, keyOf(this.#object), { type: 'merge', body }, { signal }),
    );
  }

  async #deletePods(pods: readonly Pod[]): Promise<void> {
    const { client, writes } = this.#world;
    for (const { metadata } of pods) {
      const preconditions = { uid: metadata.uid! };
      const key = { namespace: this.#namespace, name: metadata.name! };
      await writes.make('restore-delete-pod', async () => {
        try {
          await client.delete(Pod, key, { preconditions, signal: this.#options.signal });
        } catch (error) {
          if (!hasCode(error, 'NotFound') && !hasCode(error, 'Conflict')) throw error;
        }
      });
    }
  }
}

/** An earlier attempt created the object. */
async function unlessExists(creation: Promise<unknown>): Promise<void> {
  try {
    await creation;
  } catch (error) {
    if (!hasCode(error, 'AlreadyExists')) throw error;
  }
}

function failureOf({ metadata, status }: Pod): string | undefined {
  const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  for (const { name, state } of all) {
    const { exitCode = 0, message = '', reason = '' } = state?.terminated ?? {};
    const lines = message.trim().split('\n');
    if (exitCode !== 0) return `container ${name} of Pod ${JSON.stringify(metadata.name)}: ${lines.at(-1) || reason}`;
  }
  return status?.message ?? status?.reason;
}
