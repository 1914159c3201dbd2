/** Group, version, labels and derived names of organizations and projects. */

export const group = 'resourcemanager.miloapis.com';
export const apiVersion = `${group}/v1alpha1`;

/** On Projects: the content and the control plane are deleted first. On Organizations: projects and the namespace are deleted first. */
export const finalizer = `${group}/cleanup`;

export const labels = {
  /** On ControlPlanes and namespaces: the organization. */
  organization: `${group}/organization`,
  /** On ControlPlanes: the project. */
  project: `${group}/project`,
} as const;

/** Returns the namespace of the memberships of an organization. */
export const organizationNamespace = (organization: string): string => `organization-${organization}`;
