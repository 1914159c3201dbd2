/** Parses role bindings and matches users against their subjects. */

import { quote } from '@hangar/api';
import type { KubeObject } from '@hangar/api';
import type { User } from '../../user.ts';

export interface RoleRef {
  readonly apiGroup: string;
  readonly kind: string;
  readonly name: string;
}

interface Subject {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
}

export interface Binding {
  readonly name: string;
  /** Empty: cluster-wide. */
  readonly namespace: string;
  readonly roleRef: RoleRef;
  readonly subjects: readonly { readonly subject: Subject; readonly key: string | undefined }[];
  readonly subjectKeys: ReadonlySet<string>;
}

/** Throws if the object is not a valid binding. */
export function readBinding({ metadata, ...object }: KubeObject): Binding {
  const { name = '', namespace = '' } = metadata;
  const subjects = ((object['subjects'] ?? []) as readonly Subject[]).map((subject) => ({
    subject,
    key: keyOf(subject, namespace),
  }));
  const subjectKeys = new Set(subjects.flatMap(({ key }) => (key === undefined ? [] : [key])));
  const roleRef = object['roleRef'] as RoleRef | undefined;
  if (!roleRef) throw new Error(`binding ${name} has no roleRef`);
  return { name, namespace, roleRef, subjects, subjectKeys };
}

/** Prefixes keep users and groups of the same name apart. */
const userKey = (name: string): string => `user ${name}`;
const groupKey = (name: string): string => `group ${name}`;

/** Returns undefined for a subject that matches no user. */
function keyOf({ kind, name, namespace }: Subject, bindingNamespace: string): string | undefined {
  switch (kind) {
    case 'User':
      return userKey(name);
    case 'Group':
      return groupKey(name);
    case 'ServiceAccount': {
      const home = namespace || bindingNamespace;
      return home === '' ? undefined : userKey(`system:serviceaccount:${home}:${name}`);
    }
    default:
      return undefined;
  }
}

export const subjectKeys = ({ name, groups }: User): string[] => [userKey(name), ...groups.map(groupKey)];

/** Returns the first subject of the binding that matches the user. */
export function subjectOf({ subjects }: Binding, user: User): Subject | undefined {
  const keys = new Set(subjectKeys(user));
  return subjects.find(({ key }) => key !== undefined && keys.has(key))?.subject;
}

export function describeBinding({ name, namespace, roleRef }: Binding, subject: Subject): string {
  const binding =
    namespace === '' ? `ClusterRoleBinding ${quote(name)}` : `RoleBinding ${quote(`${name}/${namespace}`)}`;
  return `${binding} of ${roleRef.kind} ${quote(roleRef.name)} to ${describeSubject(subject, namespace)}`;
}

function describeSubject({ kind, name, namespace }: Subject, bindingNamespace: string): string {
  return kind === 'ServiceAccount'
    ? `${kind} ${quote(`${name}/${namespace || bindingNamespace}`)}`
    : `${kind} ${quote(name)}`;
}
