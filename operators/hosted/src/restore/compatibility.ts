/** Whether a control plane can use the data of a backup. Data of a newer version can have kinds and formats that an older one cannot read. */

import type { PayloadHead } from '../backup/payload.ts';

export interface RunningVersions {
  readonly kubernetes: string;
  /** Of the image of etcd. */
  readonly etcd: string | undefined;
}

/** Returns why the backup cannot be restored. */
export function versionFault(
  { versions }: Pick<PayloadHead, 'versions'>,
  running: RunningVersions,
): string | undefined {
  const pairs = [
    ['Kubernetes', versions.kubernetes, running.kubernetes],
    ['etcd', versions.etcd, running.etcd],
  ] as const;
  for (const [program, stored, current] of pairs) {
    const [newer, older] = [minorOf(stored), minorOf(current ?? '')];
    if (newer !== undefined && older !== undefined && newer > older) {
      return `the backup is of ${program} ${stored}, and the control plane has ${current}: upgrade it first`;
    }
  }
  return undefined;
}

/** `v1.36.4` → 1036, `3.6.8-0` → 3006. */
function minorOf(version: string): number | undefined {
  const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(version) ?? [];
  return minor === undefined ? undefined : Number(major) * 1_000 + Number(minor);
}
