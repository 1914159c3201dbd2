/** Indexes that find control planes when a dependency changes. */

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

/** The path of the tenant. Control planes that were created with mode Dedicated have none. */
export const byPath = index('control-planes-by-path', clusterPathOf);
export const byClass = index('control-planes-by-class', ({ spec }) => spec?.classRef?.name);
/** The endpoint that it names, or the one of its own name: also while that has another owner, so that its deletion is noticed. */
export const byEndpoint = index(
  'control-planes-by-endpoint',
  ({ metadata, spec }) => spec?.endpointRef?.name ?? metadata.name,
);

export const controlPlaneIndexes: readonly ControlPlaneIndex[] = [byPath, byClass, byEndpoint];
