/** Decides which memberships are valid. Pure. */

import { isBeingDeleted } from '@hangar/runtime';
import type { NewCondition } from '@hangar/runtime';
import { organizationNamespace } from '../api/index.ts';
import type { Organization, OrganizationMembership } from '../api/index.ts';

/**
 * Reports whether the membership is in the namespace of its organization. Users with rights in another namespace must not be able to add
 * members.
 */
export const isInOrganization = ({ metadata, spec }: OrganizationMembership): boolean =>
  metadata.namespace === organizationNamespace(spec.organizationRef.name);

/** Reports whether the membership grants roles in the projects of the organization. */
export const isEffective = (membership: OrganizationMembership, organization: Organization | undefined): boolean =>
  isInOrganization(membership) && !isBeingDeleted(membership) && organization?.status?.namespace !== undefined;

export function membershipCondition(
  { metadata, spec }: OrganizationMembership,
  organization: Organization | undefined,
): NewCondition {
  const { name } = spec.organizationRef;
  const namespace = organizationNamespace(name);
  if (metadata.namespace !== namespace) {
    const message = `the membership has no effect in namespace "${metadata.namespace}": create it in namespace "${namespace}"`;
    return { type: 'Ready', status: false, reason: 'WrongNamespace', message };
  }
  if (!organization) {
    const message = `Organization "${name}" does not exist`;
    return { type: 'Ready', status: false, reason: 'OrganizationNotFound', message };
  }
  if (organization.status?.namespace === undefined) {
    const message = `Organization "${name}" is not ready`;
    return { type: 'Ready', status: false, reason: 'OrganizationNotReady', message };
  }
  const message = `the member has its roles in all projects of Organization "${name}"`;
  return { type: 'Ready', status: true, reason: 'Accepted', message };
}
