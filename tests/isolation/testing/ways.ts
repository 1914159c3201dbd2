/** Ways to a tenant, and what may be asked on each of them. */

import type { Resident, Shown } from './world.ts';

export const selfReviews = '/apis/authentication.k8s.io/v1/selfsubjectreviews';

/** The ways to a tenant: what stands before a path, and the host that is asked for. */
export const waysTo = ({ name, plane, host }: Resident) => [
  { before: plane },
  { before: `/projects/${name}/control-plane` },
  { before: `/apis/resourcemanager.miloapis.com/v1alpha1/projects/${name}/control-plane` },
  { before: '', host },
];

export const withHeaders = (shown: Shown, headers: Record<string, string | string[]>): Shown => ({
  ...shown,
  headers: { ...shown.headers, ...headers },
});

/** Whoever knows a host name may ask after its health, as of any server: it says nothing of anybody. */
export const isPublic = (target: string): boolean => /^\/(?:version|readyz|livez|healthz)/.test(target);
