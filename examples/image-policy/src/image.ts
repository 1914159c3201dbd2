/** What is in an image's name: `registry/repository:tag@digest`, where all but the repository may be missing. */

const host = /^([^/]*[.:][^/]*|localhost)\//;

/** Docker's own, when it does not say. */
export const registryOf = (image: string): string => host.exec(image)?.[1] ?? 'docker.io';

/** With the registry that it means anyway: what is stored then says where it is from. */
export const withRegistry = (image: string): string => (host.test(image) ? image : `docker.io/${image}`);

/** Its digest or tag. */
export function versionOf(image: string): string {
  const [name = '', digest] = image.split('@');
  return digest ?? /:([^/:]+)$/.exec(name)?.[1] ?? 'latest';
}
