/** Chooses the default class among several. */

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

/** Returns the newest default class. Ties within one second are resolved by name. */
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
