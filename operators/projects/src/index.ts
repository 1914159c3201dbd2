/**
 * The operator of organizations and projects: the group resourcemanager.miloapis.com.
 *
 *   api/            types, kinds and names; the definitions are generated from them
 *   organization/   Organization: the namespace of its members
 *   membership/     OrganizationMembership: validity, and the role bindings in projects
 *   project/        Project: its ControlPlane, the quota, and the order of a deletion
 *   operator.ts     all of them, composed on one manager
 *   rbac.ts         the rights that it needs
 */

export * from './api/index.ts';
export { definitions } from './api/generated/index.ts';
export { projectsOperator } from './operator.ts';
export type { ProjectsOperatorOptions } from './operator.ts';
export { projectsOperatorRules } from './rbac.ts';
