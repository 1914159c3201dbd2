/** The one class of several that counts for those who name none. */

import type { KubeObject } from '@hangar/api';

export interface DefaultableClass {
  readonly name: string;
  readonly isDefault: boolean;
  readonly createdAt: string;
}

export const defaultable = ({ metadata }: KubeObject, annotations: readonly string[]): DefaultableClass => ({
  name: metadata.name!,
  isDefault: annotations.some((one) => metadata.annotations?.[one] === 'true'),
  createdAt: metadata.creationTimestamp ?? '',
});

/** The newest; of those of one second the first by name. */
export function defaultClassOf(classes: Iterable<DefaultableClass>): string | undefined {
  let chosen: DefaultableClass | undefined;
  for (const one of classes) {
    if (!one.isDefault) continue;
    const isBetter =
      !chosen || one.createdAt > chosen.createdAt || (one.createdAt === chosen.createdAt && one.name < chosen.name);
    if (isBetter) chosen = one;
  }
  return chosen?.name;
}
