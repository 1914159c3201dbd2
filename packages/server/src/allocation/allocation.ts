/**
 * What an object has besides itself: addresses, ports. They are written in the same transaction as the object, each under the
 * condition that nobody else took it in the meantime; so nothing is ever given twice, and nothing leaks when the server ends
 * half-way. A transaction that fails for such a condition is made anew from what is stored then.
 */

import type { KubeObject } from '@hangar/api';
import type { Write } from '@hangar/store';
import type { ControlPlane } from '../control-plane.ts';

export interface AllocationContext {
  readonly plane: ControlPlane;
  /** Nothing is written, and the values only have the form of real ones. */
  readonly isDryRun: boolean;
}

/** Each puts what it allocates into `object`, and answers the writes that go with it. All throw 422 when they cannot. */
export interface Allocation {
  create(context: AllocationContext, object: KubeObject): Promise<readonly Write[]>;
  update(context: AllocationContext, object: KubeObject, old: KubeObject): Promise<readonly Write[]>;
  /** Gives everything back. */
  remove(context: AllocationContext, object: KubeObject): Promise<readonly Write[]>;
}
