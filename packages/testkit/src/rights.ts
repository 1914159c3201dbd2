/**
 * Which rights requests use, and which are refused: every request of a client, as RBAC sees it. A test runs a program with exactly the
 * rules that it ships, and fails when one is missing or never needed:
 *
 *   const rights = new Rights();
 *   const client = new RestClient(rights.watched(cluster.transportOf(serviceAccount('ns', 'operator'))));
 *   …
 *   assert.deepEqual([rights.refused, rights.unused(rules)], [[], []]);
 */

import type { HttpAnswer, HttpTransport } from '@hangar/client';
import type { PolicyRule } from '@hangar/client/kinds/rbac-v1';

export class Rights {
  /** `patch controlplanes/status.controlplane.kplane.dev`. */
  readonly used = new Set<string>();
  readonly refused: string[] = [];

  /** Closing what it answers closes nothing. */
  watched(transport: HttpTransport): HttpTransport {
    return {
      host: transport.host ?? '',
      request: async (request): Promise<HttpAnswer> => {
        const answer = await transport.request(request);
        const right = rightOf(request.method, request.target);
        if (right) this.used.add(right);
        if (answer.status === 403) this.refused.push(`${request.method} ${request.target}`);
        return answer;
      },
      close: () => Promise.resolve(),
    };
  }

  /** Those of the rules that no request needed. Who watches lists, too, where a server does not tell everything on the watch. */
  unused(rules: readonly PolicyRule[]): string[] {
    const isUsed = (right: string): boolean => this.used.has(right) || this.used.has(right.replace(/^list /, 'watch '));
    return rightsIn(rules).filter((right) => !isUsed(right));
  }
}

export const rightsIn = (rules: readonly PolicyRule[]): string[] =>
  rules.flatMap(({ apiGroups = [], resources = [], verbs }) =>
    apiGroups.flatMap((group) => resources.flatMap((resource) => verbs.map((verb) => text(verb, resource, group)))),
  );

const text = (verb: string, resource: string, group: string): string =>
  `${verb} ${resource}${group === '' ? '' : `.${group}`}`;

/** Undefined: it is about no resource, and needs no rule here. */
export function rightOf(method: string, target: string): string | undefined {
  const { pathname, searchParams } = new URL(target, 'https://server');
  const [root, ...rest] = pathname.slice(1).split('/');
  if (root !== 'api' && root !== 'apis') return undefined;
  const group = root === 'api' ? '' : rest.shift()!;
  rest.shift();
  if (rest[0] === 'namespaces' && rest.length > 2) rest.splice(0, 2);
  const [resource, name, subresource] = rest;
  if (resource === undefined) return undefined;
  return text(
    verbOf(method, name !== undefined, searchParams),
    subresource ? `${resource}/${subresource}` : resource,
    group,
  );
}

function verbOf(method: string, isNamed: boolean, query: URLSearchParams): string {
  switch (method) {
    case 'GET':
      return isNamed ? 'get' : ['1', 'true'].includes(query.get('watch') ?? '') ? 'watch' : 'list';
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'DELETE':
      return isNamed ? 'delete' : 'deletecollection';
    default:
      return 'patch';
  }
}
