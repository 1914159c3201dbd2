/** The objects of organizations and projects in the management plane, as far as the server uses them. */

import type { Entry } from '@hangar/store';
import { tenantPrefix, rootPath } from '../layout.ts';

export const projectGroup = 'resourcemanager.miloapis.com';

export type ProjectResource = 'organizations' | 'organizationmemberships' | 'projects';

/** Keys of the objects start with it. */
export const projectsPrefix = (storePrefix: string): string => `${tenantPrefix(storePrefix, rootPath)}${projectGroup}/`;

/** Returns the namespace of the memberships of an organization. */
export const organizationNamespace = (organization: string): string => `${namespacePrefix}${organization}`;

const namespacePrefix = 'organization-';

/** Returns the organization whose memberships are in the namespace. */
export const organizationOfNamespace = (namespace: string): string | undefined =>
  namespace.startsWith(namespacePrefix) ? namespace.slice(namespacePrefix.length) : undefined;

const defaultProjectsMax = 100;

export interface StoredOrganization {
  /** The namespace of the memberships belongs to the organization. */
  readonly isReady: boolean;
  readonly projectsMax: number;
}

/** A user or a group: `User kim`. */
export type Subject = string & { readonly subject?: never };

export const subjectOf = (kind: 'User' | 'Group', name: string): Subject => `${kind} ${name}`;

export interface StoredMembership {
  readonly organization: string;
  readonly subject: Subject | undefined;
  readonly roles: readonly string[];
}

interface Fields {
  readonly metadata?: { readonly namespace?: string; readonly deletionTimestamp?: string };
  readonly spec?: {
    readonly projectsMax?: number;
    readonly ownerRef?: { readonly name?: string };
    readonly organizationRef?: { readonly name?: string };
    readonly userRef?: { readonly name?: string };
    readonly groupRef?: { readonly name?: string };
    readonly roles?: readonly { readonly name?: string }[];
  };
  readonly status?: { readonly namespace?: string; readonly controlPlaneRef?: { readonly uid?: string } };
}

/** Throws if the value is not JSON. */
export const fieldsOf = ({ value }: Pick<Entry, 'value'>): Fields =>
  JSON.parse(Buffer.from(value).toString()) as Fields;

export const organizationOf = ({ spec, status }: Fields): StoredOrganization => ({
  isReady: status?.namespace !== undefined,
  projectsMax: spec?.projectsMax ?? defaultProjectsMax,
});

/** Returns the organization that owns a project. */
export const ownerOf = (project: object): string | undefined => (project as Fields).spec?.ownerRef?.name;

/** A project. Members cannot write its status. */
export interface StoredProject {
  readonly organization: string;
  /** UID of its ControlPlane. Absent: it has none yet. */
  readonly controlPlaneUid: string | undefined;
}

/** Returns undefined if the project has no owner. */
export function projectOf(object: Fields): StoredProject | undefined {
  const organization = ownerOf(object);
  return organization === undefined
    ? undefined
    : { organization, controlPlaneUid: object.status?.controlPlaneRef?.uid };
}

/** Returns undefined if the membership is not in the namespace of its organization: then it has no effect. */
export function membershipOf(object: Fields): StoredMembership | undefined {
  const { metadata, spec } = object;
  const organization = spec?.organizationRef?.name;
  if (organization === undefined || metadata?.namespace !== organizationNamespace(organization)) return undefined;
  const { userRef, groupRef, roles = [] } = spec!;
  const name = (userRef ?? groupRef)?.name;
  // Names of the platform are never members.
  const isMember = name !== undefined && !name.startsWith('system:') && metadata.deletionTimestamp === undefined;
  return {
    organization,
    subject: isMember ? subjectOf(userRef ? 'User' : 'Group', name) : undefined,
    roles: roles.flatMap((one) => one.name ?? []),
  };
}
