/** Rights besides the one that a request was let in for: what a subresource does may be more than its name says. */

import { forbidden } from '../../auth/forbidden.ts';
import type { ResourceRequest } from '../../request/info.ts';
import type { Call } from '../../verbs/call.ts';

/** Insists that the caller may `create` this of the same tenant; an empty name is the tenant itself. Throws 403. */
export async function insistOnCreate({ guard, user, info }: Call, subresource: string): Promise<void> {
  const right: ResourceRequest = { ...info, verb: 'create', subresource };
  const { decision, reason, error } = await guard.judge(user, right);
  if (decision !== 'allow') throw error ?? forbidden(user, right, reason);
}
