/**
 * A model of an etcd cluster in a StatefulSet, as far as `plan.ts` sees and changes it. A test injects faults, runs the planned actions, and
 * checks that the quorum and the data stay.
 */

import assert from 'node:assert/strict';
import type { MemberId } from '@hangar/store/etcd-maintenance';
import { bootstrapMembership, closedMembership } from '../membership.ts';
import type { Membership } from '../membership.ts';
import { quorumOf } from '../observation.ts';
import type { EtcdObservation, MemberObservation } from '../observation.ts';
import type { Action } from '../plan.ts';
import { listedMember, notMember, podName, statusOf } from './observations.ts';

interface ModelMember {
  readonly id: MemberId;
  readonly ordinal: number;
  isLearner: boolean;
  isStarted: boolean;
}

interface ModelPod {
  uid: string;
  revision: number;
  /** A pod that starts runs in the next step. */
  isStarting: boolean;
}

interface ModelClaim {
  uid: string;
  /** The member whose data it has. */
  data: MemberId | 'damaged' | undefined;
}

export class ClusterModel {
  desired = 3;
  revision = 1;
  membership: Membership;
  readonly members: ModelMember[] = [];
  readonly #pods = new Map<number, ModelPod>();
  readonly #claims = new Map<number, ModelClaim>();
  #count = 0;
  #leader: MemberId | undefined;

  constructor(desired: number) {
    this.desired = desired;
    this.membership = closedMembership(bootstrapMembership(desired));
    for (let ordinal = 0; ordinal < desired; ordinal++) {
      const id = this.#uid('a') as MemberId;
      this.members.push({ id, ordinal, isLearner: false, isStarted: true });
      this.#claims.set(ordinal, { uid: this.#uid('claim'), data: id });
    }
    this.step();
    this.step();
  }

