/** `Object{spec: Object.spec{…}}`: merges the given fields by the rules of server-side apply. */

import { isObject, mergeConfiguration } from '@hangar/api';
import type { JsonObject, KubeObject } from '@hangar/api';
import { applyConfigurationJson, CelError } from '@hangar/cel';
import type { CelValue } from '@hangar/cel';
import { PolicyProblem } from '../problem.ts';
import type { ChangedKind } from './changed-kind.ts';
import { plainNumbers } from './plain-numbers.ts';

/** Never changes the object. Throws PolicyProblem. */
export function applyConfiguration(kind: ChangedKind, object: KubeObject, value: CelValue): JsonObject {
  const { apiVersion, kind: name } = object;
  const patch = { ...configurationOf(value), apiVersion, kind: name };
  const merged = mergeConfiguration(kind.mergeType, object, patch);
  if (merged.problem !== undefined) throw new PolicyProblem(`error applying patch: ${merged.problem}`);
  return merged.object;
}

function configurationOf(value: CelValue): JsonObject {
  try {
    const json = plainNumbers(applyConfigurationJson(value), Number);
    return isObject(json) ? json : {};
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    throw new PolicyProblem(error.message, { cause: error });
  }
}
