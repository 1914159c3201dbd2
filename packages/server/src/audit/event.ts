/** One event of the audit log, as kube-apiserver writes it. */

import type { JsonObject } from '@hangar/api';
import type { User } from '../auth/user.ts';
import type { RequestInfo } from '../request/info.ts';
import type { Level, Stage } from './policy.ts';

/** Fields that are the same in all events of a request. */
export interface RequestFacts {
  readonly level: Level;
  readonly auditID: string;
  readonly requestURI: string;
  readonly verb: string;
  readonly user: User | undefined;
  readonly address: string;
  readonly userAgent: string | undefined;
  readonly receivedAt: string;
}

/** Fields that are set while the request runs. */
export interface RequestCourse {
  stage: Stage;
  stageTimestamp: string;
  impersonatedUser?: JsonObject;
  objectRef?: Record<string, string>;
  responseStatus?: JsonObject;
  annotations?: Record<string, string>;
}

/** An event as readers see it. */
export interface AuditEvent extends RequestCourse {
  readonly requestObject?: unknown;
  readonly responseObject?: unknown;
  readonly kind: 'Event';
  readonly apiVersion: 'audit.k8s.io/v1';
  readonly level: Level;
  readonly auditID: string;
  readonly requestURI: string;
  readonly verb: string;
  readonly user: JsonObject;
  readonly sourceIPs?: readonly string[];
  readonly userAgent?: string;
  readonly requestReceivedTimestamp: string;
}

/** Returns the first part of the event text, which all events of a request share: there are at least two. */
export function factsText(facts: RequestFacts): string {
  const { level, auditID, requestURI, verb, user, address, userAgent, receivedAt } = facts;
  const source = address === '' ? '' : `,"sourceIPs":[${JSON.stringify(address)}]`;
  const agent = userAgent === undefined ? '' : `,"userAgent":${JSON.stringify(userAgent)}`;
  return (
    `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"${level}","auditID":${JSON.stringify(auditID)}` +
    `,"requestURI":${JSON.stringify(requestURI)},"verb":${JSON.stringify(verb)},"user":${userText(user)}` +
    `${source}${agent},"requestReceivedTimestamp":"${receivedAt}"`
  );
}

/** `texts`: fields that are JSON text already. */
export function eventText(facts: string, course: RequestCourse, texts: ReadonlyMap<string, string>): string {
  let text = `${facts},${JSON.stringify(course).slice(1, -1)}`;
  for (const [name, value] of texts) text += `,"${name}":${value}`;
  return `${text}}`;
}

/** Authenticators return the same object for the same user across requests. */
const userTexts = new WeakMap<User, string>();

function userText(user: User | undefined): string {
  if (!user) return '{}';
  let text = userTexts.get(user);
  if (text === undefined) userTexts.set(user, (text = JSON.stringify(userInfo(user))));
  return text;
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

let lastTime = { ms: -1, text: '' };

/** Formats microseconds; the clock has milliseconds. */
export function microTime(ms: number): string {
  if (lastTime.ms !== ms) lastTime = { ms, text: new Date(ms).toISOString().replace('Z', '000Z') };
  return lastTime.text;
}
