/** The part of the fleet that a search covers, and the rights that limit it. */

export type Scope =
  /** From the management plane: its own objects, and those of tenants that the caller may read as a platform user. */
  | { readonly type: 'platform' }
  /** From inside a control plane, or from the only cluster: its own objects. */
  | { readonly type: 'cluster'; readonly cluster: string };

/** Name of the management plane among the control planes. */
export const rootCluster = 'root';
