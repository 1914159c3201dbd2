/**
 * One round for the etcd cluster of a control plane: observes it, and runs at most one action. The connections to its members are open during
 * the round only.
 */

import { find } from '@hangar/client';
import type { Client, Reader } from '@hangar/client';
import { StatefulSet } from '@hangar/client/kinds/apps-v1';
import { ConfigMap, PersistentVolumeClaim, Pod } from '@hangar/client/kinds/core-v1';
import { systemRandom } from '@hangar/core';
import type { Clock } from '@hangar/core';
import type { EtcdMaintenance, Member } from '@hangar/store/etcd-maintenance';
import { clusterNameLabel } from '../api/index.ts';
import { componentLabel, etcdMembers, etcdMembershipName, etcdMembersMax, workloadName } from '../render/index.ts';
import { credentialsOf, openMember, operatorCredentialsOf, unlessUnavailable } from './connection.ts';
import type { Credentials, MemberAddress } from './connection.ts';
import { peerUrlOf, readMembership } from './membership.ts';
import type { Membership } from './membership.ts';
import { isCalm } from './observation.ts';
import type { EtcdObservation, MemberObservation, SetState } from './observation.ts';
import type { Action } from './plan.ts';
import { claimStateOf, podStateOf } from './pod-state.ts';
import { runAction } from './actions/index.ts';
import type { SpaceSettings } from './space/plan-space.ts';

/** The etcd of one control plane. */
export interface EtcdTarget {
  readonly namespace: string;
  /** Prefix of the names of all objects. */
  readonly name: string;
  /** Name of the HostedControlPlane. */
  readonly hostedControlPlane: string;
  /** Number of members in the spec. */
  readonly desired: number;
  /** The pod that a user requested to recover from. */
  readonly recoverFrom?: string | undefined;
  readonly space: SpaceSettings;
  /** The user of API servers can only read. */
  readonly isFenced?: boolean | undefined;
}

export interface SessionContext {
  /** Reads from the cache. */
  readonly client: Client;
  readonly apiReader: Reader;
  readonly signal: AbortSignal;
}

export interface EtcdSession {
  /** Undefined: the StatefulSet does not exist yet. */
  observe(): Promise<EtcdObservation | undefined>;
  /** Returns false if the action had no effect yet, for example because a learner has not caught up. */
  run(action: Action, observation: EtcdObservation): Promise<boolean>;
  close(): void;
}

export type OpenSession = (target: EtcdTarget, context: SessionContext) => EtcdSession;

/** `service`: members are reached by their names in the cluster. `endpoint`: by the addresses of their pods. */
export const openSession =
  (reach: 'service' | 'endpoint', clock: Clock): OpenSession =>
  (target, context) =>
    new Session(target, context, reach, clock);

class Session implements EtcdSession {
  readonly #target: EtcdTarget;
  readonly #context: SessionContext;
  readonly #reach: 'service' | 'endpoint';
  readonly #clock: Clock;
  readonly #opened = new Map<string, EtcdMaintenance>();

  constructor(target: EtcdTarget, context: SessionContext, reach: 'service' | 'endpoint', clock: Clock) {
    this.#target = target;
    this.#context = context;
    this.#reach = reach;
    this.#clock = clock;
  }

