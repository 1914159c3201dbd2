/** Group, version, labels and annotations of backups. */

export const group = 'backup.hangar.dev';
export const apiVersion = `${group}/v1alpha1`;

/** On ControlPlaneBackups with the deletion policy Delete: the stored data is deleted first. */
export const finalizer = `${group}/stored-data`;

export const labels = {
  /** On ControlPlaneBackups: the schedule that created them. */
  schedule: `${group}/schedule`,
  /** On ControlPlaneBackups: the name of the control plane. */
  controlPlane: `${group}/control-plane`,
  /** On temporary control planes: the schedule whose drill created them. */
  drill: `${group}/drill`,
  /** On temporary control planes: "true". Schedules do not back them up. */
  temporary: `${group}/temporary`,
} as const;

export const annotations = {
  /** On Secrets: namespaces, separated by commas, whose backups may use the Secret. Absent: only its own namespace. */
  allowedNamespaces: `${group}/allowed-namespaces`,
} as const;
