/** By what control planes are found when something that they depend on changes. */

import { clusterPathOf, ControlPlane } from '../api/index.ts';

interface ControlPlaneIndex {
  readonly kind: typeof ControlPlane;
  readonly name: string;
  readonly values: (controlPlane: ControlPlane) => readonly string[];
}

const index = (name: string, value: (controlPlane: ControlPlane) => string | undefined): ControlPlaneIndex => ({
  kind: ControlPlane,
  name,
  values: (controlPlane) => [value(controlPlane)].filter((one) => one !== undefined),
});

export const byPath = index('control-planes-by-path', clusterPathOf);
export const byClass = index('control-planes-by-class', ({ spec }) => spec?.classRef?.name);
/** The one that it names, or the one of its own name: also while that is somebody else's, so that it is heard of when it goes. */
export const byEndpoint = index(
  'control-planes-by-endpoint',
  ({ metadata, spec }) => spec?.endpointRef?.name ?? metadata.name,
);

export const controlPlaneIndexes: readonly ControlPlaneIndex[] = [byPath, byClass, byEndpoint];
