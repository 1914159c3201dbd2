/**
 * Limits a request to the objects of a collection that its user may see. An authorizer returns it with its decision; reads of the
 * collection then cost in proportion to the visible objects.
 *
 * The visible objects change with their own revisions, which the store orders together with the objects. A list waits until all changes up
 * to its revision are known. A watch ends with 410 when the rights of its user change, so that the client lists again: objects that became
 * visible have older revisions than the watch, and would be missing.
 */

import type { KubeObject } from '@hangar/api';
import type { Revision } from '@hangar/store';

export interface Visibility {
  /** Resolves when all changes up to this revision are known. */
  reached(revision: Revision): Promise<void>;
  /** Returns the visible objects in the order of their keys, as `name` or `namespace/name`. `namespace`: empty for all. */
  keys(namespace: string): readonly string[];
  /** Reports whether an object with this name exists and is visible. */
  has(namespace: string, name: string): boolean;
  isVisible(object: KubeObject): boolean;
  /** Reports whether the rights of the user may have changed after this revision. */
  changedSince(revision: Revision): boolean;
  /** Calls the listener when the rights of the user change. Returns a function that ends it. */
  onChange(listener: () => void): () => void;
}
