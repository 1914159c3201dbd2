/** The control planes whose events a request may read. */

import type { VisiblePlane, VisiblePlanes } from '../storage/contract.ts';

/** The views are nested: a control plane, the control planes of an organization, all of them. */
export interface Scope {
  /** Identifies the scope, also in signed cursors. */
  readonly id: string;
  planes(): Promise<VisiblePlanes>;
}

export const platformScope: Scope = { id: 'platform', planes: () => Promise.resolve('all') };

export const planeScope = ({ name, sinceUs }: VisiblePlane): Scope => ({
  // A new control plane of the same name is another scope.
  id: `plane/${name}/${sinceUs}`,
  planes: () => Promise.resolve([{ name, sinceUs }]),
});

export const organizationScope = (name: string, planesOf: () => Promise<readonly VisiblePlane[]>): Scope => ({
  id: `organization/${name}`,
  planes: planesOf,
});
