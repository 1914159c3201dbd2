/** Parses the name of an image: `registry/repository:tag@digest`, where all but the repository may be missing. */

const host = /^([^/]*[.:][^/]*|localhost)\//;

/** Defaults to Docker's registry. */
export const registryOf = (image: string): string => host.exec(image)?.[1] ?? 'docker.io';

/** Adds the default registry, so that the stored name is complete. */
export const withRegistry = (image: string): string => (host.test(image) ? image : `docker.io/${image}`);

/** Returns its digest or tag. */
export function versionOf(image: string): string {
  const [name = '', digest] = image.split('@');
  return digest ?? /:([^/:]+)$/.exec(name)?.[1] ?? 'latest';
}
