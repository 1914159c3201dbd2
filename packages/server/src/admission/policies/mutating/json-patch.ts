/** `[JSONPatch{op: …, path: …, value: …}]`: applies operations of RFC 6902. A failing test leaves the object unchanged. */

import { applyJsonPatch, StatusError } from '@hangar/api';
import type { JsonObject, KubeObject } from '@hangar/api';
import { applyConfigurationJson, CelError, CelList, StructValue } from '@hangar/cel';
import type { CelValue } from '@hangar/cel';
import { PolicyProblem } from '../problem.ts';
import { failsOnlyItsTest, patchProblem } from './json-patch-problem.ts';
import type { Operation } from './json-patch-problem.ts';
import { plainNumbers } from './plain-numbers.ts';

/** Never changes the object. Throws PolicyProblem. */
export function applyOperations(object: KubeObject, value: CelValue): JsonObject {
  const operations = operationsOf(value);
  try {
    return applyJsonPatch(object, operations) as JsonObject;
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    if (failsOnlyItsTest(object, operations)) return object;
    throw new PolicyProblem(`JSON Patch: ${patchProblem(object, operations) ?? error.message}`, { cause: error });
  }
}

function operationsOf(value: CelValue): Operation[] {
  if (!(value instanceof CelList)) {
    throw new PolicyProblem('type mismatch: JSONPatchType.expression should evaluate to array');
  }
  return value.toArray().map((one) => {
    if (!(one instanceof StructValue)) {
      throw new PolicyProblem('type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch');
    }
    const text = (field: string): string => {
      const found = one.find(field);
      return typeof found === 'string' ? found : '';
    };
    const given = one.find('value');
    return {
      op: text('op'),
      path: text('path'),
      ...(text('from') === '' ? {} : { from: text('from') }),
      ...(given === undefined ? {} : { value: jsonOf(given) }),
    };
  });
}

/** Integers beyond the range of a double become strings, as in the JSON mapping of protobuf. */
function jsonOf(value: CelValue): unknown {
  try {
    return plainNumbers(applyConfigurationJson(value), String);
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    const isMismatch = error.message.startsWith('type mismatch');
    const what = isMismatch ? '' : 'JSONPath valueExpression evaluated to a type that could not marshal to JSON: ';
    throw new PolicyProblem(`${what}${error.message}`, { cause: error });
  }
}
