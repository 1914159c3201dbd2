/** Requests for Projects, with errors that name the way to get the kind or the object. */

import { hasCode } from '@hangar/core';
import { failed } from '../../errors.ts';
import { hangar } from '../../hints.ts';
import { conditionOf } from '../../kinds.ts';
import type { ProjectObject } from '../../kinds.ts';

/** Rejects with an error that explains a missing kind. `name`: of the project that the request is for. */
export async function served<T>(request: Promise<T>, name?: string): Promise<T> {
  try {
    return await request;
  } catch (error) {
    if (!hasCode(error, 'NotFound')) throw error;
    // Only the response for an object has the name of the object.
    if (name !== undefined && (error as Error).message.includes(`"${name}"`)) {
      throw failed(`there is no project "${name}"`, { next: `see: ${hangar('projects list')}`, cause: error });
    }
    throw failed('the server does not serve Projects', { next: 'start it with: hangar up --projects', cause: error });
  }
}

/** Returns the state of a project, for progress and errors. */
export function stateOf(project: ProjectObject | undefined): string {
  const cleanup = project && conditionOf(project, 'ResourceCleanup');
  const ready = project && conditionOf(project, 'Ready');
  return cleanup?.message ?? ready?.message ?? 'the operator has not processed it yet';
}
