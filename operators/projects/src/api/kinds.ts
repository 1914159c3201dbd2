/** The three kinds as values, for clients. */

import { defineKind } from '@hangar/client';
import type { Organization as OrganizationObject } from './organization.ts';
import type { OrganizationMembership as OrganizationMembershipObject } from './organization-membership.ts';
import type { Project as ProjectObject } from './project.ts';
import { apiVersion } from './names.ts';

export const Organization = defineKind<OrganizationObject>({
  apiVersion,
  kind: 'Organization',
  plural: 'organizations',
  isNamespaced: false,
});
export type Organization = OrganizationObject;

export const OrganizationMembership = defineKind<OrganizationMembershipObject>({
  apiVersion,
  kind: 'OrganizationMembership',
  plural: 'organizationmemberships',
  isNamespaced: true,
});
export type OrganizationMembership = OrganizationMembershipObject;

export const Project = defineKind<ProjectObject>({
  apiVersion,
  kind: 'Project',
  plural: 'projects',
  isNamespaced: false,
});
export type Project = ProjectObject;
