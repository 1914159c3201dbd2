/**
 * Rules of one kind that differ from the common ones, read by `builtinStrategy`. The common rules: names are DNS subdomains; an update
 * needs an existing object and no resourceVersion; a kind with a status subresource loses `status` on creation, keeps it on an update, and
 * keeps `spec` on an update of the status.
 */

import type { KubeObject } from '../object.ts';
import type { NameRule } from '../validation/formats.ts';
import type { ResetFields } from './contract.ts';

/** The current time, as objects show it: `2026-01-31T12:00:00Z`. */
export type Now = () => string;

export type Create = (object: KubeObject, now: Now) => void;
export type Update = (object: KubeObject, old: KubeObject, now: Now) => void;

export interface SubresourceRules {
  /** Replaces the common rules. */
  readonly update: Update;
  readonly resets: ResetFields;
}

export interface KindRules {
  readonly name?: NameRule;
  readonly createsOnUpdate?: true;
  /** An update must have a resourceVersion. */
  readonly needsResourceVersion?: true;
  /** Dotted paths whose change increments the generation, and the generation of a new object. */
  readonly generation?: { readonly first: 0 | 1; readonly of: readonly string[] };
  /** Clients may set the status on creation. */
  readonly keepsStatusOnCreate?: true;
  /** Runs after the common rules. */
  readonly create?: Create;
  /** Runs after the common rules, before generations are compared. */
  readonly update?: Update;
  /** Fields that a write of the object itself does not own; by default `status` if there is a status subresource. */
  readonly resets?: ResetFields;
  /** Metadata that an update of the status may not change. */
  readonly statusKeeps?: readonly string[];
  /** Runs after the common rules for the status. */
  readonly updateStatus?: Update;
  readonly statusResets?: ResetFields;
  readonly subresources?: Readonly<Record<string, SubresourceRules>>;
}
