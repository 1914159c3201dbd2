/**
 * Checks writes of members to Projects: the organization of the object is known only here. Writes of users with rights on all projects are
 * not checked. The quota counts creations that are not stored yet, so that concurrent ones do not exceed it on one server; the operator
 * gives a control plane only to projects within the quota.
 */

import { StatusError } from '@hangar/api';
import type { KubeObject } from '@hangar/api';
import type { Clock } from '@hangar/core';
import type { AdmissionPlugin, AdmissionRequest } from '../../admission/admission.ts';
import { mayWriteProjects } from './member-authorizer.ts';
import type { ProjectDirectory } from './project-directory.ts';
import { ownerOf, projectGroup } from './stored-objects.ts';

export interface MemberAdmissionOptions {
  readonly directory: ProjectDirectory;
  readonly clock: Clock;
}

/** A creation that failed after admission is counted this long. */
const pendingMs = 5_000;

export function memberAdmission({ directory, clock }: MemberAdmissionOptions): AdmissionPlugin {
  const pending = new PendingProjects(directory, clock);
  return {
    name: 'ProjectMembers',
    resources: new Set([`${projectGroup}/projects`]),
    validate(request) {
      const object = request.object ?? request.old;
      if (!object || !request.visibility) return;
      const organization = ownerOf(object) ?? '';
      if (!mayWriteProjects(directory, organization, request.user)) {
        const message = `user "${request.user.name}" may not ${request.verb} projects of organization "${organization}"`;
        throw refused(object, message);
      }
      if (request.operation === 'DELETE') return insistOnDependents(request, object);
      if (request.operation !== 'CREATE') throw refused(object, 'members may create and delete projects only');
      insistOnPlainMetadata(object);
      pending.admit(object.metadata.name!, organization, request.isDryRun);
    },
  };
}

/** Finalizers and owners would let a member keep or delete other objects. */
function insistOnPlainMetadata(project: KubeObject): void {
  const { finalizers, ownerReferences } = project.metadata;
  if (finalizers?.length) throw refused(project, 'members may not set metadata.finalizers');
  if (ownerReferences?.length) throw refused(project, 'members may not set metadata.ownerReferences');
}

/** The control plane of the project must be deleted with it. */
function insistOnDependents({ options }: AdmissionRequest, project: KubeObject): void {
  if (options?.['propagationPolicy'] === 'Orphan' || options?.['orphanDependents'] === true) {
    throw refused(project, 'the control plane of a project cannot be orphaned');
  }
}

/** Projects that were admitted and are not in the directory yet. */
class PendingProjects {
  readonly #directory: ProjectDirectory;
  readonly #clock: Clock;
  /** Until when they count, by organization and name. */
  readonly #untilMs = new Map<string, Map<string, number>>();

  constructor(directory: ProjectDirectory, clock: Clock) {
    this.#directory = directory;
    this.#clock = clock;
  }

  /** Throws 403 if the organization has as many projects as it may have. Check and admission are one synchronous block. */
  admit(name: string, organization: string, isDryRun: boolean): void {
    // The store refuses a name that is in use.
    if (this.#directory.organizationOf(name) !== undefined) return;
    const stored = this.#directory.projectsOf(organization);
    const pending = this.#pendingOf(organization, stored);
    const projectsMax = this.#directory.projectsMax(organization);
    if (!pending.has(name) && stored.size + pending.size >= projectsMax) {
      const message = `exceeded quota: organization "${organization}" may have ${projectsMax} projects`;
      throw new StatusError('Forbidden', `projects.${projectGroup} "${name}" is forbidden: ${message}`, {
        details: { name, group: projectGroup, kind: 'projects' },
      });
    }
    if (isDryRun) return;
    pending.set(name, this.#clock.monotonicMs() + pendingMs);
    this.#untilMs.set(organization, pending);
  }

  #pendingOf(organization: string, stored: ReadonlySet<string>): Map<string, number> {
    const pending = this.#untilMs.get(organization) ?? new Map<string, number>();
    const now = this.#clock.monotonicMs();
    for (const [name, untilMs] of pending) if (untilMs <= now || stored.has(name)) pending.delete(name);
    if (pending.size === 0) this.#untilMs.delete(organization);
    return pending;
  }
}

function refused({ metadata }: KubeObject, why: string): StatusError {
  const name = metadata.name ?? '';
  return new StatusError('Forbidden', `projects.${projectGroup} "${name}" is forbidden: ${why}`, {
    details: { name, group: projectGroup, kind: 'projects' },
  });
}
