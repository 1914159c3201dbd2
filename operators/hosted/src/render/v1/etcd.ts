/**
 * etcd: a StatefulSet whose members know each other by the names of a headless Service. The members that a pod joins come from a ConfigMap,
 * so that their list can change without a roll-out.
 */

import { StatefulSet } from '@hangar/client/kinds/apps-v1';
import { Service } from '@hangar/client/kinds/core-v1';
import { rendered } from '../contract.ts';
import type { Rendered } from '../contract.ts';
import { bytesIn } from '../volume-size.ts';
import { bundleName, certificateNames, etcdMembershipName, etcdPeerServiceName, workloadName } from '../names.ts';
import type { Plane } from '../plane.ts';
import { etcdTags, etcdVolumeSize, folders, ports } from './defaults.ts';
import { networkPolicies } from './network-policies.ts';
import { etcdQuotaBytes } from './quota.ts';
import {
  argumentsOf,
  containerOf,
  disruptionBudget,
  filesVolume,
  metadataOf,
  mountOf,
  podTemplate,
  selectorOf,
} from './workload.ts';

export const etcdReplicas = ({ spec }: Pick<Plane, 'spec'>): number => spec.etcd?.replicas ?? 3;

/** Returns the tag of the image that the spec requests. */
export function wantedEtcdTag({ spec, version }: Pick<Plane, 'spec' | 'version'>): string {
  const { image, version: own } = spec.etcd ?? {};
  return image?.tag ?? (own === undefined ? etcdTags[version.minor]! : own.includes('-') ? own : `${own}-0`);
}

/** Returns the size of the volumes. One that has grown does not shrink. */
export function etcdVolumeSizeOf({ spec, grownEtcdVolumeSize: grown }: Plane): string {
  const size = String(spec.etcd?.volumeSize ?? etcdVolumeSize);
  return grown !== undefined && bytesIn(grown) > bytesIn(size) ? grown : size;
}

/** Returns the size of the database at which etcd refuses writes. It derives from the volumes unless the user sets it. */
export function quotaOf(plane: Plane): number {
  const own = Number(plane.spec.etcd?.args?.[quotaArgument]);
  return own > 0 ? own : etcdQuotaBytes(bytesIn(plane.etcdCapacity ?? etcdVolumeSizeOf(plane)));
}

export const quotaArgument = 'quota-backend-bytes';

/** Keys of the ConfigMap that are environment variables of etcd. */
export const membershipVariables = [
  'ETCD_INITIAL_CLUSTER',
  'ETCD_INITIAL_CLUSTER_STATE',
  'ETCD_FORCE_NEW_CLUSTER',
] as const;

/** Arguments that the variables above replace. A user cannot set them either. */
export const membershipArguments = ['initial-cluster', 'initial-cluster-state', 'force-new-cluster'];

/** The arguments that users cannot set. */
export function reservedEtcdArguments(plane: Plane): Record<string, string> {
  const pki = folders.pki;
  const host = `$(POD_NAME).${etcdPeerServiceName(plane)}.${plane.namespace}.svc`;
  return {
    name: '$(POD_NAME)',
    'data-dir': folders.etcdData,
    'initial-cluster-token': `${plane.namespace}-${plane.name}`,
    'listen-client-urls': `https://0.0.0.0:${ports.etcdClient}`,
    'advertise-client-urls': `https://${host}:${ports.etcdClient}`,
    'listen-peer-urls': `https://0.0.0.0:${ports.etcdPeer}`,
    'initial-advertise-peer-urls': `https://${host}:${ports.etcdPeer}`,
    'listen-metrics-urls': `http://0.0.0.0:${ports.etcdMetrics}`,
    'client-cert-auth': 'true',
    'cert-file': `${pki}/server.crt`,
    'key-file': `${pki}/server.key`,
    'trusted-ca-file': `${pki}/ca.crt`,
    'peer-client-cert-auth': 'true',
    'peer-cert-file': `${pki}/peer.crt`,
    'peer-key-file': `${pki}/peer.key`,
    'peer-trusted-ca-file': `${pki}/ca.crt`,
  };
}

