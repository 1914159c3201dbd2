/** The ControlPlane of a project: the step that creates it and keeps its class. */

import { find } from '@hangar/client';
import { ControlPlane } from '@hangar/controlplane-operator';
import { hasCode } from '@hangar/core';
import { controllerReference, isBeingDeleted, isControlledBy } from '@hangar/runtime';
import { labels } from '../api/index.ts';
import type { Organization, Project } from '../api/index.ts';
import { projectsOf } from '../indexes.ts';
import { notReady } from './world.ts';
import type { Finding, ProjectPass } from './world.ts';

const defaultProjectsMax = 100;

export type ControlPlaneStep =
  | { readonly controlPlane: ControlPlane; readonly finding?: undefined }
  | { readonly controlPlane?: undefined; readonly finding: Finding };

/** Returns the ControlPlane of the project, or the reason why there is none. The data of a project always ends with its control plane. */
export async function ensureControlPlane(pass: ProjectPass, organization: Organization): Promise<ControlPlaneStep> {
  const { project, world } = pass;
  const existing = await existingControlPlane(pass);
  if (existing) {
    world.admissions.forget(project.metadata.uid!);
    return kept(pass, organization, existing);
  }
  const name = project.metadata.name!;
  if (project.status?.controlPlaneRef) {
    const message = `ControlPlane "${name}" was deleted, including all data of the project: delete the Project`;
    return { finding: notReady('ControlPlaneDeleted', message) };
  }
  if (isBeingDeleted(organization)) {
    const message = `Organization "${organization.metadata.name}" is being deleted`;
    return { finding: notReady('OrganizationTerminating', message) };
  }
  const projectsMax = organization.spec.projectsMax ?? defaultProjectsMax;
  const isAdmitted = world.admissions.admit({
    project,
    projects: projectsOf(pass.cache, organization.metadata.name!),
    projectsMax,
    hasControlPlane: (one) => isProvisioned(pass, one),
  });
  if (!isAdmitted) {
    const message = `Organization "${organization.metadata.name}" may have ${projectsMax} projects: delete one, or increase spec.projectsMax`;
    return { finding: notReady('QuotaExceeded', message) };
  }
  return created(pass, organization);
}

/** Reads from the server if the cache does not have it: its labels may have been removed. */
export async function existingControlPlane({
  project,
  client,
  apiReader,
  signal,
}: ProjectPass): Promise<ControlPlane | undefined> {
  const name = project.metadata.name!;
  const cached = await find(client, ControlPlane, { name });
  const found = cached ?? (await find(apiReader, ControlPlane, { name }, { signal }));
  return found && isControlledBy(found, project) ? found : undefined;
}

function isProvisioned({ cache }: ProjectPass, project: Project): boolean {
  if (project.status?.controlPlaneRef) return true;
  const found = cache.informer(ControlPlane).get({ name: project.metadata.name! });
  return found !== undefined && isControlledBy(found, project);
}

async function created(pass: ProjectPass, organization: Organization): Promise<ControlPlaneStep> {
  const { project, client, world, signal } = pass;
  const name = project.metadata.name!;
  const { controlPlaneClassRef: classRef } = organization.spec;
  const metadata = {
    name,
    labels: { [labels.project]: name, [labels.organization]: organization.metadata.name! },
    ownerReferences: [controllerReference(project)],
  };
  // Retained data may belong to another organization.
  const spec = {
    ...(classRef ? { classRef: { name: classRef.name } } : {}),
    deletionPolicy: 'Destroy' as const,
    retainedData: 'Refuse' as const,
  };
  try {
    return { controlPlane: await client.create(ControlPlane, { metadata, spec }, { signal }) };
  } catch (error) {
    if (hasCode(error, 'AlreadyExists')) {
      const there = await existingControlPlane(pass);
      if (there) return kept(pass, organization, there);
      world.admissions.forget(project.metadata.uid!);
      const message = `the name is already used by another control plane: delete the Project, and create it with another name`;
      return { finding: notReady('NameInUse', message) };
    }
    throw error;
  }
}

async function kept(
  { client, signal }: ProjectPass,
  organization: Organization,
  controlPlane: ControlPlane,
): Promise<ControlPlaneStep> {
  const { name, uid } = controlPlane.metadata;
  if (isBeingDeleted(controlPlane)) {
    return { finding: notReady('ControlPlaneTerminating', `ControlPlane "${name}" is being deleted`) };
  }
  const className = organization.spec.controlPlaneClassRef?.name;
  const { classRef, deletionPolicy } = controlPlane.spec ?? {};
  if (classRef?.name === className && deletionPolicy === 'Destroy') return { controlPlane };
  const spec = { classRef: className === undefined ? null : { name: className }, deletionPolicy: 'Destroy' };
  const body = { metadata: { uid }, spec };
  return { controlPlane: await client.patch(ControlPlane, { name: name! }, { type: 'merge', body }, { signal }) };
}
