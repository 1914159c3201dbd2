/**
 * Index of organizations, their members and their projects, which follows the objects in the management plane. It answers which projects a
 * user belongs to, in time proportional to the groups of the user and to the result. It takes about a hundred bytes for each object.
 */

import type { Clock } from '@hangar/core';
import type { Entry, Revision, Store } from '@hangar/store';
import type { User } from '../../auth/user.ts';
import { StoreFollower } from '../../objects/store-follower.ts';
import type { Tenant } from '../tenant.ts';
import { SubjectChanges } from './subject-changes.ts';
import {
  fieldsOf,
  membershipOf,
  organizationNamespace,
  organizationOf,
  organizationOfNamespace,
  projectOf,
  projectsPrefix,
  subjectOf,
} from './stored-objects.ts';
import type { StoredMembership, StoredOrganization, StoredProject, Subject } from './stored-objects.ts';

export interface ProjectDirectoryOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly storePrefix: string;
}

interface Organization {
  /** Undefined: other objects name it, and it does not exist. */
  object: StoredOrganization | undefined;
  readonly memberships: Map<string, StoredMembership>;
  readonly projects: Set<string>;
}

/** A tenant and the ControlPlane that owns it. */
export type OwnedTenant = Pick<Tenant, 'path' | 'controlPlaneUid'>;

/** A membership of a subject. */
interface Place {
  readonly organization: string;
  readonly roles: readonly string[];
}

export class ProjectDirectory {
  readonly changes = new SubjectChanges();
  readonly #organizations = new Map<string, Organization>();
  readonly #projects = new Map<string, StoredProject>();
  /** By subject, then by the name of the membership's key. */
  readonly #places = new Map<Subject, Map<string, Place>>();
  readonly #follower: StoreFollower;
  readonly #prefix: string;

