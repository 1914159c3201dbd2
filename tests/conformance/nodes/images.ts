/**
 * The images of Kubernetes' test program under the names that it uses. Its registries are replaced with ones that do not exist: every
 * image has to be on the node already.
 */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { socket } from '@hangar/cli/machine';
import type { Node } from '@hangar/cli/machine';
import { run } from '../../../tools/run.ts';
import { tool } from '../../../tools/tool.ts';
import { imageName } from '../../nodes/images/images.ts';
import type { ImageName } from '../../nodes/images/images.ts';

/** Images under this host are on the nodes. */
const host = 'hangar.test';

/** The fields of the file that `KUBE_TEST_REPO_LIST` names. */
const registries = {
  promoterE2eRegistry: `${host}/e2e`,
  buildImageRegistry: `${host}/build`,
  gcEtcdRegistry: `${host}/e2e`,
  gcRegistry: `${host}/e2e`,
  sigStorageRegistry: `${host}/storage`,
  dockerLibraryRegistry: `${host}/library`,
  cloudProviderGcpRegistry: `${host}/gcp`,
  // Specs expect that images of these cannot be pulled.
  invalidRegistry: `invalid.${host}/invalid`,
  privateRegistry: `private.${host}/e2e`,
};

/**
 * The image of this repository for each image of the test program that a [Conformance] spec runs. `kitten` is not among them: its only
 * spec pulls it from a registry, even if it is on the node.
 */
const imageOf: Readonly<Record<string, ImageName>> = {
  agnhost: 'e2e-agnhost',
  // It is used for its DNS clients.
  'glibc-dns-testing': 'e2e-agnhost',
  busybox: 'e2e-busybox',
  etcd: 'etcd',
  nautilus: 'nautilus',
  nginx: 'nginx',
  nonewprivs: 'nonewprivs',
  pause: 'pause',
  'sample-apiserver': 'sample-apiserver',
};

/** All images that nodes of a conformance run need. */
export const conformanceImages: readonly ImageName[] = [...new Set([...Object.values(imageOf), 'coredns' as const])];

export interface Alias {
  readonly image: ImageName;
  /** Name in the pods of the test program. */
  readonly name: string;
}

/** `listed`: the output of the test program's `--list-images`, in any order. Returns the names of the images of this repository. */
export function aliasesOf(listed: string): Alias[] {
  const names = listed.split('\n').filter((line) => line.startsWith(`${host}/`));
  return names.toSorted().flatMap((name) => {
    const repository = name.slice(name.lastIndexOf('/') + 1).split(':')[0]!;
    const image = Object.hasOwn(imageOf, repository) ? imageOf[repository] : undefined;
    return image === undefined ? [] : [{ image, name }];
  });
}

/** Writes the list of registries; returns the variables that make the test program use it. */
export async function writeRegistries(folder: string): Promise<Readonly<Record<string, string>>> {
  const file = join(folder, 'registries.json');
  // JSON is YAML.
  await writeFile(file, JSON.stringify(registries));
  return { KUBE_TEST_REPO_LIST: file };
}

/** Returns the names of all images of the test program that are on the nodes. */
export async function listAliases(env: Readonly<Record<string, string>>): Promise<Alias[]> {
  const options = { timeoutMs: 60_000, env: { ...process.env, ...env } };
  const { stdout, stderr, failure } = await run(await tool('e2e'), ['--list-images'], options);
  if (failure !== undefined) throw new Error(`e2e.test --list-images: ${failure}\n${stderr}`);
  const aliases = aliasesOf(stdout);
  const present = new Set(aliases.map(({ image }) => image));
  const missing = Object.values(imageOf).filter((image) => !present.has(image));
  if (missing.length > 0) throw new Error(`e2e.test --list-images names no image for ${missing.join(', ')}`);
  return aliases;
}

/** Gives the images of the node the names of the test program. */
export async function addAliases(node: Node, aliases: readonly Alias[]): Promise<void> {
  const ctr = await tool('ctr');
  for (const { image, name } of aliases) {
    const tag = ['images', 'tag', '--local', '--force', imageName(image), name];
    await node.run(ctr, `--address=${socket}`, '--namespace=k8s.io', ...tag);
  }
}
