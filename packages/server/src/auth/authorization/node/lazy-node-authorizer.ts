/** Loads the authorizer of kubelets with the first request of one: many servers have none. */

import { createRequire } from 'node:module';
import type { ControlPlane } from '../../../control-plane.ts';
import { noRules } from '../../authorize.ts';
import type { Authorizer } from '../../authorize.ts';
import { nodesGroup } from '../../user.ts';
import type { User } from '../../user.ts';
import type * as Graph from './node-graph.ts';
import type * as Node from './node-authorizer.ts';

const require = createRequire(import.meta.url);

export function lazyNodeAuthorizer(plane: ControlPlane): Authorizer & { close(): void } {
  let made: Node.NodeAuthorizer | undefined;
  const make = (): Node.NodeAuthorizer => {
    const { NodeAuthorizer } = require('./node-authorizer.ts') as typeof Node;
    const { NodeGraph } = require('./node-graph.ts') as typeof Graph;
    return new NodeAuthorizer(new NodeGraph(plane), async () =>
      (await import('../../../bootstrap/policy/objects.ts')).nodeRules(),
    );
  };
  const isNode = ({ groups }: User): boolean => groups.includes(nodesGroup);
  return {
    authorize: (user, info) => (isNode(user) ? (made ??= make()).authorize(user, info) : 'no opinion'),
    rulesFor: (user) => (isNode(user) ? (made ??= make()).rulesFor(user) : noRules),
    close: () => made?.close(),
  };
}
