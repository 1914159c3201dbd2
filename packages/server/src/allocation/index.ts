/** What objects have besides themselves, by resource. */

import type { Allocation } from './allocation.ts';
import { serviceAllocation } from './services.ts';

export type { Allocation, AllocationContext } from './allocation.ts';

/** Undefined: its objects have nothing. */
export const allocationOf = (group: string, name: string): Allocation | undefined =>
  group === '' && name === 'services' ? serviceAllocation : undefined;