  /** The StatefulSet creates and deletes pods, and containers start. */
  step(): void {
    const { firstOrdinal, replicas } = this.membership;
    for (const ordinal of this.#pods.keys()) {
      if (ordinal < firstOrdinal || ordinal >= firstOrdinal + replicas) this.#pods.delete(ordinal);
    }
    for (const pod of this.#pods.values()) pod.isStarting = false;
    for (let ordinal = firstOrdinal; ordinal < firstOrdinal + replicas; ordinal++) {
      if (!this.#claims.has(ordinal)) this.#claims.set(ordinal, { uid: this.#uid('claim'), data: undefined });
      if (!this.#pods.has(ordinal)) {
        this.#pods.set(ordinal, { uid: this.#uid('pod'), revision: this.revision, isStarting: true });
      }
      this.#start(ordinal);
    }
    const healthy = this.healthyVoters();
    if (!healthy.some(({ id }) => id === this.#leader)) this.#leader = healthy[0]?.id;
  }

  /** A container with an empty data directory starts only if the settings allow it. */
  #start(ordinal: number): void {
    const claim = this.#claims.get(ordinal)!;
    if (claim.data !== undefined || this.#pods.get(ordinal)!.isStarting) return;
    const member = this.members.find((one) => one.ordinal === ordinal);
    if (this.membership.phase !== 'joining' || this.membership.pod !== podName(ordinal) || !member) return;
    assert.ok(member.isLearner && !member.isStarted, 'a member with a vote started with an empty data directory');
    claim.data = member.id;
    member.isStarted = true;
  }

  isRunning({ id, ordinal }: ModelMember): boolean {
    const pod = this.#pods.get(ordinal);
    return pod !== undefined && !pod.isStarting && this.#claims.get(ordinal)?.data === id;
  }

  get voters(): ModelMember[] {
    return this.members.filter(({ isLearner }) => !isLearner);
  }

  healthyVoters(): ModelMember[] {
    return this.voters.filter((one) => this.isRunning(one));
  }

  hasQuorum(): boolean {
    return this.healthyVoters().length >= quorumOf(this.voters.length);
  }

  /** All pods have the current template, and all members are voters with data. */
  isSettled(): boolean {
    const isCurrent = [...this.#pods.values()].every(({ revision }) => revision === this.revision);
    const isComplete = this.members.length === this.desired && this.healthyVoters().length === this.desired;
    const { phase, replicas, firstOrdinal } = this.membership;
    return isCurrent && isComplete && phase === 'closed' && replicas === this.desired && firstOrdinal === 0;
  }

  /** Faults: the data of a member is deleted or damaged, or its pod restarts. */
  lose(ordinal: number, how: 'wipe' | 'damage' | 'delete' | 'restart'): void {
    const claim = this.#claims.get(ordinal);
    if (how === 'wipe' && claim) claim.data = undefined;
    if (how === 'damage' && claim) claim.data = 'damaged';
    if (how === 'delete') this.#claims.delete(ordinal);
    this.#pods.delete(ordinal);
  }

  observe(): EtcdObservation {
    const { membership, desired } = this;
    const last = Math.max(
      desired,
      membership.firstOrdinal + membership.replicas,
      ...this.members.map((one) => one.ordinal + 1),
    );
    const members = Array.from({ length: last }, (_, ordinal) => this.#memberOf(ordinal));
    const ready = members.filter(({ podState }) => podState?.isReady).length;
    const isComplete =
      ready === membership.replicas && members.every(({ podState }) => !podState || podState.isUpToDate);
    const { replicas, firstOrdinal } = membership;
    return {
      desired,
      membership,
      set: { replicas, firstOrdinal, ready, isObserved: true, isComplete },
      isDetailed: true,
      listed: this.hasQuorum() ? members.flatMap(({ member }) => (member ? [member] : [])) : undefined,
      alarms: [],
      members: this.hasQuorum() ? members : members.map((one) => ({ ...one, member: undefined })),
    };
  }

  #memberOf(ordinal: number): MemberObservation {
    const [pod, claim] = [this.#pods.get(ordinal), this.#claims.get(ordinal)];
    const own = this.members.find((one) => one.ordinal === ordinal);
    const isRunning = own !== undefined && this.isRunning(own);
    const isReady = isRunning && this.hasQuorum();
    const hasLost = pod !== undefined && !pod.isStarting && !isRunning;
    const base = notMember(ordinal, {
      claim: claim && { uid: claim.uid, isLost: false, isTerminating: false },
      podState: pod && {
        uid: pod.uid,
        isReady,
        isCrashing: hasLost,
        isPending: false,
        dataLoss: hasLost ? (claim?.data === 'damaged' ? 'Corrupt' : 'Wiped') : undefined,
        isVolumeUnreachable: false,
        isUpToDate: pod.revision === this.revision,
      },
    });
    if (!own) return base;
    const { id, isLearner } = own;
    const member = listedMember(ordinal, { id, isLearner, ...(own.isStarted ? {} : { name: '' }) });
    return {
      ...base,
      member,
      status: isRunning ? statusOf(ordinal, { member: id, leader: this.#leader, isLearner }) : undefined,
    };
  }

  run(action: Action): void {
    const ordinal = 'pod' in action ? Number(action.pod.split('-').at(-1)) : -1;
    switch (action.type) {
      case 'setMembership':
        this.membership = action.membership;
        break;
      case 'releasePod':
        this.membership = action.membership;
        this.#claims.delete(ordinal);
        break;
      case 'removeMember':
        this.members.splice(
          this.members.findIndex(({ id }) => id === action.member),
          1,
        );
        break;
      case 'addLearner':
        this.members.push({ id: this.#uid('b') as MemberId, ordinal, isLearner: true, isStarted: false });
        break;
      case 'promote':
        this.members.find(({ id }) => id === action.member)!.isLearner = false;
        break;
      case 'moveLeader':
        this.#leader = action.to;
        break;
      case 'emptyVolume':
        this.#claims.delete(ordinal);
        this.#pods.delete(ordinal);
        break;
      case 'restartPod':
        this.#pods.delete(ordinal);
        break;
      case 'deleteClaim':
        this.#claims.delete(ordinal);
        break;
      default:
        assert.fail(`the model has no ${action.type}`);
    }
  }

  #uid(prefix: string): string {
    return `${prefix}${(this.#count++).toString(16).padStart(4, '0')}`;
  }
}
