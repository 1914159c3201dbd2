/**
 * Finds the program of a container. An image is either unpacked from an OCI layout, or stands for a program of this machine: the image
 * `registry.example/kube-apiserver:v1.36.0` for `kube-apiserver`.
 */

import { basename, join } from 'node:path';
import { findExecutable, isExecutable } from '@hangar/programs';
import { ProcessRuntimeError } from '../errors.ts';
import { parseImage } from './reference.ts';
import type { ImageReference } from './reference.ts';

/** A program of an image. */
export interface ProgramPath {
  /** On this machine. */
  readonly path: string;
  /** In an unpacked image. */
  readonly inside?: string | undefined;
}

/** How a container of an image starts. */
export interface Image {
  /** For `imageID`. */
  readonly id: string;
  /** Root file system of an unpacked image. Absent: programs of the machine. */
  readonly root?: string | undefined;
  readonly entrypoint: readonly string[];
  readonly arguments: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly workingDir?: string | undefined;
  /** Returns a program of the image; undefined if the image does not have it. */
  executable(name: string): ProgramPath | undefined;
}

/** Finds images. Undefined: the image is unknown, and the next source is used. */
export type ImageSource = (image: string, reference: ImageReference) => Promise<Image | undefined> | Image | undefined;

/** Returns a source for programs in folders: `<name>-<tag>`, `<tag>/<name>`, `<name>`. */
export const programsIn =
  (folders: readonly string[]): ImageSource =>
  (image, { name, tag = '' }) => {
    const find = (program: string): string | undefined =>
      folders
        .flatMap((folder) => [join(folder, `${program}-${tag}`), join(folder, tag, program), join(folder, program)])
        .find(isExecutable);
    return find(name) === undefined ? undefined : programImage(image, name, (program) => find(program));
  };

/** Returns a source for programs by name: `{ etcd: '/opt/etcd' }`. A key can also be an image with its tag. */
export const programsByName =
  (programs: Readonly<Record<string, string>>): ImageSource =>
  (image, { name, repository }) => {
    const path = programs[image] ?? programs[repository] ?? programs[name];
    if (path === undefined) return undefined;
    return programImage(image, name, (program) => (program === name ? path : programs[program]));
  };

/** The source for programs in PATH. */
export const programsInPath: ImageSource = (image, { name }) =>
  findExecutable(name) === undefined ? undefined : programImage(image, name, (program) => findExecutable(program));

const programImage = (image: string, name: string, find: (program: string) => string | undefined): Image => ({
  id: `process://${image}`,
  entrypoint: [name],
  arguments: [],
  env: {},
  executable: (program) => {
    const path = find(basename(program)) ?? findExecutable(program);
    return path === undefined ? undefined : { path };
  },
});

export class ImageResolver {
  readonly #sources: readonly ImageSource[];

  constructor(sources: readonly ImageSource[]) {
    this.#sources = sources;
  }

  /** Rejects with `ErrImagePull`. */
  async resolve(image: string): Promise<Image> {
    const reference = parseImage(image);
    for (const source of this.#sources) {
      const found = await source(image, reference);
      if (found) return found;
    }
    throw new ProcessRuntimeError(
      'ErrImagePull',
      `no image layout and no program named ${JSON.stringify(reference.name)} is available on this machine`,
    );
  }
}
