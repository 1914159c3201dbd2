/** Whether a controller manager has what an object stands for. */

import { findCondition } from '@hangar/runtime';
import type { Condition } from '../api/index.ts';
import { controllersReady, engineNotSupported } from '../api/index.ts';

/** Whatever the status: who has it and is in trouble has it all the same. But who says that it cannot serve it does nothing there. */
export function isServed(conditions: readonly Condition[] | undefined): boolean {
  const said = findCondition(conditions, controllersReady);
  return said !== undefined && said.reason !== engineNotSupported;
}
