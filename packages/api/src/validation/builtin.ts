/**
 * The validation of the built-in kinds, by `apiVersion/Kind`. It is the largest part of this package and not needed before the first write:
 * it is loaded then, in one synchronous step, because validation is synchronous.
 */

import { createRequire } from 'node:module';
import { lazy } from '@hangar/core';
import type { KindValidation } from './contract.ts';
import type * as Others from './others/index.ts';
import type * as Workloads from './workloads/index.ts';

const require = createRequire(import.meta.url);

const validations = lazy(() => {
  const { workloadValidations } = require('./workloads/index.ts') as typeof Workloads;
  const { otherValidations } = require('./others/index.ts') as typeof Others;
  return new Map(Object.entries({ ...workloadValidations, ...otherValidations }));
});

/** Undefined for kinds without rules. */
export const validationOf = (key: string): KindValidation | undefined => validations().get(key);
