/**
 * What no policy is asked about: policies themselves, so that nobody locks himself out of repairing one, and questions
 * about identity and rights, without which nothing works.
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
