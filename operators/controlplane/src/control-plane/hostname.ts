/** The host name of a control plane: its own wish, or what a template makes of its name and path. */

import { clusterPathOf } from '../api/index.ts';
import type { ControlPlane, ControlPlaneClass } from '../api/index.ts';

const hostPattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const labelLengthMax = 63;
const lengthMax = 253;

/** Undefined: it is reached by its path alone. */
export function hostnameOf(
  controlPlane: ControlPlane,
  controlPlaneClass: ControlPlaneClass | undefined,
): string | 'invalid' | undefined {
  const { hostname, hostnameTemplate } = controlPlane.spec?.endpointPolicy ?? {};
  const template = hostname ?? hostnameTemplate ?? controlPlaneClass?.spec?.gateway?.hostnameTemplate;
  if (template === undefined || template === '') return undefined;
  const name = template
    .replaceAll('{name}', () => controlPlane.metadata.name!)
    .replaceAll('{path}', () => clusterPathOf(controlPlane));
  return isHostname(name) ? name : 'invalid';
}

const isHostname = (name: string): boolean =>
  name.length <= lengthMax && hostPattern.test(name) && name.split('.').every(({ length }) => length <= labelLengthMax);
