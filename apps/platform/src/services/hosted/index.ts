/**
 * Hosted control planes of `hangar up --hosted`: a node that runs pods as processes of this machine, and the operator. Loaded only with
 * --hosted.
 */

import { mkdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { release } from '@hangar/api';
import type { BackupTarget } from '@hangar/backup-operator';
import type { Client } from '@hangar/client';
import type { DedicatedPlatform } from '@hangar/controlplane-operator';
import type { Failpoints } from '@hangar/core';
import { hostedReplicas, hostedTarget } from '@hangar/hosted-operator';
import type { FrontDoorSettings } from '@hangar/hosted-operator';
import type { ServiceWorld } from '../service-world.ts';
import type { SupervisedService } from '../supervise.ts';
import { hostedOperatorService } from './hosted-operator.ts';
import { ownImage } from './own-program.ts';
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
  /** Whether this server makes backups. */
  readonly hasBackups?: boolean | undefined;
  /** Of tests: they reach the replicas of migrations. */
  readonly failpoints?: Failpoints | undefined;
}

export interface HostedServices {
  /** In the order in which they stop: the operator first. */
  readonly services: readonly SupervisedService[];
  /** Resolves when the kinds are served. */
  readonly installed: Promise<void>;
  /** Hosted control planes as a target of backups. */
  readonly backupTargets: (management: Client) => Promise<readonly BackupTarget[]>;
  /** Hosted control planes as the dedicated side of migrations. Called once: it owns a folder. */
  readonly replicas: (management: Client) => Promise<Replicas>;
}

type Replicas = ReturnType<typeof hostedReplicas>;

/** Dedicated control planes that set no version run the newest one of this machine, with one API server: there is one node. */
export const dedicatedDefaults = ({ programs }: Pick<HostedSettings, 'programs'>): Partial<DedicatedPlatform> => ({
  version: async () => (await programs.newestVersion()) ?? `v${release}`,
  replicas: 1,
});

export function hostedServices(
  worldOf: (name: string) => ServiceWorld,
  { folder, programs, frontDoor, hasBackups, failpoints }: HostedSettings,
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
    hasBackups,
  };
  const door = frontDoor && { ...worldOf('front-door'), listen: frontDoor, installed: installed.promise };
  return {
    services: [
      hostedOperatorService(operator),
      ...(door ? [frontDoorService(door)] : []),
      processNodeService({ ...node, nodeName, folder, programs, onReady: ready.resolve }),
    ],
    installed: installed.promise,
    backupTargets: (management) => hostedTargets(management, folder),
    replicas: (management) => replicasOf({ client: management, folder, frontDoor: operator.frontDoor, failpoints }),
  };
}

async function hostedTargets(management: Client, folder: string): Promise<readonly BackupTarget[]> {
  const scratchFolder = join(folder, 'snapshots');
  await mkdir(scratchFolder, { recursive: true, mode: 0o700 });
  return [hostedTarget({ client: management, reach: 'endpoint', scratchFolder, image: ownImage })];
}

interface ReplicasOptions {
  readonly client: Client;
  readonly folder: string;
  readonly frontDoor: FrontDoorSettings | undefined;
  readonly failpoints: Failpoints | undefined;
}

async function replicasOf({ client, folder, frontDoor, failpoints }: ReplicasOptions): Promise<Replicas> {
  const scratchFolder = join(folder, 'seeds');
  await mkdir(scratchFolder, { recursive: true, mode: 0o700 });
  return hostedReplicas({ client, reach: 'endpoint', scratchFolder, image: ownImage, frontDoor, failpoints });
}
