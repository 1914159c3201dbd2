/** Audits requests that are refused before their tenant is opened, as the tenant's server would audit them. */

import type { User } from '../auth/user.ts';
import type { Answer, ServerRequest } from '../http/message.ts';
import { requestInfo } from '../request/info.ts';
import type { RequestInfo } from '../request/info.ts';
import { Query, splitTarget } from '../request/query.ts';
import { tenantAnnotation } from './open-tenant.ts';
import type { TenantWorld } from './open-tenant.ts';

export interface Refused {
  readonly path: string;
  /** The request as the tenant would see it. */
  readonly routed: ServerRequest;
  /** Undefined: the user belongs to the tenant, and only the tenant can identify it. */
  readonly user: User | undefined;
  readonly answer: Answer;
}

export function auditedRefusal({ auditor, scope }: Pick<TenantWorld, 'auditor' | 'scope'>, refused: Refused): Answer {
  const { path, routed, user, answer } = refused;
  const info = auditor && infoOf(routed);
  if (!info) return answer;
  return (
    auditor
      .annotated(tenantAnnotation, path)
      .begin(routed, info, user && scope(path, user))
      ?.answered(answer) ?? answer
  );
}

function infoOf({ method, target }: ServerRequest): RequestInfo | undefined {
  const { path, query } = splitTarget(target);
  try {
    return requestInfo(method, path, query !== '' && (new Query(query).flag('watch') ?? false));
  } catch {
    return undefined;
  }
}
