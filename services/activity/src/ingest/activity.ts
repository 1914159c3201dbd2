/** Decides which events are activities: successful changes of objects, once per request. */

import { bounded, columnsOf, microTime, objectOf, stringOf } from '../events/event.ts';
import type { AuditEvent, EventRow } from '../events/event.ts';
import type { PolicySet, Subject } from '../policy/policy.ts';
import type { ActivityDraft } from '../storage/contract.ts';
import { kindOf } from './kind-names.ts';

const changes = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);
/** Subresources that are read although the verb is create, such as reviews of tokens, or that only report observations. */
const quietSubresources = new Set(['status', 'token']);
const quietGroups = new Set([
  'activity.miloapis.com',
  'authentication.k8s.io',
  'authorization.k8s.io',
  'coordination.k8s.io',
  'events.k8s.io',
]);

/** Policies can write values of objects into summaries. */
const summaryLengthMax = 4_096;

export function isActivity({ stage, verb, code, apiGroup, resource, subresource }: EventRow): boolean {
  if (stage !== 'ResponseComplete' || !changes.has(verb) || code < 200 || code >= 300 || resource === '') return false;
  const isEvent = apiGroup === '' && resource === 'events';
  return !isEvent && !quietGroups.has(apiGroup) && !quietSubresources.has(subresource);
}

/** Returns undefined if the event is not an activity. */
export function activityDraft(event: AuditEvent, row: EventRow, policies: PolicySet): ActivityDraft | undefined {
  if (!isActivity(row)) return undefined;
  const { apiGroup, resource, namespace } = row;
  const name = row.name || nameIn(event);
  const actor = actorOf(event);
  const audit = withReference(event);
  const subject: Subject = { audit, actor: actor.name, kind: kindOf(event, row), name };
  const remembered = policies.remembered(apiGroup, resource, subject);
  const isGone = row.verb === 'delete';
  const uid = uidIn(event);
  return {
    // With the UID: a later object of the same name may belong to another owner of the control plane.
    objectKey: remembered && uid !== '' ? `${apiGroup}/${resource}/${namespace}/${name}/${uid}` : undefined,
    remembered: isGone ? {} : remembered && Object.keys(remembered).length > 0 ? remembered : undefined,
    render(previous) {
      const summary = policies.summary(apiGroup, resource, { ...subject, current: remembered ?? {}, previous });
      return JSON.stringify(
        activityOf(event, row, { ...subject, summary: bounded(summary, summaryLengthMax), type: actor.type }),
      );
    },
  };
}

/** A server may name a created object only in the objects of the event. */
function nameIn(event: AuditEvent): string {
  const names = ['responseObject', 'requestObject'].map(
    (field) => objectOf(objectOf(event[field])['metadata'])['name'],
  );
  return bounded(names.map(stringOf).find((name) => name !== '') ?? '');
}

/** Returns the UID of the changed object; empty if the event does not have it. Status names a deleted object in its details. */
function uidIn(event: AuditEvent): string {
  const response = objectOf(event['responseObject']);
  const uids = [objectOf(response['metadata']), objectOf(response['details']), objectOf(event['objectRef'])];
  return bounded(uids.map(({ uid }) => stringOf(uid)).find((uid) => uid !== '') ?? '');
}

/** Expressions may read every field of the reference: absent ones are empty. */
function withReference(event: AuditEvent): AuditEvent {
  const empty = { apiGroup: '', apiVersion: '', resource: '', subresource: '', namespace: '', name: '' };
  return { ...event, objectRef: { ...empty, ...objectOf(event['objectRef']) } };
}

interface Actor {
  readonly name: string;
  readonly type: 'User' | 'ServiceAccount' | 'System';
}

/** An impersonated user is named: that user has the permissions that the request used. */
function actorOf(event: AuditEvent): Actor {
  const impersonated = stringOf(objectOf(event['impersonatedUser'])['username']);
  const username = bounded(impersonated === '' ? stringOf(objectOf(event['user'])['username']) : impersonated);
  const [, namespace, account] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(username) ?? [];
  if (namespace !== undefined) return { name: `ServiceAccount ${namespace}/${account}`, type: 'ServiceAccount' };
  return { name: username || 'an unknown user', type: username.startsWith('system:') ? 'System' : 'User' };
}

interface Described extends Subject {
  readonly summary: string;
  readonly type: Actor['type'];
}

/** The fields of the Activity other than its metadata; the version becomes its name. */
function activityOf(event: AuditEvent, row: EventRow, { summary, actor, type, kind, name }: Described): object {
  const { apiGroup, resource, subresource, namespace, verb, auditId, plane, timeUs } = row;
  const { apiVersion, uid } = columnsOfReference(event);
  const more = Object.entries({ apiGroup, apiVersion, subresource, namespace, name, uid }).filter(
    ([, one]) => one !== '',
  );
  return {
    summary,
    actor: { type, name: actor },
    verb,
    plane,
    time: microTime(timeUs),
    resource: { resource, kind: bounded(kind), ...Object.fromEntries(more) },
    origin: { auditID: auditId },
  };
}

function columnsOfReference(event: AuditEvent): { readonly apiVersion: string; readonly uid: string } {
  const reference = objectOf(event['objectRef']);
  const answered = stringOf(objectOf(objectOf(event['responseObject'])['metadata'])['uid']);
  return {
    apiVersion: bounded(stringOf(reference['apiVersion'])),
    uid: bounded(stringOf(reference['uid']) || (columnsOf(event).subresource === '' ? answered : '')),
  };
}
