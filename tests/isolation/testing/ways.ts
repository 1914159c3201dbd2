/** Addresses of a tenant, and the requests that each of them accepts. */

import type { Resident, Shown } from './world.ts';

export const selfReviews = '/apis/authentication.k8s.io/v1/selfsubjectreviews';

/** Returns the addresses of a tenant: the prefix of a path, and the host. */
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

/** Health of a known host name is public, as of any server: it reveals nothing. */
export const isPublic = (target: string): boolean => /^\/(?:version|readyz|livez|healthz)/.test(target);
