/** Group, version, labels and annotations of the hosted control planes and of Cluster API. */

export const group = 'controlplane.cluster.x-k8s.io';
export const apiVersion = `${group}/v1alpha1`;

export const clusterApiGroup = 'cluster.x-k8s.io';

/** On all objects of a control plane: the name of the Cluster, or of the HostedControlPlane without a Cluster. */
export const clusterNameLabel = `${clusterApiGroup}/cluster-name`;

/** On Clusters and HostedControlPlanes: controllers do not change the object while it exists. */
export const pausedAnnotation = `${clusterApiGroup}/paused`;

/** The type of the Secrets that Cluster API reads. */
export const clusterSecretType = `${clusterApiGroup}/secret`;

const own = 'hosted.hangar.dev';

/** On HostedControlPlanes: the operator deletes the workloads in their order before the object disappears. */
export const finalizer = `${own}/deletion-order`;

/** On objects that `clusterctl move` deletes at the source, after it created them in the target. */
export const movedAnnotation = `clusterctl.${clusterApiGroup}/delete-for-move`;

export const annotations = {
  /** On HostedControlPlanes: the version of the rendering, so that an upgrade of the operator does not roll out pods. */
  rendering: `${own}/rendering`,
  /** On HostedControlPlanes: the last spec.version whose change adopted the newest rendering, so that a user can go back meanwhile. */
  adopted: `${own}/adopted-for-version`,
  /** On HostedControlPlanes: the order in which `hangar hosted roll-out` changes the rendering, as an integer. Lowest first, by default 0. */
  wave: `${own}/wave`,
  /** On HostedControlPlanes: the name that its objects are named after. */
  clusterName: `${own}/cluster-name`,
  /** On HostedControlPlanes: `true` if the control plane has no Cluster although Cluster API is installed. */
  standalone: `${own}/standalone`,
  /** On HostedControlPlanes: `front-door` if the default of the operator exposed it there. It stays when the default changes. */
  exposure: `${own}/exposure`,
  /** On HostedControlPlanes: `true` if no component runs. Volumes, Secrets and the address stay. */
  stopped: `${own}/stopped`,
  /** On HostedControlPlanes: the id of the migration that fills its etcd. Nothing starts before. Its creator writes it. */
  replicaOf: `${own}/replica-of`,
  /** On HostedControlPlanes: the state of the replica, as JSON. */
  replica: `${own}/replica`,
  /** On HostedControlPlanes: the size of the volumes of etcd after they have grown by themselves. */
  etcdVolumeSize: `${own}/etcd-volume-size`,
  /** On HostedControlPlanes: the upgrade of etcd to another minor version that is in progress, as JSON. */
  etcdUpgrade: `${own}/etcd-upgrade`,
  /** On HostedControlPlanes: the version of etcd that did not work, so that the previous one returned. Users remove it to try again. */
  etcdUpgradeFailed: `${own}/etcd-upgrade-failed`,
  /** On HostedControlPlanes: the version of etcd that users allow to upgrade to without a snapshot. */
  etcdUpgradeWithoutSnapshot: `${own}/etcd-upgrade-without-snapshot`,
  /** On applied objects: digest of the rendered object. */
  rendered: `${own}/rendered`,
  /** On Secrets: digest of the request of the certificate. */
  request: `${own}/request`,
  /** On the Secret with the kubeconfig: digest of the objects that exist inside the control plane. */
  workload: `${own}/workload`,
  /** On Secrets with an authority or the key of service accounts: the value of the annotation that requested the pair. */
  rotation: `${own}/rotation`,
  /** On Secrets with a previous pair: the time at which it stopped to sign. */
  rotatedAt: `${own}/rotated-at`,
  /** On HostedControlPlanes that are being restored: the restore, and the phases that wait for it. */
  restore: `${own}/restore`,
  /** On HostedControlPlanes: the last complete restore, so that a repeated call finds it. */
  restored: `${own}/restored`,
  /**
   * On HostedControlPlanes whose etcd lost its quorum: the pod of the member that becomes the only one. The operator removes it when the
   * cluster has a quorum.
   */
  recoverEtcd: `${own}/recover-etcd-from`,
  /** On pod templates: digest of files that the program reads only at its start. */
  files: `${own}/files`,
} as const;

/** On HostedControlPlanes: a new value starts a rotation of the authority `ca`, `etcd` or `proxy`, or of the key of service accounts, `sa`. */
export const rotateAnnotation = (of: 'ca' | 'etcd' | 'proxy' | 'sa'): string => `${own}/rotate-${of}`;

export const labels = {
  /** On objects inside a control plane that the spec can switch off: the name of the addon. */
  addon: `${own}/addon`,
} as const;
