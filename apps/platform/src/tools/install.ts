/**
 * Installs programs out of the images of a registry, where `hangar up --hosted` finds them:
 *
 *     registry.k8s.io/kube-apiserver:v1.36.4  →  <tools>/kube-apiserver/v1.36.4-linux-amd64/kube-apiserver
 *
 * The digests of manifests and layers are verified. A program appears complete or not at all.
 */

import { existsSync } from 'node:fs';
import { chmod, copyFile, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { uuid } from '@hangar/core';
import type { Clock, Random } from '@hangar/core';
import { imagesFromRegistries, parseImage, ProcessRuntimeError } from '@hangar/process-runtime';
import { reportedVersion } from '../services/hosted/programs.ts';

export interface InstallOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Folder of all programs. */
  readonly tools: string;
  /** Replaces the registry of the images. Absent: the registry of Kubernetes. */
  readonly registry?: string | undefined;
  /** Whether the registry is used without TLS. */
  readonly isInsecure: boolean;
  /** Called before a download. */
  readonly onPull: (image: string) => void;
}

export interface InstalledProgram {
  readonly name: string;
  readonly path: string;
  /** False: it was there before. */
  readonly isNew: boolean;
}

const architectures: Readonly<Record<string, string>> = { x64: 'amd64' };
const platform = `linux-${architectures[process.arch] ?? process.arch}`;

/** Further programs of an image. Restores of etcd use etcdutl. */
const companions: Readonly<Record<string, readonly string[]>> = { etcd: ['etcdutl'] };

/** Installs the program that has the name of the image, and its companions if the image has them. Rejects with `ErrImagePull`. */
export async function installProgram(image: string, options: InstallOptions): Promise<InstalledProgram> {
  const { tools, registry, clock, random, isInsecure } = options;
  const wanted = registry === undefined ? image : `${registry}${image.slice(image.indexOf('/'))}`;
  const reference = parseImage(wanted);
  const { name, tag = '' } = reference;
  const path = join(tools, name, `${tag}-${platform}`, name);
  if (existsSync(path)) return { name, path, isNew: false };
  options.onPull(wanted);
  await mkdir(tools, { recursive: true });
  const cacheFolder = await mkdtemp(join(tools, '.pull-'));
  try {
    const source = imagesFromRegistries({ clock, random, cacheFolder, isInsecure: () => isInsecure });
    const pulled = await source(wanted, reference);
    const found = pulled?.executable(name);
    if (!found) throw failed(`image ${wanted} has no program ${name}`);
    const partial = join(cacheFolder, uuid(random));
    await copyFile(found.path, partial);
    await chmod(partial, 0o755);
    await check(partial, { image: wanted, name, tag });
    await mkdir(dirname(path), { recursive: true });
    for (const companion of companions[name] ?? []) {
      const beside = pulled?.executable(companion);
      if (beside) await copyFile(beside.path, join(dirname(path), companion));
    }
    await rename(partial, path);
    return { name, path, isNew: true };
  } finally {
    await rm(cacheFolder, { recursive: true, force: true });
  }
}

/** Only the programs of Kubernetes report the tag of their image. The others must at least report a version. */
async function check(path: string, { image, name, tag }: { image: string; name: string; tag: string }): Promise<void> {
  const version = await reportedVersion(path);
  if (name.startsWith('kube-') && version !== tag) {
    throw failed(`program ${name} of image ${image} reports the version ${version ?? 'unknown'}`);
  }
}

const failed = (message: string): ProcessRuntimeError => new ProcessRuntimeError('ErrImagePull', message);
