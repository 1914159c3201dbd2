/** Settings of pods that users of an addon can change. */

import type { Container, Toleration } from '@hangar/client/kinds/core-v1';

export interface PodSettings {
  /** Absent: IfNotPresent. */
  readonly imagePullPolicy?: NonNullable<Container['imagePullPolicy']> | undefined;
  readonly resources?: Container['resources'] | undefined;
  readonly priorityClassName?: string | undefined;
  /** Arguments of the program by their name without dashes, which override the default ones. */
  readonly args?: Readonly<Record<string, string>> | undefined;
}

export const onLinux = { 'kubernetes.io/os': 'linux' };

/** For pods that run on every node. */
export const everywhere: Toleration[] = [{ operator: 'Exists' }];

export const system = (name: string) => ({ namespace: 'kube-system', name });
