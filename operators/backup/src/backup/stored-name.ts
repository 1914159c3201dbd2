/** Names of backups in their destination. */

import type { ControlPlaneBackup } from '../api/index.ts';

/**
 * Returns the name of a backup in its destination: `demo-20260102T030405Z-UID`. It depends only on the object, so that two operators that
 * make the same backup write the same record, and the second one recognizes it.
 */
export function storedNameOf({ metadata, spec }: Pick<ControlPlaneBackup, 'metadata' | 'spec'>): string {
  const time = (metadata.creationTimestamp ?? '').replaceAll(/[-:]/g, '');
  return `${spec.controlPlaneRef.name.slice(0, 100)}-${time}-${metadata.uid}`;
}
