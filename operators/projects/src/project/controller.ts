/** The controller of Projects. README.md lists the steps. */

import { find } from '@hangar/client';
import { ControlPlane } from '@hangar/controlplane-operator';
import { asError, hasCode } from '@hangar/core';
import {
  ensureFinalizer,
  findCondition,
  generationChanged,
  isBeingDeleted,
  or,
  setConditions,
  writeStatus,
} from '@hangar/runtime';
import type { Cache, ControllerOptions, Predicate, RequestLike, Result } from '@hangar/runtime';
import { finalizer, Organization, OrganizationMembership, Project } from '../api/index.ts';
import type { ProjectStatus } from '../api/index.ts';
import { membersOf, projectsOf } from '../indexes.ts';
import { digestOf, roleBindingsOf } from '../membership/role-bindings.ts';
import { writeBindings } from '../membership/write-bindings.ts';
import { cleanUp } from './cleanup.ts';
import { ensureControlPlane } from './control-plane.ts';
import { notReady } from './world.ts';
import type { Finding, ProjectPass, ProjectWorld } from './world.ts';

const concurrency = 8;
/** A control plane that does not respond must not block the worker. */
const reconcileTimeoutMs = 60_000;
const messageMax = 4_000;

type Watched = [Organization, OrganizationMembership, Project];

export const projectController = (world: ProjectWorld): ControllerOptions<Project, [ControlPlane], Watched> => ({
  name: 'project',
  for: Project,
  owns: [ControlPlane],
  watches: [
    {
      kind: Organization,
      where: or<Organization>(generationChanged as Predicate<Organization>, namespaceChanged),
      map: ({ metadata }, { cache }) => requestsOf(cache, metadata.name!),
    },
    {
      kind: OrganizationMembership,
      where: or<OrganizationMembership>(generationChanged as Predicate<OrganizationMembership>, deletionBegins),
      map: ({ spec }, { cache }) => requestsOf(cache, spec.organizationRef.name),
    },
    // A deleted project makes room for another one.
    { kind: Project, where: onlyDeleted, map: ({ spec }, { cache }) => waiting(cache, spec.ownerRef.name) },
  ],
  concurrency,
  reconcileTimeoutMs,
  async reconcile({ name }, { client, cluster, signal }) {
    const project = await find(client, Project, { name });
    if (!project) return;
    const pass = { world, project, client, apiReader: cluster.apiReader, cache: cluster.cache, signal };
    return isBeingDeleted(project) ? cleanUp(pass) : provide(pass);
  },
});

const namespaceChanged: Predicate<Organization> = {
  update: (before, after) =>
    before.status?.namespace !== after.status?.namespace || isBeingDeleted(before) !== isBeingDeleted(after),
};
const deletionBegins: Predicate<OrganizationMembership> = {
  update: (before, after) => isBeingDeleted(before) !== isBeingDeleted(after),
};
const onlyDeleted: Predicate<Project> = { create: () => false, update: () => false };

const requestsOf = (cache: Cache, organization: string): RequestLike[] =>
  Array.from(projectsOf(cache, organization), ({ metadata }) => ({ name: metadata.name! }));

const waiting = (cache: Cache, organization: string): RequestLike[] =>
  Array.from(projectsOf(cache, organization))
    .filter(({ status }) => !status?.controlPlaneRef)
    .map(({ metadata }) => ({ name: metadata.name! }));

async function provide(given: ProjectPass): Promise<Result | void> {
  const { client, signal } = given;
  const organization = await find(client, Organization, { name: given.project.spec.ownerRef.name });
  if (!organization) {
    const message = `Organization "${given.project.spec.ownerRef.name}" does not exist`;
    return report(given, notReady('OrganizationNotFound', message));
  }
  const project = await ensureFinalizer(client, Project, given.project, finalizer, { signal });
  const pass = { ...given, project };
  const { controlPlane, finding } = await ensureControlPlane(pass, organization);
  if (finding) return report(pass, finding);
  const { name, uid } = controlPlane.metadata;
  const ready = findCondition(controlPlane.status?.conditions, 'Ready');
  if (ready?.status !== 'True') {
    const detail = ready ? `: ${ready.message}` : '';
    return report(pass, notReady('ControlPlaneNotReady', `ControlPlane "${name}" is not ready${detail}`));
  }
  const controlPlaneRef = { name: name!, uid: uid! };
  const bindings = roleBindingsOf(organization, membersOf(pass.cache, organization.metadata.name!));
  const rolesDigest = digestOf(uid!, bindings);
  const fields = { ...pass.project.status, controlPlaneRef };
  if (pass.project.status?.rolesDigest !== rolesDigest) {
    try {
      const inside = await pass.world.access.enter(controlPlane, signal);
      try {
        await writeBindings(inside, bindings, signal);
      } finally {
        await inside.close();
      }
    } catch (error) {
      if (signal.aborted || hasCode(error, 'Aborted')) throw error;
      const message = `the roles of the members cannot be bound, retrying: ${asError(error).message}`;
      await report(pass, notReady('RolesNotBound', message), fields);
      throw error;
    }
  }
  const message = `ControlPlane "${name}" is ready, and the members have their roles`;
  return report(pass, { status: true, reason: 'Ready', message }, { ...fields, rolesDigest });
}

async function report(
  { project, client, world, signal }: ProjectPass,
  { status, reason, message }: Finding,
  fields: ProjectStatus | undefined = project.status,
): Promise<void> {
  const observedGeneration = project.metadata.generation ?? 0;
  const ready = { type: 'Ready', status, reason, message: message.slice(0, messageMax), observedGeneration };
  const conditions = setConditions(project.status?.conditions, [ready], world.clock);
  const next = { ...fields, observedGeneration, conditions };
  await writeStatus(client, { kind: Project, object: project, status: next, signal });
}
