/** Converts objects to the version of a policy. */

import { StatusError } from '@hangar/api';
import type { KubeObject } from '@hangar/api';
import type { ControlPlane } from '../../control-plane.ts';
import type { Match } from './match-criteria.ts';
import { PolicyProblem } from './problem.ts';

/** Never changes the object. Rejects with PolicyProblem if the conversion fails. */
export async function inVersion(plane: ControlPlane, object: KubeObject, from: Match, to: Match): Promise<KubeObject> {
  // The kind of a subresource can be the same in all versions of the resource.
  if (from.kind.version === to.kind.version && from.kind.group === to.kind.group) return object;
  const [source, target] = [plane.catalogue.find(from.resource), plane.catalogue.find(to.resource)];
  if (!source?.convert || !target) {
    throw new PolicyProblem(`unable to convert ${from.resource.resource} to ${to.kind.group}/${to.kind.version}`);
  }
  try {
    return await source.convert(plane, structuredClone(object), target.apiVersion);
  } catch (error) {
    if (error instanceof StatusError) throw new PolicyProblem(error.message, { cause: error });
    throw error;
  }
}
