/** The images of the programs of a hosted control plane, as the operator renders them. */

import type { ApiObject } from '@hangar/client';
import type { Container, PodTemplateSpec } from '@hangar/client/kinds/core-v1';
import {
  HostedControlPlane,
  newestRendering,
  parseVersion,
  planeOf,
  renderAll,
  renderings,
} from '@hangar/hosted-operator';
import { UsageError } from '@hangar/core/command-line';

const rendering = renderings.get(newestRendering)!;

/** Returns the images of all programs, konnectivity included. Throws a UsageError for a version that is not supported. */
export function componentImages(version: string): string[] {
  const { major, minor } = versionOf(version);
  if (major !== 1 || !rendering.minors.includes(minor)) {
    const supported = rendering.minors.map((one) => `1.${one}`).join(', ');
    throw new UsageError(`version "${version}" is not supported: hosted control planes have version ${supported}`);
  }
  const name = 'images';
  const { apiVersion, kind } = HostedControlPlane;
  const object: HostedControlPlane = {
    apiVersion,
    kind,
    metadata: { namespace: name, name, uid: name },
    spec: { version },
  };
  const plane = planeOf(object, { name, serviceType: 'ClusterIP', konnectivity: 'always' });
  const containers = renderAll(rendering, plane, {}).flatMap(({ object }) => containersOf(object));
  return [...new Set(containers.map(({ image }) => image!))];
}

function versionOf(version: string) {
  try {
    return parseVersion(version);
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error });
  }
}

const containersOf = (object: ApiObject): readonly Container[] =>
  (object as { spec?: { template?: PodTemplateSpec } }).spec?.template?.spec?.containers ?? [];
