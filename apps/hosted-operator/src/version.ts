/** The version of this Hangar. */

export const version = '0.1.0';

/** Loads the tables of the built-in kinds, which the programs do not need otherwise. */
export async function versionText(): Promise<string> {
  const { release } = await import('@hangar/api');
  return `hangar ${version}, Kubernetes ${release}`;
}
