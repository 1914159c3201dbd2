/** The API group resourcemanager.miloapis.com/v1alpha1: types, kinds, names. */

export type { OrganizationSpec, OrganizationStatus, OrganizationType } from './organization.ts';
export type {
  MembershipRole,
  OrganizationMembershipSpec,
  OrganizationMembershipStatus,
  SubjectReference,
} from './organization-membership.ts';
export type { ProjectOwner, ProjectSpec, ProjectStatus } from './project.ts';
export { Organization, OrganizationMembership, Project } from './kinds.ts';
export * from './names.ts';
