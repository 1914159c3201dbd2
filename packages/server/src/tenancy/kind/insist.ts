/** Checks permissions beyond the one of the request itself, because a subresource may do more than its name implies. */

import { forbidden } from '../../auth/forbidden.ts';
import type { ResourceRequest } from '../../request/info.ts';
import type { Call } from '../../verbs/call.ts';

/** Checks that the user may `create` this subresource of the same tenant; an empty name is the tenant itself. Throws 403. */
export async function insistOnCreate({ guard, user, info }: Call, subresource: string): Promise<void> {
  const right: ResourceRequest = { ...info, verb: 'create', subresource };
  const { decision, reason, error } = await guard.judge(user, right);
  if (decision !== 'allow') throw error ?? forbidden(user, right, reason);
}
