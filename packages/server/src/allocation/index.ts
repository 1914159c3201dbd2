/** Allocations by resource. */

import type { Allocation } from './allocation.ts';
import { serviceAllocation } from './services.ts';

export type { Allocation, AllocationContext } from './allocation.ts';

/** Returns undefined for resources without allocations. */
export const allocationOf = (group: string, name: string): Allocation | undefined =>
  group === '' && name === 'services' ? serviceAllocation : undefined;
