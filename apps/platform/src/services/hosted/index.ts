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
import { frontDoorService, settingsOf } from './front-door.ts';
import type { FrontDoorListen } from '../../options/hosted.ts';

export interface HostedSettings {
  /** Of the node, in the data directory. */
  readonly folder: string;
  readonly programs: Programs;
  /** Absent: hosted control planes have separate ports. */
  readonly frontDoor?: FrontDoorListen | undefined;
}

export interface HostedServices {
  /** In the order in which they stop: the operator first. */
  readonly services: readonly SupervisedService[];
  /** Resolves when the kinds are served. */
  readonly installed: Promise<void>;
}

export function hostedServices(
  worldOf: (name: string) => ServiceWorld,
  { folder, programs, frontDoor }: HostedSettings,
): HostedServices {
  const [ready, installed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const node = worldOf('process-node');
  // Volumes belong to the name of the node. The name of the machine can change, so only servers that share a store use it.
  const nodeName = node.electsLeader ? hostname().toLowerCase() : 'local';
  const operator = {
    ...worldOf('hosted-operator'),
    nodeReady: ready.promise,
    onInstalled: installed.resolve,
    frontDoor: frontDoor && settingsOf(frontDoor),
  };
  const door = frontDoor && { ...worldOf('front-door'), listen: frontDoor, installed: installed.promise };
  return {
    services: [
      hostedOperatorService(operator),
      ...(door ? [frontDoorService(door)] : []),
      processNodeService({ ...node, nodeName, folder, programs, onReady: ready.resolve }),
    ],
    installed: installed.promise,
  };
}
