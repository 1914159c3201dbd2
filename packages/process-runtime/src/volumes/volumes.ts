/** Sets up the volumes of a pod as folders of the machine, and maps the volume mounts of its containers to them. */

import { lstat, mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Container, HostPathVolumeSource, Pod, Volume } from '@hangar/client/kinds/core-v1';
import { asError, hasCode } from '@hangar/core';
import type { Clock, Random } from '@hangar/core';
import { ProcessRuntimeError } from '../errors.ts';
import { expand } from '../spec/expand.ts';
import { writeAtomically } from './atomic-files.ts';
import { filesOf, projectionsOf } from './payload.ts';
import type { PayloadOptions } from './payload.ts';

export interface VolumesOptions extends PayloadOptions {
  /** Parent of the volumes of the pod. */
  readonly folder: string;
  readonly clock: Clock;
  readonly random: Random;
  /** Returns the folder of a bound claim. Rejects with `FailedMount` while the claim is not bound. */
  claimFolder(pod: Pod, claimName: string): Promise<string>;
}

/** Path of each volume by its name. */
export type VolumePaths = ReadonlyMap<string, string>;

/** Creates or updates all volumes. Idempotent. Rejects with `FailedMount`, whose message names the volume. */
export async function setUpVolumes(options: VolumesOptions): Promise<VolumePaths> {
  const paths = new Map<string, string>();
  for (const volume of options.pod.spec?.volumes ?? []) {
    try {
      paths.set(volume.name, await setUp(volume, options));
    } catch (error) {
      const note = `MountVolume.SetUp failed for volume ${JSON.stringify(volume.name)} : ${asError(error).message}`;
      throw new ProcessRuntimeError('FailedMount', note, { cause: error });
    }
  }
  return paths;
}

async function setUp(volume: Volume, options: VolumesOptions): Promise<string> {
  const folder = join(options.folder, volume.name);
  const projections = projectionsOf(volume);
  if (projections) {
    await writeAtomically({ ...options, folder, files: await filesOf(projections, options) });
    return folder;
  }
  if (volume.emptyDir) {
    await mkdir(folder, { recursive: true, mode: 0o777 });
    return folder;
  }
  if (volume.hostPath) return hostPath(volume.hostPath);
  const claim = volume.persistentVolumeClaim?.claimName;
  if (claim !== undefined) return options.claimFolder(options.pod, claim);
  if (volume.ephemeral) return options.claimFolder(options.pod, `${options.pod.metadata.name}-${volume.name}`);
  throw new Error(
    'the process runtime supports volumes of the types secret, configMap, downwardAPI, projected, emptyDir, hostPath, persistentVolumeClaim and ephemeral',
  );
}

async function hostPath({ path, type = '' }: HostPathVolumeSource): Promise<string> {
  const found = await stat(path).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  });
  if (type === 'DirectoryOrCreate' && !found) await mkdir(path, { recursive: true, mode: 0o755 });
  else if (type === 'FileOrCreate' && !found) await writeFile(path, '', { mode: 0o644 });
  else if (type.startsWith('Directory') && !found?.isDirectory()) throw mismatch(path, 'directory');
  else if (type.startsWith('File') && !found?.isFile()) throw mismatch(path, 'file');
  else if (type === 'Socket' && !found?.isSocket()) throw mismatch(path, 'socket file');
  return path;
}

const mismatch = (path: string, what: string): Error =>
  new Error(`hostPath type check failed: ${path} is not a ${what}`);

/** Removes the volumes of a pod. Folders of claims and host paths stay. */
export const removeVolumes = (folder: string): Promise<void> => rm(folder, { recursive: true, force: true });

/** A volume mount of a container on this machine. */
export interface Mount {
  /** File or folder of the machine. */
  readonly source: string;
  /** Absolute path in the container. */
  readonly target: string;
  readonly readOnly: boolean;
}

/** Rejects with `CreateContainerConfigError` for an unsafe sub path. */
export async function mountsOf(
  container: Container,
  paths: VolumePaths,
  variables: Readonly<Record<string, string>>,
): Promise<Mount[]> {
  return Promise.all(
    (container.volumeMounts ?? []).map(async ({ name, mountPath, readOnly = false, subPath, subPathExpr }) => {
      const path = paths.get(name);
      if (path === undefined) throw unsafe(`volume ${JSON.stringify(name)} of a volume mount does not exist`);
      const below = subPathExpr === undefined ? (subPath ?? '') : expand(subPathExpr, variables);
      return { source: below === '' ? path : await subPathOf(path, below), target: resolve('/', mountPath), readOnly };
    }),
  );
}

/** A missing sub path becomes a folder, as in the kubelet. */
async function subPathOf(volume: string, below: string): Promise<string> {
  if (below.startsWith('/') || below.split('/').includes('..'))
    throw unsafe(`invalid subPath ${JSON.stringify(below)}`);
  const path = join(volume, below);
  const found = await lstat(path).catch(() => undefined);
  if (!found) await mkdir(path, { recursive: true, mode: 0o755 });
  return path;
}

const unsafe = (message: string): ProcessRuntimeError => new ProcessRuntimeError('CreateContainerConfigError', message);
