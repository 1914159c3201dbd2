/**
 * Allocates addresses and ports for objects. Allocations are written in the same transaction as the object, each on condition that it is
 * still free. So nothing is allocated twice, and nothing leaks when the server stops half-way. A transaction that fails on such a condition
 * is rebuilt from the stored state and retried.
 */

import type { KubeObject } from '@hangar/api';
import type { Write } from '@hangar/store';
import type { ControlPlane } from '../control-plane.ts';

export interface AllocationContext {
  readonly plane: ControlPlane;
  /** Nothing is written, and the allocated values are placeholders. */
  readonly isDryRun: boolean;
}

/** Each method sets the allocated values in `object` and returns the writes that belong to them. All throw 422 on failure. */
export interface Allocation {
  create(context: AllocationContext, object: KubeObject): Promise<readonly Write[]>;
  update(context: AllocationContext, object: KubeObject, old: KubeObject): Promise<readonly Write[]>;
  /** Releases all allocations. */
  remove(context: AllocationContext, object: KubeObject): Promise<readonly Write[]>;
}
