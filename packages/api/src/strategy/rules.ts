/**
 * How one kind differs from the usual: what `builtinStrategy` reads. The usual is: names are DNS subdomains; an update
 * needs an existing object and no resourceVersion; a kind with a status subresource loses `status` on creation, keeps it on
 * an update, and keeps `spec` on an update of the status.
 */

import type { KubeObject } from '../object.ts';
import type { NameRule } from '../validation/formats.ts';
import type { ResetFields } from './contract.ts';

/** The present, as objects show it: `2026-01-31T12:00:00Z`. */
export type Now = () => string;

export type Create = (object: KubeObject, now: Now) => void;
export type Update = (object: KubeObject, old: KubeObject, now: Now) => void;

export interface SubresourceRules {
  /** Replaces what is usual. */
  readonly update: Update;
  readonly resets: ResetFields;
}

export interface KindRules {
  readonly name?: NameRule;
  readonly createsOnUpdate?: true;
  /** An update must say which version it changes. */
  readonly needsResourceVersion?: true;
  /** Dotted paths whose change is a new generation, and the number that a new object gets. */
  readonly generation?: { readonly first: 0 | 1; readonly of: readonly string[] };
  /** Clients may set the status when they create. */
  readonly keepsStatusOnCreate?: true;
  /** After what is usual. */
  readonly create?: Create;
  /** After what is usual, before generations are compared. */
  readonly update?: Update;
  /** What a write of the object itself gives up; usually `status`, where there is a status subresource. */
  readonly resets?: ResetFields;
  /** What of the metadata an update of the status may not change. */
  readonly statusKeeps?: readonly string[];
  /** After what is usual for the status. */
  readonly updateStatus?: Update;
  readonly statusResets?: ResetFields;
  readonly subresources?: Readonly<Record<string, SubresourceRules>>;
}