  constructor({ store, clock, storePrefix }: ProjectDirectoryOptions) {
    this.#prefix = projectsPrefix(storePrefix);
    this.#follower = new StoreFollower({ store, clock }, this.#prefix, {
      put: (entry) => this.#put(entry),
      delete: (key, revision) => this.#set(key, undefined, revision),
      retain: (keys, revision) => this.#retain(keys, revision),
    });
  }

  /** Resolves when all stored objects are loaded. */
  start(): Promise<void> {
    return this.#follower.start();
  }

  close(): void {
    this.#follower.close();
  }

  /** Resolves when all changes up to this revision are known. */
  reached(revision: Revision): Promise<void> {
    return this.#follower.reached(revision);
  }

  /** Returns the organization of the project; undefined: there is no such project. */
  organizationOf(project: string): string | undefined {
    return this.#projects.get(project)?.organization;
  }

  /** Returns the organizations of the user, without order. */
  organizationsOf(user: User): ReadonlySet<string> {
    const found = new Set<string>();
    for (const subject of subjectsOf(user)) {
      for (const { organization } of this.#places.get(subject)?.values() ?? []) {
        if (this.#isReady(organization)) found.add(organization);
      }
    }
    return found;
  }

  /** Returns the roles of the user in the organization; undefined: the user is not a member. */
  rolesIn(organization: string, user: User): ReadonlySet<string> | undefined {
    if (!this.#isReady(organization)) return undefined;
    let found: Set<string> | undefined;
    for (const subject of subjectsOf(user)) {
      for (const place of this.#places.get(subject)?.values() ?? []) {
        if (place.organization !== organization) continue;
        found ??= new Set();
        for (const role of place.roles) found.add(role);
      }
    }
    return found;
  }

  /** Reports whether the user is a member of the organization whose project owns the tenant. */
  isMember(tenant: OwnedTenant | undefined, user: User): boolean {
    const organization = this.#ownerOfTenant(tenant)?.organization;
    return organization !== undefined && this.rolesIn(organization, user) !== undefined;
  }

  /** Reports whether the tenant is the control plane of the project with its name. */
  isProject(tenant: OwnedTenant | undefined): boolean {
    return this.#ownerOfTenant(tenant) !== undefined;
  }

  /** A member can create a project with the name of any control plane: the names alone prove nothing. */
  #ownerOfTenant(tenant: OwnedTenant | undefined): StoredProject | undefined {
    const project = tenant && this.#projects.get(tenant.path);
    return project?.controlPlaneUid !== undefined && project.controlPlaneUid === tenant?.controlPlaneUid
      ? project
      : undefined;
  }

  projectsOf(organization: string): ReadonlySet<string> {
    return this.#organizations.get(organization)?.projects ?? none;
  }

  /** Returns the names of the memberships in the namespace of the organization. */
  membershipsOf(organization: string): Iterable<string> {
    return this.#organizations.get(organization)?.memberships.keys() ?? none;
  }

  /** Returns the number of projects that the organization may have. */
  projectsMax(organization: string): number {
    return this.#organizations.get(organization)?.object?.projectsMax ?? 0;
  }

  #isReady(organization: string): boolean {
    return this.#organizations.get(organization)?.object?.isReady ?? false;
  }

  #put(entry: Entry): void {
    let fields: ReturnType<typeof fieldsOf> | undefined;
    try {
      fields = fieldsOf(entry);
    } catch {
      // Written by another program, and not an object.
    }
    this.#set(entry.key, fields, entry.modRevision);
  }

  #retain(keys: ReadonlySet<string>, revision: Revision): void {
    const known = [
      ...Array.from(this.#projects.keys(), (name) => `projects/${name}`),
      ...Array.from(this.#organizations, ([organization, { object, memberships }]) => [
        ...(object ? [`organizations/${organization}`] : []),
        ...Array.from(
          memberships.keys(),
          (name) => `organizationmemberships/${organizationNamespace(organization)}/${name}`,
        ),
      ]).flat(),
    ];
    for (const one of known) if (!keys.has(this.#prefix + one)) this.#set(this.#prefix + one, undefined, revision);
    // Changes may have been missed.
    this.changes.all(revision);
  }

  #set(key: string, fields: ReturnType<typeof fieldsOf> | undefined, revision: Revision): void {
    const [resource, first = '', second] = key.slice(this.#prefix.length).split('/');
    if (resource === 'projects') return this.#setProject(first, fields && projectOf(fields));
    if (resource === 'organizations') return this.#setOrganization(first, fields && organizationOf(fields), revision);
    if (resource !== 'organizationmemberships' || second === undefined) return;
    const organization = organizationOfNamespace(first);
    // Other namespaces have no organization: their memberships have no effect.
    if (organization === undefined) return;
    this.#setMembership(organization, second, fields && membershipOf(fields), revision);
  }

  #setProject(name: string, project: StoredProject | undefined): void {
    const before = this.#projects.get(name)?.organization;
    if (project) this.#projects.set(name, project);
    else this.#projects.delete(name);
    const owner = project?.organization;
    if (before === owner) return;
    if (owner !== undefined) this.#organization(owner).projects.add(name);
    if (before === undefined) return;
    this.#organizations.get(before)!.projects.delete(name);
    this.#forget(before);
  }

  #setOrganization(name: string, object: StoredOrganization | undefined, revision: Revision): void {
    const organization = this.#organization(name);
    const before = organization.object?.isReady ?? false;
    organization.object = object;
    if (before !== (object?.isReady ?? false)) {
      for (const { subject } of organization.memberships.values()) if (subject) this.changes.of(subject, revision);
    }
    this.#forget(name);
  }

  #setMembership(of: string, name: string, membership: StoredMembership | undefined, revision: Revision): void {
    const organization = this.#organization(of);
    const before = organization.memberships.get(name);
    const id = `${of}/${name}`;
    if (membership) organization.memberships.set(name, membership);
    else organization.memberships.delete(name);
    const [from, to] = [before?.subject, membership?.subject];
    if (from !== undefined && from !== to) {
      const places = this.#places.get(from)!;
      places.delete(id);
      if (places.size === 0) this.#places.delete(from);
      this.changes.of(from, revision);
    }
    if (to !== undefined) {
      let places = this.#places.get(to);
      if (!places) this.#places.set(to, (places = new Map()));
      places.set(id, { organization: of, roles: membership!.roles });
      if (from !== to) this.changes.of(to, revision);
    }
    this.#forget(of);
  }

  #organization(name: string): Organization {
    let found = this.#organizations.get(name);
    if (!found) {
      found = { object: undefined, memberships: new Map(), projects: new Set() };
      this.#organizations.set(name, found);
    }
    return found;
  }

  #forget(name: string): void {
    const found = this.#organizations.get(name);
    if (found && !found.object && found.memberships.size === 0 && found.projects.size === 0) {
      this.#organizations.delete(name);
    }
  }
}

const none: ReadonlySet<string> = new Set();

/** Names of the platform are never members. */
export function* subjectsOf({ name, groups }: User): Generator<Subject> {
  if (!name.startsWith('system:')) yield subjectOf('User', name);
  for (const group of groups) if (!group.startsWith('system:')) yield subjectOf('Group', group);
}