  async observe(): Promise<EtcdObservation | undefined> {
    const { client, signal } = this.#context;
    const { namespace } = this.#target;
    const name = workloadName(this.#target, 'etcd');
    const set = await find(client, StatefulSet, { namespace, name }, { signal });
    const map = await find(client, ConfigMap, { namespace, name: etcdMembershipName(this.#target) }, { signal });
    const membership = map && readMembership(map);
    const world = { clock: this.#clock, random: systemRandom, signal };
    const credentials = this.#target.isFenced
      ? await operatorCredentialsOf(this.#target, client, world)
      : await credentialsOf(this.#target, client, signal);
    if (!set || !membership || !credentials) return undefined;
    await this.#open(membership, credentials);
    const quick = await this.#observe(set, membership);
    return isCalm(quick) ? quick : this.#withDetails(quick, set);
  }

  run(action: Action, observation: EtcdObservation): Promise<boolean> {
    const { client, signal } = this.#context;
    return runAction(action, {
      target: this.#target,
      observation,
      client,
      clock: this.#clock,
      signal,
      members: this.#opened,
    });
  }

  close(): void {
    for (const one of this.#opened.values()) one.close();
  }

  async #open(membership: Membership, credentials: Credentials): Promise<void> {
    for (const address of await this.#addresses(membership)) {
      this.#opened.set(address.pod, openMember(address, credentials));
    }
  }

  async #addresses({ firstOrdinal, replicas }: Membership): Promise<MemberAddress[]> {
    const names = [...etcdMembers(this.#target, firstOrdinal + replicas)].slice(firstOrdinal);
    const all = names.map(([pod, host]) => ({ pod, host, serverName: host }));
    if (this.#reach === 'service') return all;
    const addresses = new Map((await this.#pods()).map(({ metadata, status }) => [metadata.name!, status?.podIP]));
    return all.flatMap((member) => {
      const host = addresses.get(member.pod);
      return host ? [{ ...member, host }] : [];
    });
  }

  async #pods(): Promise<readonly Pod[]> {
    const { apiReader, signal } = this.#context;
    const { namespace, name } = this.#target;
    const labelSelector = { [clusterNameLabel]: name, [componentLabel]: 'etcd' };
    return (await apiReader.list(Pod, { namespace, labelSelector, signal })).items;
  }

  /** Without pods and claims. */
  async #observe(set: StatefulSet, membership: Membership): Promise<EtcdObservation> {
    const { desired, recoverFrom } = this.#target;
    const statuses = new Map(
      await Promise.all(
        Array.from(this.#opened, async ([pod, etcd]) => [pod, await unlessUnavailable(() => etcd.status())] as const),
      ),
    );
    const withLeader = [...this.#opened].filter(([pod]) => statuses.get(pod)?.leader !== undefined);
    const { listed, alarms } = await this.#agreed(withLeader.map(([, etcd]) => etcd));
    const byUrl = new Map(listed?.flatMap((member) => member.peerUrls.map((url) => [url, member] as const)));
    const members = Array.from(
      etcdMembers(this.#target, etcdMembersMax),
      ([pod, host], ordinal): MemberObservation => ({
        pod,
        ordinal,
        peerUrl: peerUrlOf(host),
        member: byUrl.get(peerUrlOf(host)),
        status: statuses.get(pod),
      }),
    );
    const count = Math.max(
      desired,
      membership.firstOrdinal + membership.replicas,
      ...members.flatMap(({ member, ordinal }) => (member ? [ordinal + 1] : [])),
    );
    return {
      desired,
      membership,
      set: setStateOf(set),
      isDetailed: false,
      listed,
      alarms,
      members: members.slice(0, count),
      recoverFrom,
    };
  }

  /** Queries members with a leader one after another: one of them can be slow. */
  async #agreed(members: readonly EtcdMaintenance[]): Promise<Pick<EtcdObservation, 'listed' | 'alarms'>> {
    for (const etcd of members) {
      const answer = await unlessUnavailable(async (): Promise<[readonly Member[], EtcdObservation['alarms']]> => [
        await etcd.members(),
        await etcd.alarms(),
      ]);
      if (answer) return { listed: answer[0], alarms: answer[1] };
    }
    return { listed: undefined, alarms: [] };
  }

  async #withDetails(quick: EtcdObservation, set: StatefulSet): Promise<EtcdObservation> {
    const { apiReader, signal } = this.#context;
    const { namespace } = this.#target;
    const nowMs = this.#clock.now();
    const pods = new Map((await this.#pods()).map((pod) => [pod.metadata.name!, pod]));
    const members = await Promise.all(
      quick.members.map(async (one) => {
        const pod = pods.get(one.pod);
        const claim = await find(apiReader, PersistentVolumeClaim, { namespace, name: `data-${one.pod}` }, { signal });
        return {
          ...one,
          podState: pod && podStateOf(pod, set.status?.updateRevision, nowMs),
          claim: claim && claimStateOf(claim),
        };
      }),
    );
    return { ...quick, members, isDetailed: true };
  }
}

function setStateOf({ metadata, spec, status }: StatefulSet): SetState {
  const replicas = spec?.replicas ?? 1;
  const { readyReplicas: ready = 0, updatedReplicas = 0, observedGeneration = 0 } = status ?? {};
  const isObserved = observedGeneration >= (metadata.generation ?? 0);
  return {
    replicas,
    firstOrdinal: spec?.ordinals?.start ?? 0,
    ready,
    isObserved,
    isComplete: isObserved && ready === replicas && updatedReplicas === replicas,
  };
}
