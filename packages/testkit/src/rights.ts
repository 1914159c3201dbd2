/**
 * Records the permissions that the requests of a client use, in terms of RBAC. A test runs a program with exactly the rules that it
 * ships, and fails when a rule is missing or unused:
 *
 *     const rights = new Rights();
 *     const client = new RestClient(rights.watched(cluster.transportOf(serviceAccount('ns', 'operator'))));
 *     …
 *     assert.deepEqual([rights.refused, rights.unused(rules)], [[], []]);
 */

import type { HttpAnswer, HttpTransport } from '@hangar/client';
import type { PolicyRule } from '@hangar/client/kinds/rbac-v1';

/** Records used and refused permissions. */
export class Rights {
  /** Used permissions, such as `patch controlplanes/status.controlplane.kplane.dev`. */
  readonly used = new Set<string>();
  /** Requests that the server rejected with status 403, as method and target. */
  readonly refused: string[] = [];

  /** Returns a transport that records its requests. Closing it does not close the given transport. */
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

  /**
   * Returns the permissions of the rules that no request used. `list` counts as used when `watch` is used, because a watch falls back to
   * lists on servers without WatchList.
   */
  unused(rules: readonly PolicyRule[]): string[] {
    const isUsed = (right: string): boolean => this.used.has(right) || this.used.has(right.replace(/^list /, 'watch '));
    return rightsIn(rules).filter((right) => !isUsed(right));
  }
}

/** Returns all permissions of the rules. */
export const rightsIn = (rules: readonly PolicyRule[]): string[] =>
  rules.flatMap(({ apiGroups = [], resources = [], verbs }) =>
    apiGroups.flatMap((group) => resources.flatMap((resource) => verbs.map((verb) => text(verb, resource, group)))),
  );

const text = (verb: string, resource: string, group: string): string =>
  `${verb} ${resource}${group === '' ? '' : `.${group}`}`;

/** Returns the permission that a request needs, or undefined for a request without a resource. */
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
