/** The pods of a restore: one for each member and action, with the volume and the certificates of the member. */

import type { Container, PersistentVolumeClaim, Pod, Volume } from '@hangar/client/kinds/core-v1';
import type { StatefulSet } from '@hangar/client/kinds/apps-v1';
import { ownerReference } from '@hangar/runtime';
import { annotations, clusterNameLabel } from '../api/index.ts';
import type { HostedControlPlane } from '../api/index.ts';
import { componentLabel, etcdClientPort, etcdMembers } from '../render/index.ts';
import { restoredDataFolder, snapshotPath } from './member-volume.ts';
import type { PodAction } from './plan.ts';
import type { RestoreState } from './state.ts';

/** Label of the pods, instead of that of etcd: they are not members. */
export const restoreComponent = 'etcd-restore';
export const receiveContainer = 'receive';
/** A pod that does not finish is replaced. */
const deadlineSeconds = 3_600;
const dataFolder = '/var/lib/etcd';
const pkiFolder = '/etc/kubernetes/pki';

export interface RestorePodOptions {
  readonly object: HostedControlPlane;
  /** The rendered StatefulSet of etcd. */
  readonly set: StatefulSet;
  /** Prefix of the names of all objects. */
  readonly name: string;
  readonly state: RestoreState;
  readonly action: PodAction;
  readonly ordinal: number;
  /** Image with the program `hangar`. */
  readonly image: string;
  /** The node of the member. Absent: any. */
  readonly nodeName?: string | undefined;
}

export const podName = (name: string, action: PodAction, ordinal: number): string =>
  `${name}-etcd-${action}-${ordinal}`;

export const claimName = ({ metadata }: StatefulSet, ordinal: number): string => `data-${metadata.name}-${ordinal}`;

/** The host name of a member, which its certificate is valid for. */
export const memberHost = (name: string, namespace: string, ordinal: number): string => {
  const members = [...etcdMembers({ name, namespace }, ordinal + 1).values()];
  return members[ordinal]!;
};

export function restorePod(options: RestorePodOptions): Pod {
  const { object, set, name, state, action, ordinal, nodeName } = options;
  const { namespace } = object.metadata;
  const { initContainers: _, containers, volumes = [], affinity: __, ...spec } = set.spec!.template.spec!;
  const labels = { [clusterNameLabel]: name, [componentLabel]: restoreComponent };
  const steps = action === 'restore' ? restoreSteps(options, containers[0]!) : [hangar(options, action)];
  const data: Volume = { name: 'data', persistentVolumeClaim: { claimName: claimName(set, ordinal) } };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace,
      name: podName(name, action, ordinal),
      labels,
      annotations: { [annotations.restore]: state.uid },
      ownerReferences: [ownerReference(object)],
    },
    spec: {
      ...spec,
      restartPolicy: 'Never',
      activeDeadlineSeconds: deadlineSeconds,
      topologySpreadConstraints: [
        {
          maxSkew: 1,
          topologyKey: 'kubernetes.io/hostname',
          whenUnsatisfiable: 'ScheduleAnyway',
          labelSelector: { matchLabels: labels },
        },
      ],
      ...(nodeName === undefined ? {} : { nodeName }),
      initContainers: steps.slice(0, -1),
      containers: steps.slice(-1),
      volumes: [...volumes, data],
    },
  } as Pod;
}

/** receive → etcdutl → verify. */
function restoreSteps(options: RestorePodOptions, etcd: Container): Container[] {
  const { object, name, state, ordinal } = options;
  const { namespace = '' } = object.metadata;
  const volume = { folder: dataFolder, restore: state.uid };
  const members = [...etcdMembers({ name, namespace }, state.members)];
  const [pod, host] = members[ordinal]!;
  const cluster = members.map(([member, peer]) => `${member}=https://${peer}:2380`).join(',');
  const { contentDigest, entries, revision } = state.snapshot;
  const pki = { name: 'pki', mountPath: pkiFolder, readOnly: true };
  const receive = hangar(options, 'receive', [
    `--listen=0.0.0.0:${etcdClientPort}`,
    `--cert-file=${pkiFolder}/server.crt`,
    `--key-file=${pkiFolder}/server.key`,
    `--trusted-ca-file=${pkiFolder}/ca.crt`,
  ]);
  const ports = [{ name: 'client', containerPort: etcdClientPort, protocol: 'TCP' as const }];
  return [
    { ...receive, name: receiveContainer, ports, volumeMounts: [...receive.volumeMounts!, pki] },
    {
      ...base(options, 'etcdutl'),
      image: etcd.image!,
      command: ['etcdutl'],
      args: [
        'snapshot',
        'restore',
        snapshotPath(volume),
        `--data-dir=${restoredDataFolder(volume)}`,
        `--name=${pod}`,
        `--initial-cluster=${cluster}`,
        `--initial-cluster-token=${namespace}-${name}-${state.uid}`,
        `--initial-advertise-peer-urls=https://${host}:2380`,
        ...(state.isReplica ? [] : [`--bump-revision=${state.bumpRevision}`, '--mark-compacted']),
      ],
    },
    hangar(options, 'verify', [
      `--digest=${contentDigest}`,
      `--entries=${entries}`,
      `--revision=${revision + state.bumpRevision}`,
    ]),
  ];
}

const base = ({ set }: RestorePodOptions, name: string): Container => {
  const { imagePullPolicy, securityContext } = set.spec!.template.spec!.containers[0]!;
  return {
    name,
    ...(imagePullPolicy === undefined ? {} : { imagePullPolicy }),
    ...(securityContext === undefined ? {} : { securityContext }),
    resources: { requests: { cpu: '50m', memory: '128Mi' } },
    volumeMounts: [{ name: 'data', mountPath: dataFolder }],
    terminationMessagePolicy: 'FallbackToLogsOnError',
  };
};

const hangar = (options: RestorePodOptions, command: string, args: readonly string[] = []): Container => ({
  ...base(options, command),
  image: options.image,
  command: ['hangar'],
  args: ['etcd', command, `--folder=${dataFolder}`, `--restore=${options.state.uid}`, ...args],
});

/** The claim of a member of a new control plane, as the StatefulSet would create it. */
export function memberClaim(set: StatefulSet, object: HostedControlPlane, ordinal: number): PersistentVolumeClaim {
  const [template] = set.spec!.volumeClaimTemplates!;
  const { namespace = '' } = object.metadata;
  return {
    ...template!,
    metadata: {
      namespace,
      name: claimName(set, ordinal),
      labels: { ...set.spec!.selector.matchLabels },
      ownerReferences: [ownerReference(object)],
    },
  };
}
