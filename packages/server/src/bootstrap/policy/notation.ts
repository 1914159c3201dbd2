/**
 * Short notation for roles of the default policy. A rule is one line:
 *
 *   read core: pods services             get, list and watch
 *   read,update core: nodes              … and update
 *   get core: configmaps = kube-root     of this name only
 *   get /healthz /version                paths
 *   events                               record events of both groups
 *
 * Verbs are sorted alphabetically, all else keeps its order.
 */

import type { PolicyRule } from '../../auth/authorization/rbac/rules.ts';

/** Role names with their rules in the notation. */
export type RoleTable = Readonly<Record<string, readonly string[]>>;

const shortVerbs: Readonly<Record<string, readonly string[]>> = {
  read: ['get', 'list', 'watch'],
  edit: ['create', 'delete', 'deletecollection', 'patch', 'update'],
  record: ['create', 'patch', 'update'],
};

const eventsRule = 'record core,events.k8s.io: events';

export function parseRule(text: string): PolicyRule {
  const [verbText = '', ...words] = (text === 'events' ? eventsRule : text).split(' ');
  const verbs = verbText
    .split(',')
    .flatMap((verb) => shortVerbs[verb] ?? [verb])
    .sort();
  if (words[0]!.startsWith('/') || words[0] === 'paths') {
    return { verbs, nonResourceURLs: words[0] === 'paths' ? words.slice(1) : words };
  }
  const [groups = '', ...rest] = words;
  const equals = rest.indexOf('=');
  const resources = equals < 0 ? rest : rest.slice(0, equals);
  const apiGroups = groups
    .slice(0, -1)
    .split(',')
    .map((group) => (group === 'core' ? '' : group));
  return { verbs, apiGroups, resources, ...(equals < 0 ? {} : { resourceNames: rest.slice(equals + 1) }) };
}