const defaultArguments = (plane: Plane): Record<string, string> => ({
  'snapshot-count': '10000',
  'auto-compaction-mode': 'periodic',
  'auto-compaction-retention': '5m',
  [quotaArgument]: String(quotaOf(plane)),
  // One transaction of a tenant is one transaction of etcd.
  ...(plane.tenantIssuer === undefined ? {} : { 'max-txn-ops': '10240', 'max-request-bytes': '4194304' }),
});

export function etcd(plane: Plane, files: string): Rendered[] {
  return [service(plane), statefulSet(plane, files), disruptionBudget(plane, 'etcd'), networkPolicies.etcd(plane)];
}

/** Gives each member a name. Members find each other, and API servers find them, before they are ready. */
function service(plane: Plane): Rendered {
  const selector = selectorOf(plane, 'etcd');
  const client = { name: 'client', port: ports.etcdClient, targetPort: 'client', protocol: 'TCP' as const };
  const peer = { name: 'peer', port: ports.etcdPeer, targetPort: 'peer', protocol: 'TCP' as const };
  return rendered(Service, {
    metadata: metadataOf(plane, etcdPeerServiceName(plane), 'etcd'),
    spec: { type: 'ClusterIP', clusterIP: 'None', publishNotReadyAddresses: true, selector, ports: [client, peer] },
  });
}

function statefulSet(plane: Plane, files: string): Rendered {
  const { etcd: settings } = plane.spec;
  const certificates = certificateNames(plane);
  const tag = plane.etcdTag ?? wantedEtcdTag(plane);
  const container = containerOf({
    component: 'etcd',
    image: { repository: 'etcd', tag },
    settings: settings?.image?.tag === undefined ? settings : { ...settings, image: { ...settings.image, tag } },
    args: argumentsOf(defaultArguments(plane), settings?.args, reservedEtcdArguments(plane)),
    env: [
      { name: 'POD_NAME', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } } },
      ...membershipVariables.map((key) => ({
        name: key,
        valueFrom: { configMapKeyRef: { name: etcdMembershipName(plane), key } },
      })),
    ],
    ports: { client: ports.etcdClient, peer: ports.etcdPeer, metrics: ports.etcdMetrics },
    mounts: [mountOf('pki', folders.pki), { name: 'data', mountPath: folders.etcdData }],
    probes: { scheme: 'HTTP', port: ports.etcdMetrics, live: '/livez', ready: '/readyz' },
  });
  const template = podTemplate({
    plane,
    component: 'etcd',
    settings,
    containers: [container],
    volumes: [
      filesVolume('pki', [
        { configMap: bundleName(plane), items: { 'etcd-ca.crt': 'ca.crt' } },
        { secret: certificates.etcdServer, items: { 'tls.crt': 'server.crt', 'tls.key': 'server.key' } },
        { secret: certificates.etcdPeer, items: { 'tls.crt': 'peer.crt', 'tls.key': 'peer.key' } },
      ]),
    ],
    files,
  });
  return rendered(StatefulSet, {
    metadata: metadataOf(plane, workloadName(plane, 'etcd'), 'etcd'),
    spec: {
      serviceName: etcdPeerServiceName(plane),
      replicas: etcdReplicas(plane),
      // The first start needs a quorum, so members do not wait for each other.
      podManagementPolicy: 'Parallel',
      // The operator restarts one member at a time, when the others are a healthy quorum.
      updateStrategy: { type: 'OnDelete' },
      selector: { matchLabels: selectorOf(plane, 'etcd') },
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Retain' },
      template,
      volumeClaimTemplates: [
        {
          apiVersion: 'v1',
          kind: 'PersistentVolumeClaim',
          metadata: { name: 'data' },
          spec: {
            accessModes: ['ReadWriteOnce'],
            volumeMode: 'Filesystem',
            resources: { requests: { storage: etcdVolumeSizeOf(plane) } },
          },
        },
      ],
    },
  });
}
