/** Whether a controller manager has what an object stands for. */

import { findCondition } from '@hangar/runtime';
import { controllerManagerLost } from '@hangar/runtime/clusters';
import type { Condition } from '../api/index.ts';
import { controllersReady, engineNotSupported } from '../api/index.ts';

/** Reasons of a controller manager that does nothing there: it cannot, or it no longer runs. */
const notServing: ReadonlySet<string> = new Set([engineNotSupported, controllerManagerLost]);

/** Returns whether a controller manager serves the control plane. The status of the condition does not matter. */
export function isServed(conditions: readonly Condition[] | undefined): boolean {
  const said = findCondition(conditions, controllersReady);
  return said !== undefined && !notServing.has(said.reason);
}
