/** Volumes, claims, and kinds written by drivers. */

import type { JsonObject } from '../../../../object.ts';
import { meta, namespaced, withSpec, withStatus } from './sample.ts';
import type { Sample } from './sample.ts';

const group = '/apis/storage.k8s.io/v1';
const apiVersion = 'storage.k8s.io/v1';

const volumeOf = (change: JsonObject, metadata: JsonObject = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: meta('volume', metadata),
  spec: {
    capacity: { storage: '1Gi' },
    accessModes: ['ReadWriteOnce'],
    persistentVolumeReclaimPolicy: 'Retain',
    ...change,
  },
});

const claimOf = (change: JsonObject): JsonObject => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: meta('claim'),
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...change },
});

const secret = { name: 's', namespace: 'n' };

export const storageSamples: readonly Sample[] = [
  {
    path: '/api/v1/persistentvolumes',
    object: volumeOf({
      csi: {
        driver: 'a.b',
        volumeHandle: 'h',
        controllerPublishSecretRef: secret,
        controllerExpandSecretRef: secret,
        nodePublishSecretRef: secret,
        nodeExpandSecretRef: secret,
      },
      storageClassName: 'fast',
      volumeMode: 'Filesystem',
      volumeAttributesClassName: 'gold',
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [
            {
              matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }],
              matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n'] }],
            },
          ],
        },
      },
    }),
    more: [
      volumeOf({}),
      volumeOf({ hostPath: { path: '/', type: 'Wrong' }, persistentVolumeReclaimPolicy: 'Recycle' }),
      volumeOf({ hostPath: { path: '/a/../b' } }),
      volumeOf({ hostPath: { path: '/x' }, nfs: { server: 's', path: '/' } }),
      volumeOf({ nfs: { server: '', path: 'x' } }),
      volumeOf({ local: { path: '' } }),
      volumeOf({ local: { path: '/..' } }),
      volumeOf({ gcePersistentDisk: { pdName: '', partition: 256 } }),
      volumeOf({ awsElasticBlockStore: { volumeID: '', partition: -1 } }),
      volumeOf({ glusterfs: { endpoints: '', path: '', endpointsNamespace: '' } }),
      volumeOf({ flocker: {} }),
      volumeOf({ flocker: { datasetName: 'a/b', datasetUUID: 'c' } }),
      volumeOf({ rbd: { monitors: [], image: '' } }),
      volumeOf({ quobyte: { registry: 'a', volume: '' } }),
      volumeOf({ quobyte: { registry: '', volume: 'v' } }),
      volumeOf({ cephfs: { monitors: [] } }),
      volumeOf({ iscsi: { targetPortal: '', iqn: '', lun: 256, chapAuthSession: true } }),
      volumeOf({ iscsi: { targetPortal: 'p'.repeat(64), iqn: 'iqn.x', lun: 0, initiatorName: 'foo', secretRef: {} } }),
      volumeOf({ cinder: { volumeID: '', secretRef: {} } }),
      volumeOf({ fc: {} }),
      volumeOf({ fc: { targetWWNs: ['a'], wwids: ['b'], lun: 256 } }),
      volumeOf({ flexVolume: { driver: '', options: { 'kubernetes.io/x': 'y' } } }),
      volumeOf({ azureFile: { secretName: '', shareName: '', secretNamespace: '' } }),
      volumeOf({ vsphereVolume: { volumePath: '' }, photonPersistentDisk: { pdID: '' } }),
      volumeOf({ photonPersistentDisk: { pdID: '' } }),
      volumeOf({ portworxVolume: { volumeID: '' } }),
      volumeOf({ azureDisk: { diskName: '', diskURI: '', kind: 'Managed', cachingMode: 'X' } }),
      volumeOf({ azureDisk: { diskName: 'a', diskURI: 'b', kind: 'Shared' } }),
      volumeOf({ scaleIO: { gateway: '', system: '', volumeName: '', secretRef: {} } }),
      volumeOf({ storageos: { volumeName: '', volumeNamespace: 'A', secretRef: {} } }),
      volumeOf({ hostPath: { path: '/x' } }, { annotations: { 'volume.beta.kubernetes.io/mount-options': 'x' } }),
      volumeOf({ hostPath: { path: '/x' }, accessModes: ['ReadWriteOncePod', 'ReadOnlyMany'] }),
      volumeOf({ hostPath: { path: '/x' }, capacity: { storage: '-1' } }),
      volumeOf({ hostPath: { path: '/x' }, capacity: { storage: '1', cpu: '1' } }),
    ],
  },
  {
    path: '/api/v1/persistentvolumes',
    object: { ...volumeOf({ hostPath: { path: '/data' } }), metadata: meta('host-volume') },
    updates: [
      (stored) => withSpec(stored, { hostPath: { path: '/other', type: 'Directory' } }),
      (stored) => withSpec(stored, { nfs: { server: 's', path: '/' } }),
    ],
  },
  {
    path: namespaced('/api/v1', 'persistentvolumeclaims'),
    object: claimOf({
      selector: { matchLabels: { a: 'b' } },
      storageClassName: 'fast',
      volumeMode: 'Filesystem',
      volumeAttributesClassName: 'gold',
      dataSource: { kind: 'PersistentVolumeClaim', name: 'x' },
    }),
    more: [
      claimOf({ accessModes: ['ReadWriteOncePod', 'ReadWriteMany'] }),
      claimOf({ resources: {} }),
      claimOf({ resources: { requests: { storage: '-1' } } }),
      claimOf({ dataSourceRef: { apiGroup: 'A_b', kind: 'x', name: '' } }),
      claimOf({
        dataSource: { kind: 'PersistentVolumeClaim', name: 'x' },
        dataSourceRef: { kind: 'PersistentVolumeClaim', name: 'y' },
      }),
    ],
    statuses: [
      [
        'status',
        withStatus({
          phase: 'Bound',
          capacity: { storage: '1Gi' },
          allocatedResources: { storage: '2Gi' },
          allocatedResourceStatuses: { storage: 'NodeResizePending' },
        }),
      ],
    ],
  },
  {
    path: `${group}/storageclasses`,
    object: {
      apiVersion,
      kind: 'StorageClass',
      metadata: meta('fast'),
      provisioner: 'example.com/disks',
      parameters: { a: 'b' },
      reclaimPolicy: 'Delete',
      volumeBindingMode: 'Immediate',
      allowedTopologies: [
        { matchLabelExpressions: [{ key: 'a', values: ['b', 'c'] }] },
        { matchLabelExpressions: [{ key: 'a', values: ['d'] }] },
      ],
    },
  },
  {
    path: `${group}/volumeattributesclasses`,
    object: {
      apiVersion,
      kind: 'VolumeAttributesClass',
      metadata: meta('gold'),
      driverName: 'a.b',
      parameters: { a: 'b' },
    },
  },
  {
    path: `${group}/volumeattachments`,
    object: {
      apiVersion,
      kind: 'VolumeAttachment',
      metadata: meta('attachment'),
      spec: { attacher: 'a.b', source: { persistentVolumeName: 'v' }, nodeName: 'n' },
    },
    more: [
      {
        apiVersion,
        kind: 'VolumeAttachment',
        metadata: meta('attachment'),
        spec: {
          attacher: 'a.b',
          nodeName: 'n',
          source: {
            inlineVolumeSpec: {
              capacity: { storage: '1' },
              claimRef: {},
              nodeAffinity: {},
              persistentVolumeReclaimPolicy: 'Delete',
              storageClassName: 'x',
              volumeMode: 'Block',
            },
          },
        },
      },
    ],
  },
  {
    path: `${group}/csidrivers`,
    object: {
      apiVersion,
      kind: 'CSIDriver',
      metadata: meta('driver.example.com'),
      spec: {
        attachRequired: true,
        podInfoOnMount: false,
        storageCapacity: false,
        fsGroupPolicy: 'File',
        seLinuxMount: false,
        tokenRequests: [{ audience: 'a', expirationSeconds: 600 }],
        volumeLifecycleModes: ['Persistent'],
        nodeAllocatableUpdatePeriodSeconds: 10,
        serviceAccountTokenInSecrets: true,
      },
    },
  },
  {
    path: `${group}/csinodes`,
    object: {
      apiVersion,
      kind: 'CSINode',
      metadata: meta('node'),
      spec: { drivers: [{ name: 'a.b', nodeID: 'x', topologyKeys: ['a/b', 'c'], allocatable: { count: 3 } }] },
    },
  },
  {
    path: namespaced(group, 'csistoragecapacities'),
    object: {
      apiVersion,
      kind: 'CSIStorageCapacity',
      metadata: meta('capacity'),
      storageClassName: 'fast',
      nodeTopology: { matchLabels: { a: 'b' } },
      capacity: '1Gi',
      maximumVolumeSize: '1Gi',
    },
  },
];
