/**
 * Requests that no policy applies to: policies themselves, so that users can always repair them, and reviews of identity and permissions,
 * which everything depends on.
 */

import type { AdmissionRequest } from '../admission.ts';

const exempt: Readonly<Record<string, ReadonlySet<string>>> = {
  'admissionregistration.k8s.io': new Set([
    'validatingadmissionpolicies',
    'validatingadmissionpolicybindings',
    'mutatingadmissionpolicies',
    'mutatingadmissionpolicybindings',
  ]),
  'authentication.k8s.io': new Set(['selfsubjectreviews', 'tokenreviews']),
  'authorization.k8s.io': new Set([
    'localsubjectaccessreviews',
    'selfsubjectaccessreviews',
    'selfsubjectrulesreviews',
    'subjectaccessreviews',
  ]),
};

export const isExempt = ({ resource: { group, name } }: AdmissionRequest): boolean =>
  Object.hasOwn(exempt, group) && exempt[group]!.has(name);
