/** The next action of a restore, from its state and the observed objects. Pure, so that every order of events can be tested. */

import type { RestorePhase, RestoreState } from './state.ts';

/** The pods of a member. `clean` runs beside etcd, the others while it is stopped. */
export type PodAction = 'restore' | 'activate' | 'revert' | 'clean';

/** `receiving`: the pod waits for the snapshot. */
export type PodProgress = 'absent' | 'pending' | 'receiving' | 'running' | 'succeeded' | 'failed' | 'terminating';

export interface WorkloadState {
  /** Desired number of pods. Undefined: the workload does not exist. */
  readonly replicas: number | undefined;
  /** Existing pods, also those that terminate. */
  readonly pods: number;
}

export interface RestoreObservation {
  readonly controllers: WorkloadState;
  readonly apiServers: WorkloadState;
  readonly etcd: WorkloadState;
  /** Whether the reconciler reported that it holds etcd. Before, it could scale workloads up again. The certificates of etcd exist then. */
  readonly isHeld: boolean;
  /** By ordinal, for the action of the phase. */
  readonly pods: readonly PodProgress[];
  /** Number of pods of other actions, which must be gone before a volume is used. */
  readonly otherPods: number;
  readonly isEtcdReady: boolean;
  /** Of the content of the running etcd. Undefined: not compared yet. */
  readonly isEqual: boolean | undefined;
  readonly isPlaneReady: boolean;
  readonly nowMs: number;
}

export type RestoreAction =
  | { readonly type: 'prepare' }
  | { readonly type: 'wait'; readonly message: string }
  | { readonly type: 'scale-down'; readonly what: 'controllers' | 'api-servers' | 'etcd' }
  | { readonly type: 'create-pods'; readonly ordinals: readonly number[] }
  | { readonly type: 'send'; readonly ordinals: readonly number[] }
  | { readonly type: 'remove-failed'; readonly ordinals: readonly number[] }
  | { readonly type: 'remove-others' }
  | { readonly type: 'compare' }
  | { readonly type: 'go'; readonly phase: RestorePhase; readonly fault?: string }
  | { readonly type: 'complete' };

/** The action of the pods of a phase. */
export const podActions: Partial<Readonly<Record<RestorePhase, PodAction>>> = {
  Restoring: 'restore',
  Activating: 'activate',
  Reverting: 'revert',
  Cleaning: 'clean',
};

/** A failed pod is created again this many times before the old data is used again. */
const failuresMax = 3;
/** Time in which etcd must start with the restored data. */
const startLimitMs = 10 * 60_000;

export function nextAction(state: RestoreState, seen: RestoreObservation): RestoreAction {
  switch (state.phase) {
    case 'Preparing':
      return { type: 'prepare' };
    case 'Stopping':
      return stop(seen) ?? { type: 'go', phase: 'Restoring' };
    case 'Restoring':
      return restore(state, seen);
    case 'Activating':
      return activate(state, seen);
    case 'Checking':
      return check(state, seen);
    case 'Starting':
      if (!seen.isPlaneReady) return wait('waiting for the API servers');
      return state.isNew ? { type: 'complete' } : { type: 'go', phase: 'Cleaning' };
    case 'Cleaning':
      return podsOf('clean', seen) ?? { type: 'complete' };
    case 'Reverting':
      return stop(seen) ?? podsOf('revert', seen) ?? { type: 'complete' };
  }
}

/** Controllers write through API servers, and these write to etcd: each stage waits until the pods of the previous one are gone. */
function stop({ isHeld, controllers, apiServers, etcd }: RestoreObservation): RestoreAction | undefined {
  if (!isHeld) return wait('waiting for the operator to hold the control plane');
  const stages = [
    ['controllers', controllers],
    ['api-servers', apiServers],
    ['etcd', etcd],
  ] as const;
  for (const [what, { replicas, pods }] of stages) {
    if ((replicas ?? 0) > 0) return { type: 'scale-down', what };
    if (pods > 0) return wait(`waiting for ${pods} pods of ${what} to terminate`);
  }
  return undefined;
}

function restore(state: RestoreState, seen: RestoreObservation): RestoreAction {
  if (seen.pods.includes('failed') && state.failures >= failuresMax) {
    return revert(state, 'the snapshot could not be restored on the volumes of etcd');
  }
  return podsOf('restore', seen) ?? { type: 'go', phase: 'Activating' };
}

function activate(state: RestoreState, seen: RestoreObservation): RestoreAction {
  if (seen.pods.includes('failed') && state.failures >= failuresMax) {
    return revert(state, 'the restored data could not be put in place on the volumes of etcd');
  }
  return podsOf('activate', seen) ?? { type: 'go', phase: 'Checking' };
}

function check(state: RestoreState, seen: RestoreObservation): RestoreAction {
  if (seen.isEqual === true) return state.isReplica ? { type: 'complete' } : { type: 'go', phase: 'Starting' };
  if (seen.isEqual === false) return revert(state, 'the content of etcd differs from the backup');
  if (seen.isEtcdReady) return { type: 'compare' };
  if (seen.nowMs - Date.parse(state.since) > startLimitMs)
    return revert(state, 'etcd did not start with the restored data');
  return wait('waiting for the members of etcd');
}

/** A new control plane has no data to go back to. */
const revert = ({ isNew }: RestoreState, fault: string): RestoreAction =>
  isNew ? wait(`${fault}: delete the control plane`) : { type: 'go', phase: 'Reverting', fault };

/** Undefined: the pods of all members succeeded. */
function podsOf(action: PodAction, { pods, otherPods }: RestoreObservation): RestoreAction | undefined {
  // An operator can end between the change of the phase and the deletion of the pods of the last one.
  if (otherPods > 0) return { type: 'remove-others' };
  const having = (progress: PodProgress): number[] =>
    pods.flatMap((one, ordinal) => (one === progress ? [ordinal] : []));
  const [failed, absent, receiving] = [having('failed'), having('absent'), having('receiving')];
  if (failed.length > 0) return { type: 'remove-failed', ordinals: failed };
  if (absent.length > 0) return { type: 'create-pods', ordinals: absent };
  if (receiving.length > 0) return { type: 'send', ordinals: receiving };
  const done = having('succeeded').length;
  return done === pods.length ? undefined : wait(`${done} of ${pods.length} pods of action ${action} have succeeded`);
}

const wait = (message: string): RestoreAction => ({ type: 'wait', message });
