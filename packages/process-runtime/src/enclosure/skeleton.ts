/**
 * A root folder in which volumes appear at the paths of the container. Every file of the base, which is the machine or an unpacked image,
 * is a link into `/.base`; only the folders above a mount are real:
 *
 *     /.base            the base (mounted)
 *     /usr              → /.base/usr
 *     /etc/ssl          → /.base/etc/ssl
 *     /etc/hosts        → /.pod/hosts
 *     /etc/kubernetes   a real folder, on which a volume is mounted
 */

import { mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export const baseFolder = '.base';
export const podFolder = '.pod';
/** Mounted from the machine as they are. */
export const systemFolders = ['proc', 'dev', 'sys'] as const;

export interface MountPoint {
  /** Absolute path in the container. */
  readonly target: string;
  readonly isFolder: boolean;
}

export interface SkeletonOptions {
  readonly root: string;
  /** `/`, or the root file system of an image. */
  readonly base: string;
  readonly mountPoints: readonly MountPoint[];
  /** Absolute path → target of a link. */
  readonly links: Readonly<Record<string, string>>;
}

interface Branch {
  readonly children: Map<string, Branch>;
  leaf?: 'folder' | 'file' | { readonly link: string };
}

export async function makeSkeleton({ root, base, mountPoints, links }: SkeletonOptions): Promise<void> {
  await rm(root, { recursive: true, force: true });
  const tree: Branch = { children: new Map() };
  for (const name of [baseFolder, podFolder, ...systemFolders]) branchAt(tree, name).leaf = 'folder';
  for (const { target, isFolder } of mountPoints) branchAt(tree, target).leaf = isFolder ? 'folder' : 'file';
  for (const [path, link] of Object.entries(links)) branchAt(tree, path).leaf ??= { link };
  await grow(tree, { root, base, path: '' });
}

function branchAt(tree: Branch, path: string): Branch {
  let branch = tree;
  for (const part of path.split('/').filter((one) => one !== '')) {
    let next = branch.children.get(part);
    if (!next) branch.children.set(part, (next = { children: new Map() }));
    branch = next;
  }
  return branch;
}

async function grow(branch: Branch, place: { root: string; base: string; path: string }): Promise<void> {
  const { root, base, path } = place;
  const here = join(root, path);
  const { leaf } = branch;
  if (typeof leaf === 'object') return symlink(leaf.link, here);
  if (leaf === 'file') return writeFile(here, '', { mode: 0o644 });
  await mkdir(here, { recursive: true, mode: 0o755 });
  // A mount point is covered by its mount, and so is everything below.
  if (leaf !== 'folder') {
    const names = await readdir(join(base, path)).catch(() => []);
    // Concurrently: /etc has hundreds of entries, and each link is a round trip to another thread.
    await Promise.all(
      names
        .filter((name) => !branch.children.has(name))
        .map((name) => symlink(`/${join(baseFolder, path, name)}`, join(here, name))),
    );
  }
  for (const [name, child] of branch.children) await grow(child, { root, base, path: join(path, name) });
}
