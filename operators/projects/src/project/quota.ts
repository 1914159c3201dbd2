/** Decides which projects of an organization get a control plane. */

import type { Project } from '../api/index.ts';

export interface QuotaRequest {
  readonly project: Project;
  /** All projects of the organization. */
  readonly projects: Iterable<Project>;
  readonly projectsMax: number;
  /** Reports whether a project has a control plane, or is about to get one. */
  readonly hasControlPlane: (project: Project) => boolean;
}

/**
 * Returns true if the project may get a control plane. Projects with a control plane keep it, also when the quota is lowered. Of the others
 * the oldest come first. A project that is being deleted counts until it is gone. Pure.
 */
export function isWithinQuota({ project, projects, projectsMax, hasControlPlane }: QuotaRequest): boolean {
  if (hasControlPlane(project)) return true;
  let before = 0;
  for (const other of projects) {
    if (other.metadata.uid === project.metadata.uid) continue;
    if (hasControlPlane(other) || (!other.metadata.deletionTimestamp && isOlder(other, project))) before++;
  }
  return before < projectsMax;
}

function isOlder(a: Project, b: Project): boolean {
  const [aTime, bTime] = [a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? ''];
  return aTime === bTime ? a.metadata.name! < b.metadata.name! : aTime < bTime;
}

/**
 * Remembers the projects that this process admitted, because the cache shows their control planes with a delay. The check and the admission
 * are one synchronous block.
 */
export class Admissions {
  readonly #uids = new Set<string>();

  admit(request: QuotaRequest): boolean {
    const hasControlPlane = (project: Project): boolean =>
      this.#uids.has(project.metadata.uid!) || request.hasControlPlane(project);
    if (!isWithinQuota({ ...request, hasControlPlane })) return false;
    this.#uids.add(request.project.metadata.uid!);
    return true;
  }

  /** Called when the project no longer exists, or when its control plane is in the cache. */
  forget(uid: string): void {
    this.#uids.delete(uid);
  }

  get size(): number {
    return this.#uids.size;
  }
}
