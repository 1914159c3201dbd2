/** The ID of a migration in the query of its requests. */

import { badRequest } from '@hangar/api';
import type { Call } from '../../verbs/call.ts';

const idPattern = /^[-A-Za-z0-9._]{1,64}$/;

/** Returns the parameter `id`. Throws 400. */
export function givenMigrationId(query: Call['query']): string {
  const id = query.has('id') ? query.text('id') : '';
  if (idPattern.test(id)) return id;
  throw badRequest('the parameter id must have 1 to 64 letters, digits, hyphens, dots or underscores');
}
