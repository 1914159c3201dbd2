/**
 * Writes an image as an OCI archive: one layer, the configuration, the manifest and the index, which `ctr images import` reads.
 *
 *     oci-layout
 *     index.json                  names the image
 *     blobs/sha256/<manifest>     names the configuration and the layer
 *     blobs/sha256/<configuration>
 *     blobs/sha256/<layer>
 */

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** How a container of the image starts: the part of an OCI configuration that tests use. */
export interface ImageProcess {
  readonly Entrypoint?: readonly string[];
  readonly Cmd?: readonly string[];
  readonly Env?: readonly string[];
  readonly User?: string;
  readonly WorkingDir?: string;
}

export interface ArchiveOptions {
  /** `hangar.test/busybox:1`. */
  readonly name: string;
  readonly process: ImageProcess;
  /** Writes the files of the image into the folder. Owners become root. */
  fill(folder: string): Promise<void>;
}

/** The archive appears at `path` complete, or not at all. */
export async function writeArchive(path: string, { name, process, fill }: ArchiveOptions): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const folder = await mkdtemp(join(dirname(path), '.partial-'));
  try {
    const [files, layout] = [join(folder, 'files'), join(folder, 'layout')];
    const blobs = join(layout, 'blobs/sha256');
    await mkdir(files);
    await mkdir(blobs, { recursive: true });
    await fill(files);

    const layerFile = join(folder, 'layer.tar');
    await execute('tar', [
      '--create',
      '--owner=0',
      '--group=0',
      '--numeric-owner',
      `--file=${layerFile}`,
      '-C',
      files,
      '.',
    ]);
    const layer = await addFile(blobs, layerFile);
    const configuration = await addJson(blobs, {
      architecture: architectures[globalThis.process.arch] ?? globalThis.process.arch,
      os: 'linux',
      config: process,
      rootfs: { type: 'layers', diff_ids: [layer.digest] },
    });
    const manifest = await addJson(blobs, {
      schemaVersion: 2,
      mediaType: types.manifest,
      config: { mediaType: types.configuration, ...configuration },
      layers: [{ mediaType: types.layer, ...layer }],
    });
    const annotations = {
      'io.containerd.image.name': name,
      'org.opencontainers.image.ref.name': name.split(':').at(-1),
    };
    await writeJson(join(layout, 'index.json'), {
      schemaVersion: 2,
      mediaType: types.index,
      manifests: [{ mediaType: types.manifest, ...manifest, annotations }],
    });
    await writeJson(join(layout, 'oci-layout'), { imageLayoutVersion: '1.0.0' });
    const archive = join(folder, 'archive.tar');
    await execute('tar', ['--create', `--file=${archive}`, '-C', layout, 'oci-layout', 'index.json', 'blobs']);
    await rename(archive, path);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const types = {
  index: 'application/vnd.oci.image.index.v1+json',
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  configuration: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar',
};

const architectures: Partial<Record<NodeJS.Architecture, string>> = { x64: 'amd64' };

interface Blob {
  readonly digest: string;
  readonly size: number;
}

async function addFile(blobs: string, file: string): Promise<Blob> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  const digest = hash.digest('hex');
  const { size } = await stat(file);
  await rename(file, join(blobs, digest));
  return { digest: `sha256:${digest}`, size };
}

async function addJson(blobs: string, content: object): Promise<Blob> {
  const file = join(blobs, 'new');
  await writeJson(file, content);
  return addFile(blobs, file);
}

const writeJson = (path: string, content: object): Promise<void> => writeFile(path, JSON.stringify(content));
