/** Paths inside the root file system of an image: links are resolved inside it, never on the machine. */

import { lstatSync, readlinkSync } from 'node:fs';
import { join, posix } from 'node:path';
import { isExecutable } from '@hangar/programs';

/** The kernel has the same limit. */
const linksMax = 40;

/** Returns the file on this machine that a path of the image means. Undefined: it does not exist. */
export function resolveIn(root: string, path: string): string | undefined {
  let pending = path.split('/');
  let at: string[] = [];
  let links = 0;
  while (pending.length > 0) {
    const [part = '', ...rest] = pending;
    pending = rest;
    if (part === '' || part === '.') continue;
    if (part === '..') {
      at = at.slice(0, -1);
      continue;
    }
    const target = linkAt(join(root, ...at, part));
    if (target === 'missing') return undefined;
    if (target === undefined) {
      at.push(part);
    } else {
      if (++links > linksMax) return undefined;
      if (target.startsWith('/')) at = [];
      pending = [...target.split('/'), ...pending];
    }
  }
  return join(root, ...at);
}

/** Undefined: the file is not a link. */
function linkAt(file: string): string | undefined {
  try {
    return lstatSync(file).isSymbolicLink() ? readlinkSync(file) : undefined;
  } catch {
    return 'missing';
  }
}

export interface ProgramInImage {
  /** On this machine. */
  readonly path: string;
  /** In the image, as it is written: a program can depend on the name of the link to it. */
  readonly inside: string;
}

/** Finds a program of an image by its path, or by its name in the folders of `PATH`. */
export function findInImage(root: string, name: string, searchPath: string): ProgramInImage | undefined {
  const candidates = name.includes('/')
    ? [posix.resolve('/', name)]
    : searchPath.split(':').map((folder) => posix.join('/', folder, name));
  for (const inside of candidates) {
    const path = resolveIn(root, inside);
    if (path !== undefined && isExecutable(path)) return { path, inside };
  }
  return undefined;
}
