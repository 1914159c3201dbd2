/** The dependencies that all pods of a runtime share. */

import type { Client } from '@hangar/client';
import type { Pod, ServiceAccountTokenProjection } from '@hangar/client/kinds/core-v1';
import type { Clock, Logger, Random } from '@hangar/core';
import type { EnclosureTools } from '../enclosure/tools.ts';
import type { ImageResolver } from '../images/resolver.ts';
import type { PodNetwork } from '../network/network.ts';
import type { ContainerProcesses } from '../processes/contract.ts';
import type { ConfigReader } from '../spec/environment.ts';
import type { BackOffOptions } from './back-off.ts';

/** Records Events about a pod. Equal Events become one with a count; `part` (a container, a probe) separates Events of one reason. */
export interface PodEvents {
  normal(pod: Pod, reason: string, note: string, part?: string): void;
  warning(pod: Pod, reason: string, note: string, part?: string): void;
}

/** Counts starts of containers and attempts of probes. */
export interface PodMetrics {
  started(): void;
  startFailed(reason: string): void;
  probed(type: 'Startup' | 'Liveness' | 'Readiness', isSuccess: boolean): void;
}

export interface PodWorld {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly events: PodEvents;
  readonly metrics: PodMetrics;
  readonly processes: ContainerProcesses;
  readonly images: ImageResolver;
  readonly network: PodNetwork;
  readonly config: ConfigReader;
  /** Undefined: paths are rewritten instead. */
  readonly enclosure: EnclosureTools | undefined;
  readonly nodeName: string;
  readonly hostIP: string;
  readonly allocatable: Readonly<Record<string, string>>;
  /** Parent of the folders of pods. */
  readonly podsFolder: string;
  readonly logsFolder: string;
  readonly backOff: BackOffOptions;
  /** Size and number of log files. Absent: the defaults of the kubelet. */
  readonly logBytesMax?: number | undefined;
  readonly logFilesMax?: number | undefined;
  token(pod: Pod, projection: ServiceAccountTokenProjection): Promise<string>;
  claimFolder(pod: Pod, claimName: string): Promise<string>;
}
