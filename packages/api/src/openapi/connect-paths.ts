/** Subresources that hand the connection on (exec, attach, proxy, …): any method, any content, options in the query. */

import { apiVersionOf, schemaOf } from '../builtin/schemas.ts';
import type { GroupVersion } from '../builtin/schemas.ts';
import type { ServedSubresource } from '../discovery/model.ts';
import { groupTitle, methods, tagOf, title } from './operations.ts';
import type { Method, Operation, PathItem } from './operations.ts';
import { optionParameters, pathParameters } from './parameters.ts';
import type { Parameter } from './parameters.ts';
import type { Target } from './resource-operations.ts';

export interface ConnectFacts {
  readonly where: GroupVersion;
  readonly object: Target;
  readonly subresource: ServedSubresource;
}

export function connectPaths(path: string, { where, object, subresource }: ConnectFacts): PathItem[] {
  const { name, group, version, kind, verbs } = subresource;
  const parameters = [...object.scope, ...optionParameters(schemaOf(apiVersionOf(subresource), kind)!)];
  const isProxy = verbs.includes('update');
  const operation = (method: Method, suffix: string, extra: readonly Parameter[]): Operation => ({
    method,
    id: `connect${groupTitle(where.group)}${title(where.version)}${title(method)}${object.title}${title(name)}${suffix}`,
    tag: tagOf(where.group, where.version),
    action: 'connect',
    kind: { group, version, kind },
    parameters: [...parameters, ...extra],
    consumes: ['*/*'],
    produces: ['*/*'],
    answer: undefined,
    codes: [200],
  });
  const used: readonly Method[] = isProxy ? methods : ['get', 'post'];
  const items = [{ path, operations: used.map((method) => operation(method, '', [])) }];
  if (isProxy) {
    const deeper = used.map((method) => operation(method, 'WithPath', [pathParameters.path]));
    items.push({ path: `${path}/{path}`, operations: deeper });
  }
  return items;
}
