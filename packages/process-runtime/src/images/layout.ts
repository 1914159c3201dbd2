/**
 * Images in OCI layouts: folders with `index.json`, and tar archives of such folders. An image is unpacked once into a folder that has its
 * digest as the name.
 */

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { lstat, mkdir, mkdtemp, readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { asError } from '@hangar/core';
import { ProcessRuntimeError } from '../errors.ts';
import type { ImageReference } from './reference.ts';
import type { Image, ImageSource } from './resolver.ts';
import { findInImage } from './root-paths.ts';

const execute = promisify(execFile);
const listingBytesMax = 256 * 1024 * 1024;
const defaultPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Refers to a blob. */
export interface Descriptor {
  readonly mediaType?: string;
  readonly digest: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly platform?: { readonly architecture?: string; readonly os?: string };
}

export interface Index {
  readonly manifests?: readonly Descriptor[];
}

export interface Manifest {
  readonly config: Descriptor;
  readonly layers: readonly Descriptor[];
}

interface ImageConfig {
  readonly Entrypoint?: readonly string[] | null;
  readonly Cmd?: readonly string[] | null;
  readonly Env?: readonly string[] | null;
  readonly WorkingDir?: string;
}

export interface ImagesInOptions {
  /** Folder with layouts and archives (`*.tar`). */
  readonly folder: string;
  /** Unpacked images. */
  readonly cacheFolder: string;
}

/** Returns a source for images in a folder. Rejects with `InvalidImage` for a damaged image. */
export function imagesIn({ folder, cacheFolder }: ImagesInOptions): ImageSource {
  const unpacking = new Map<string, Promise<Image>>();
  return async (image, reference) => {
    for (const layout of await layoutsIn(folder, cacheFolder)) {
      const descriptor = await findImage(layout, image, reference);
      if (!descriptor) continue;
      const { digest } = descriptor;
      let unpacked = unpacking.get(digest);
      if (!unpacked) {
        unpacked = unpack(layout, descriptor, cacheFolder).finally(() => unpacking.delete(digest));
        unpacking.set(digest, unpacked);
      }
      return unpacked;
    }
    return undefined;
  };
}

/** Returns folders with `index.json`. Archives are unpacked first; a changed archive is unpacked again. */
async function layoutsIn(folder: string, cacheFolder: string): Promise<string[]> {
  const layouts: string[] = [];
  if (existsSync(join(folder, 'index.json'))) layouts.push(folder);
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && existsSync(join(path, 'index.json'))) layouts.push(path);
    else if (entry.isFile() && entry.name.endsWith('.tar')) layouts.push(await layoutOfArchive(path, cacheFolder));
  }
  return layouts;
}

async function layoutOfArchive(archive: string, cacheFolder: string): Promise<string> {
  const { size, mtimeMs } = await lstat(archive);
  const key = createHash('sha256').update(`${archive} ${size} ${mtimeMs}`).digest('hex').slice(0, 16);
  return once(join(cacheFolder, 'layouts', `${basename(archive)}-${key}`), (folder) => extract(archive, folder));
}

/** Fills a folder that appears complete or not at all. */
async function once(folder: string, fill: (folder: string) => Promise<unknown>): Promise<string> {
  if (existsSync(folder)) return folder;
  await mkdir(dirname(folder), { recursive: true, mode: 0o700 });
  const partial = await mkdtemp(`${folder}.partial-`);
  try {
    await fill(partial);
    await rename(partial, folder);
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    // Another process was faster.
    if (!existsSync(folder)) throw error;
  }
  return folder;
}

/** Returns the path of a blob. Throws `InvalidImage` for a digest that is not SHA-256. */
export const blob = (layout: string, digest: string): string =>
  join(layout, 'blobs', ...checkedDigest(digest).split(':'));

function checkedDigest(digest: string): string {
  if (!/^sha256:[0-9a-f]{64}$/.test(digest)) throw damaged(`digest ${JSON.stringify(digest)} is not supported`);
  return digest;
}

const json = async <T>(path: string): Promise<T> => JSON.parse(await readFile(path, 'utf8')) as T;

async function findImage(layout: string, image: string, reference: ImageReference): Promise<Descriptor | undefined> {
  const { manifests = [] } = await json<Index>(join(layout, 'index.json'));
  const { repository, tag, digest } = reference;
  const isNamed = ({ annotations = {} }: Descriptor): boolean => {
    const name = annotations['io.containerd.image.name'] ?? '';
    const ref = annotations['org.opencontainers.image.ref.name'] ?? '';
    return [name, ref].includes(image) || (tag !== undefined && [name, ref].includes(`${repository}:${tag}`));
  };
  return manifests.find((one) => (digest === undefined ? isNamed(one) : one.digest === digest));
}

