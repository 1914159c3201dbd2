/** Amounts of resources: `500m`, `1Gi`. They are of the right form already; here they are compared. */

import type { FieldError } from '../../../status/field-error.ts';
import { compareQuantities } from '../../../values/quantity.ts';
import { append } from '../../shared/checks.ts';
import { positiveQuantityErrors } from '../../shared/quantities.ts';
import { resourceQuantityErrors } from '../../shared/resource-names.ts';

export type ResourceList = Readonly<Record<string, string>> | null;

export const signOf = (quantity: string): number => compareQuantities(quantity, '0');

export const checkResourceQuantity = (errors: FieldError[], path: string, resource: string, quantity: string): void =>
  append(errors, resourceQuantityErrors(path, resource, quantity));

export const checkPositiveQuantity = (errors: FieldError[], path: string, quantity: string): void =>
  append(errors, positiveQuantityErrors(path, quantity));
