/** One event of the audit log, as kube-apiserver writes it. */

import type { JsonObject } from '@hangar/api';
import type { User } from '../auth/user.ts';
import type { RequestInfo } from '../request/info.ts';
import type { Level, Stage } from './policy.ts';

export interface AuditEvent {
  readonly kind: 'Event';
  readonly apiVersion: 'audit.k8s.io/v1';
  readonly level: Level;
  readonly auditID: string;
  stage: Stage;
  readonly requestURI: string;
  readonly verb: string;
  readonly user: JsonObject;
  impersonatedUser?: JsonObject;
  readonly sourceIPs?: readonly string[];
  readonly userAgent?: string;
  objectRef?: Record<string, string>;
  responseStatus?: JsonObject;
  requestObject?: unknown;
  responseObject?: unknown;
  readonly requestReceivedTimestamp: string;
  stageTimestamp: string;
  annotations?: Record<string, string>;
}

export function userInfo(user: User | undefined): JsonObject {
  if (!user) return {};
  const { name, uid, groups, extra } = user;
  return {
    username: name,
    ...(uid !== '' && { uid }),
    ...(groups.length > 0 && { groups: [...groups] }),
    ...(Object.keys(extra).length > 0 && { extra: extra as unknown as JsonObject }),
  };
}

export function objectReference(info: RequestInfo): Record<string, string> | undefined {
  if (!info.isResource) return undefined;
  const { resource, namespace, name, group, version, subresource } = info;
  return {
    resource,
    ...(namespace !== '' && { namespace }),
    ...(name !== '' && { name }),
    ...(group !== '' && { apiGroup: group }),
    apiVersion: version,
    ...(subresource !== '' && { subresource }),
  };
}

/** To the microsecond in form; the clock has milliseconds. */
export const microTime = (ms: number): string => new Date(ms).toISOString().replace('Z', '000Z');