/** Unpacks an image of a layout, unless it is unpacked. Rejects with `InvalidImage`. */
export async function unpack(layout: string, descriptor: Descriptor, cacheFolder: string): Promise<Image> {
  try {
    const manifest = await manifestOf(layout, descriptor);
    const folder = await once(
      join(cacheFolder, 'images', manifest.config.digest.replace(':', '-')),
      async (partial) => {
        const root = join(partial, 'root');
        await mkdir(root);
        for (const layer of manifest.layers) await addLayer(layout, layer, root);
        await verified(layout, manifest.config);
        await writeFile(join(partial, 'config.json'), await readFile(blob(layout, manifest.config.digest)));
      },
    );
    const { config = {} } = await json<{ config?: ImageConfig }>(join(folder, 'config.json'));
    return imageOf(config, join(folder, 'root'), descriptor.digest);
  } catch (error) {
    if (error instanceof ProcessRuntimeError) throw error;
    throw damaged(asError(error).message, error);
  }
}

/** Selects the manifest of this platform from an image for several. */
async function manifestOf(layout: string, descriptor: Descriptor): Promise<Manifest> {
  await verified(layout, descriptor);
  const found = await json<Manifest & Index>(blob(layout, descriptor.digest));
  if (!found.manifests) return found;
  return manifestOf(layout, manifestForMachine(found.manifests));
}

/** Selects the manifest for this machine. Throws `InvalidImage`. */
export function manifestForMachine(manifests: readonly Descriptor[]): Descriptor {
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch;
  const match = manifests.find(
    ({ platform }) => platform?.architecture === architecture && platform.os === process.platform,
  );
  if (!match) throw damaged(`the image has no manifest for ${process.platform}/${architecture}`);
  return match;
}

/** Compares a blob with its digest. Rejects with `InvalidImage`. */
export async function verified(layout: string, { digest }: Descriptor): Promise<void> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(blob(layout, digest)), hash);
  const found = `sha256:${hash.digest('hex')}`;
  if (found !== digest) throw damaged(`blob ${digest} has the digest ${found}`);
}

const whiteout = '.wh.';
const opaque = '.wh..wh..opq';

async function addLayer(layout: string, layer: Descriptor, root: string): Promise<void> {
  await verified(layout, layer);
  const archive = blob(layout, layer.digest);
  const { stdout } = await execute('tar', ['--list', `--file=${archive}`], { maxBuffer: listingBytesMax });
  const names = stdout.split('\n').filter((name) => name !== '');
  await checkParents(root, names);
  const marks = names.filter((name) => basename(name).startsWith(whiteout));
  for (const mark of marks) await removeHidden(root, mark);
  await extract(archive, root);
  for (const mark of marks) await rm(join(root, mark), { force: true });
}

async function removeHidden(root: string, mark: string): Promise<void> {
  const folder = join(root, dirname(mark));
  if (basename(mark) === opaque) {
    for (const name of await readdir(folder).catch(() => [])) {
      await rm(join(folder, name), { recursive: true, force: true });
    }
  } else {
    await rm(join(folder, basename(mark).slice(whiteout.length)), { recursive: true, force: true });
  }
}

/** An archive must not write through a link of an earlier layer that leads out of the root. */
async function checkParents(root: string, names: readonly string[]): Promise<void> {
  for (const parent of new Set(names.map((name) => dirname(name)))) {
    if (parent.split('/').includes('..')) throw damaged(`layer entry ${JSON.stringify(parent)} leaves the image`);
    const found = await realpath(join(root, parent)).catch(() => root);
    if (found !== root && !found.startsWith(`${root}/`)) {
      throw damaged(`layer entry ${JSON.stringify(parent)} leads out of the image by a link`);
    }
  }
}

const extract = (archive: string, folder: string): Promise<unknown> =>
  execute('tar', ['--extract', '--no-same-owner', `--file=${archive}`, `--directory=${folder}`, '--exclude=dev/*']);

function imageOf(config: ImageConfig, root: string, digest: string): Image {
  const env = Object.fromEntries(
    (config.Env ?? []).map((entry) => {
      const at = entry.indexOf('=');
      return at === -1 ? [entry, ''] : [entry.slice(0, at), entry.slice(at + 1)];
    }),
  );
  return {
    id: digest,
    root,
    entrypoint: config.Entrypoint ?? [],
    arguments: config.Cmd ?? [],
    env,
    workingDir: config.WorkingDir || undefined,
    executable: (name) => findInImage(root, name, env['PATH'] ?? defaultPath),
  };
}

const damaged = (message: string, cause?: unknown): ProcessRuntimeError =>
  new ProcessRuntimeError('InvalidImage', message, cause === undefined ? {} : { cause });
