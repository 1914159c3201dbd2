/** Whether a controller manager has what an object stands for. */

import { findCondition } from '@hangar/runtime';
import { controllerManagerLost } from '@hangar/runtime/clusters';
import type { Condition } from '../api/index.ts';
import { controllersReady, engineNotSupported } from '../api/index.ts';

/** Reasons of a controller manager that does nothing there: it cannot, or it no longer runs. */
const notServing: ReadonlySet<string> = new Set([engineNotSupported, controllerManagerLost]);

/** Whatever the status: who has it and is in trouble has it all the same. */
export function isServed(conditions: readonly Condition[] | undefined): boolean {
  const said = findCondition(conditions, controllersReady);
  return said !== undefined && !notServing.has(said.reason);
}
