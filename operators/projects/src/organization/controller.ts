/**
 * The controller of Organizations: creates the namespace of the memberships. A deletion waits for the projects, then deletes the namespace:
 * an organization that is created later with the same name must not have the members of this one.
 */

import { find } from '@hangar/client';
import type { Client, Reader } from '@hangar/client';
import { Namespace } from '@hangar/client/kinds/core-v1';
import { hasCode } from '@hangar/core';
import type { Clock } from '@hangar/core';
import {
  controllerReference,
  dropFinalizer,
  ensureFinalizer,
  hasFinalizer,
  isBeingDeleted,
  isControlledBy,
  setCondition,
  writeStatus,
} from '@hangar/runtime';
import type { Cache, ControllerOptions, NewCondition, Predicate } from '@hangar/runtime';
import { finalizer, labels, Organization, organizationNamespace, Project } from '../api/index.ts';
import type { OrganizationStatus } from '../api/index.ts';
import { projectsOf } from '../indexes.ts';

const namedMax = 5;

/** The number of projects changes only when one is created or deleted. */
const comesAndGoes: Predicate<Project> = { update: () => false };

interface OrganizationPass {
  readonly organization: Organization;
  readonly client: Client;
  readonly apiReader: Reader;
  readonly cache: Cache;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

export const organizationController = ({
  clock,
}: {
  readonly clock: Clock;
}): ControllerOptions<Organization, [Namespace], [Project]> => ({
  name: 'organization',
  for: Organization,
  owns: [Namespace],
  watches: [{ kind: Project, where: comesAndGoes, map: ({ spec }) => [{ name: spec.ownerRef.name }] }],
  async reconcile({ name }, { client, cluster, signal }) {
    const organization = await find(client, Organization, { name });
    if (!organization) return;
    const { cache, apiReader } = cluster;
    const pass = { organization, client, apiReader, cache, clock, signal };
    return isBeingDeleted(organization) ? cleanUp(pass) : provide(pass);
  },
});

async function provide(given: OrganizationPass): Promise<void> {
  const { client, signal } = given;
  const organization = await ensureFinalizer(client, Organization, given.organization, finalizer, { signal });
  const pass = { ...given, organization };
  const name = organizationNamespace(organization.metadata.name!);
  const namespace = await ensureNamespace(pass, name);
  if (!namespace) {
    const message = `namespace "${name}" is already used: delete it, or delete the Organization and create it with another name`;
    return report(pass, { type: 'Ready', status: false, reason: 'NamespaceInUse', message }, {});
  }
  if (isBeingDeleted(namespace)) {
    const message = `namespace "${name}" is being deleted`;
    return report(pass, { type: 'Ready', status: false, reason: 'NamespaceTerminating', message }, { namespace: name });
  }
  const message = `the members are in namespace "${name}"`;
  return report(pass, { type: 'Ready', status: true, reason: 'Ready', message }, { namespace: name });
}

/** Returns undefined if the namespace belongs to another owner: its users could add members. */
async function ensureNamespace(pass: OrganizationPass, name: string): Promise<Namespace | undefined> {
  const { organization, client, signal } = pass;
  const existing = await existingNamespace(pass, name);
  if (existing) return isControlledBy(existing, organization) ? existing : undefined;
  const metadata = {
    name,
    labels: { [labels.organization]: organization.metadata.name! },
    ownerReferences: [controllerReference(organization)],
  };
  return client.create(Namespace, { metadata }, { signal });
}

/** Reads from the server if the cache does not have it: the cache has only namespaces with the label. */
async function existingNamespace(
  { client, apiReader, signal }: OrganizationPass,
  name: string,
): Promise<Namespace | undefined> {
  return (await find(client, Namespace, { name })) ?? (await find(apiReader, Namespace, { name }, { signal }));
}

async function cleanUp(pass: OrganizationPass): Promise<void> {
  const { organization, client, cache, signal } = pass;
  if (!hasFinalizer(organization, finalizer)) return;
  const projects = Array.from(projectsOf(cache, organization.metadata.name!), ({ metadata }) => metadata.name!);
  const { namespace: recorded } = organization.status ?? {};
  if (projects.length > 0) {
    const names = projects.toSorted().slice(0, namedMax);
    const more = projects.length > names.length ? ` and ${projects.length - names.length} more` : '';
    const message = `the organization is deleted when its projects are deleted: ${names.map((name) => `"${name}"`).join(', ')}${more}`;
    const condition = { type: 'Ready', status: false, reason: 'ProjectsExist', message };
    return report(pass, condition, recorded === undefined ? {} : { namespace: recorded });
  }
  const name = organizationNamespace(organization.metadata.name!);
  const namespace = await existingNamespace(pass, name);
  if (namespace && isControlledBy(namespace, organization)) {
    if (!isBeingDeleted(namespace)) {
      await client.delete(Namespace, { name }, { preconditions: { uid: namespace.metadata.uid! }, signal }).catch(gone);
    }
    const message = `waiting for the deletion of namespace "${name}"`;
    return report(pass, { type: 'Ready', status: false, reason: 'NamespaceTerminating', message }, { namespace: name });
  }
  await dropFinalizer(client, Organization, organization, finalizer, { signal });
}

const gone = (error: unknown): void => {
  if (!hasCode(error, 'NotFound')) throw error;
};

async function report(
  { organization, client, cache, clock, signal }: OrganizationPass,
  condition: NewCondition,
  fields: OrganizationStatus,
): Promise<void> {
  const observedGeneration = organization.metadata.generation ?? 0;
  const projects = Array.from(projectsOf(cache, organization.metadata.name!)).length;
  const conditions = setCondition(organization.status?.conditions, { ...condition, observedGeneration }, clock);
  const status = { ...fields, projects, observedGeneration, conditions };
  await writeStatus(client, { kind: Organization, object: organization, status, signal });
}
