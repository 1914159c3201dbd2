/**
 * Hosted control planes of `hangar up --hosted`: a node that runs pods as processes of this machine, and the operator. Loaded only with
 * --hosted.
 */

import { hostname } from 'node:os';
import type { ServiceWorld } from '../service-world.ts';
import type { SupervisedService } from '../supervise.ts';
import { hostedOperatorService } from './hosted-operator.ts';
import { processNodeService } from './process-node.ts';
import type { Programs } from './programs.ts';

export interface HostedSettings {
  /** Of the node, in the data directory. */
  readonly folder: string;
  readonly programs: Programs;
}

/** In the order in which they stop: the operator first. */
export function hostedServices(
  worldOf: (name: string) => ServiceWorld,
  { folder, programs }: HostedSettings,
): readonly SupervisedService[] {
  const ready = Promise.withResolvers<void>();
  const node = worldOf('process-node');
  // Volumes belong to the name of the node: on a machine of its own it does not depend on the name of the machine, which can change.
  const nodeName = node.electsLeader ? hostname().toLowerCase() : 'local';
  return [
    hostedOperatorService({ ...worldOf('hosted-operator'), nodeReady: ready.promise }),
    processNodeService({ ...node, nodeName, folder, programs, onReady: ready.resolve }),
  ];
}
