/**
 * The ConfigMap with the start settings of etcd members. A running member does not read it; a container reads it at its start, so a change
 * restarts nothing.
 *
 * etcd uses these settings only with an empty data directory. A member that lost its data must not start again under its old identity:
 * it could vote although it forgot what it had acknowledged. So the settings name the member that may start with an empty directory, and
 * normally no member may:
 *
 *     bootstrap   new        demo-etcd-0=…,demo-etcd-1=…,demo-etcd-2=…   all members, until all of them are ready for the first time
 *     closed      existing   closed=https://closed.invalid:2380          no member: etcd refuses with `couldn't find local name`
 *     joining     existing   demo-etcd-1=…,other-0=…,other-1=…           one learner. etcd compares the peer URLs of the others, not their names
 *     recovering  existing   as closed, and ETCD_FORCE_NEW_CLUSTER       the only pod makes itself the only member
 */

import type { ConfigMap } from '@hangar/client/kinds/core-v1';
import { etcdMembers, etcdPeerPort, etcdPeerServiceName } from '../render/index.ts';
import type { Plane } from '../render/index.ts';

type Named = Pick<Plane, 'name' | 'namespace'>;

export type MembershipPhase = 'bootstrap' | 'closed' | 'joining' | 'recovering';

export interface Membership {
  readonly phase: MembershipPhase;
  /** Number of pods. */
  readonly replicas: number;
  /** Ordinal of the first pod. Not 0 only after a recovery, until the earlier members have joined again. */
  readonly firstOrdinal: number;
  /** Name of the pod that joins or recovers. */
  readonly pod?: string | undefined;
  /** The claim of that pod (joining) or the pod itself (recovering) that must be replaced first, as its UID. */
  readonly replaces?: string | undefined;
  /** Peer URLs of all members when the pod joins. */
  readonly peerUrls?: readonly string[] | undefined;
  /** Number of recoveries. API servers restart after one, because revisions can have gone back. */
  readonly recoveries: number;
}

const closedCluster = 'closed=https://closed.invalid:2380';

export const peerUrlOf = (host: string): string => `https://${host}:${etcdPeerPort}`;

export function membershipData(plane: Named, membership: Membership): Record<string, string> {
  const { phase, replicas, firstOrdinal, pod, replaces, peerUrls, recoveries } = membership;
  return {
    ETCD_INITIAL_CLUSTER: initialCluster(plane, membership),
    ETCD_INITIAL_CLUSTER_STATE: phase === 'bootstrap' ? 'new' : 'existing',
    ETCD_FORCE_NEW_CLUSTER: String(phase === 'recovering'),
    phase,
    replicas: String(replicas),
    firstOrdinal: String(firstOrdinal),
    recoveries: String(recoveries),
    ...(pod === undefined ? {} : { pod }),
    ...(replaces === undefined ? {} : { replaces }),
    ...(peerUrls === undefined ? {} : { peerUrls: peerUrls.join(',') }),
  };
}

function initialCluster(plane: Named, { phase, replicas, pod, peerUrls = [] }: Membership): string {
  if (phase === 'bootstrap') {
    return Array.from(etcdMembers(plane, replicas), ([name, host]) => `${name}=${peerUrlOf(host)}`).join(',');
  }
  if (phase !== 'joining') return closedCluster;
  const own = peerUrlOfPod(plane, pod!);
  const others = peerUrls.filter((url) => url !== own);
  return [`${pod}=${own}`, ...others.map((url, at) => `other-${at}=${url}`)].join(',');
}

/** Returns undefined if a user changed the content to something else. */
export function readMembership({ data = {} }: ConfigMap): Membership | undefined {
  const { phase = '', replicas = '', firstOrdinal = '', recoveries = '', pod, replaces, peerUrls } = data;
  const numbers = [replicas, firstOrdinal, recoveries];
  if (!isPhase(phase) || !numbers.every((one) => /^\d{1,6}$/.test(one)) || Number(replicas) < 1) return undefined;
  if ((phase === 'joining' || phase === 'recovering') && pod === undefined) return undefined;
  return {
    phase,
    replicas: Number(replicas),
    firstOrdinal: Number(firstOrdinal),
    recoveries: Number(recoveries),
    pod,
    replaces,
    peerUrls: peerUrls === undefined ? undefined : peerUrls.split(','),
  };
}

const isPhase = (text: string): text is MembershipPhase =>
  ['bootstrap', 'closed', 'joining', 'recovering'].includes(text);

export const bootstrapMembership = (replicas: number): Membership => ({
  phase: 'bootstrap',
  replicas,
  firstOrdinal: 0,
  recoveries: 0,
});

/** The same pods, and no member that may start with an empty data directory. */
export const closedMembership = ({ replicas, firstOrdinal, recoveries }: Membership): Membership => ({
  phase: 'closed',
  replicas,
  firstOrdinal,
  recoveries,
});

export const peerUrlOfPod = (plane: Named, pod: string): string =>
  peerUrlOf(`${pod}.${etcdPeerServiceName(plane)}.${plane.namespace}.svc`);
