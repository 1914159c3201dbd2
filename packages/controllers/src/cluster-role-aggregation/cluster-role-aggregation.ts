/**
 * ClusterRoles that collect the rules of others by their labels: `admin`, `edit` and `view`, and whatever users make. Requests are for
 * all roles of a control plane at once: a role that collects collected ones is done in the same step.
 *
 * Hangar's own server does the same within itself for control planes that are in use, under the same name and with the same result;
 * who comes second writes nothing. This one also retries, and works on any Kubernetes.
 */

import { ClusterRole } from '@hangar/client/kinds/rbac-v1';
import type { Request } from '@hangar/runtime';
import type { Ask, Change, ControllerContext, FleetController, ResourceId } from '../contract.ts';
import { unlessOvertaken } from '../shared/refusals.ts';
import { hasText } from '../shared/resources.ts';
import { outdated } from './aggregated.ts';

/** kube-controller-manager's. */
const fieldManager = 'clusterrole-aggregation-controller';
/** Stands for all roles. */
const name = '*';

export class ClusterRoleAggregationController implements FleetController {
  readonly name = 'cluster-role-aggregation';

  wants({ group, resource }: ResourceId): boolean {
    return resource === 'clusterroles' && group === 'rbac.authorization.k8s.io';
  }

  changed({ cluster, isInitial, bytes }: Change, ask: Ask): void {
    // At the beginning only roles tell something that collect or ask to be collected: most control planes have none of their own.
    if (isInitial && !hasText(bytes, '"aggregationRule"') && !hasText(bytes, '/aggregate-to-')) return;
    ask({ cluster, name });
  }

  async reconcile(_request: Request, { client, signal }: ControllerContext): Promise<void> {
    const { items } = await client.list(ClusterRole, { signal });
    for (const [role, rules] of outdated(items)) {
      // By its uid: apply makes what is not there, and a role that was deleted just now must not come back.
      const { uid } = items.find(({ metadata }) => metadata.name === role)!.metadata;
      // Without rules nothing is owned any more: then the server takes them away.
      const wanted = { metadata: { name: role, uid }, ...(rules.length === 0 ? {} : { rules }) };
      await unlessOvertaken(client.apply(ClusterRole, wanted, { fieldManager, force: true, signal }));
    }
  }
}
