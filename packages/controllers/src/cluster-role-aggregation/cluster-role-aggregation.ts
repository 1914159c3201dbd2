/**
 * Writes the rules of aggregated ClusterRoles: `admin`, `edit` and `view`, and those that users make. One request is for all roles of
 * a control plane: roles that collect aggregated roles are written in the same reconcile.
 *
 * Hangar's own server does the same for control planes in use, under the same name and with the same result; the second of the two
 * writes nothing. This controller also retries, reports roles that are over a limit, and works on any Kubernetes.
 */

import { createHash } from 'node:crypto';
import { readClusterRole, RoleAggregation } from '@hangar/api/rbac';
import type { RefusedRole } from '@hangar/api/rbac';
import { Event } from '@hangar/client/kinds/core-v1';
import { ClusterRole } from '@hangar/client/kinds/rbac-v1';
import { inSlices, Slicer } from '@hangar/core';
import type { Clock } from '@hangar/core';
import type { Request } from '@hangar/runtime';
import type { Ask, Change, ControllerContext, FleetController, ResourceId } from '../contract.ts';
import { unlessOvertaken } from '../shared/refusals.ts';
import { hasText } from '../shared/resources.ts';

/** The field manager of kube-controller-manager. */
const fieldManager = 'clusterrole-aggregation-controller';
/** Stands for all roles. */
const name = '*';
/** Maximum number of Events of one reconcile. */
const eventsMax = 10;

export class ClusterRoleAggregationController implements FleetController {
  readonly name = 'cluster-role-aggregation';
  readonly #clock: Clock;
  /** Last report by control plane. */
  readonly #reports = new Map<string, string>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  wants({ group, resource }: ResourceId): boolean {
    return resource === 'clusterroles' && group === 'rbac.authorization.k8s.io';
  }

  changed({ cluster, isInitial, bytes }: Change, ask: Ask): void {
    // At the start, only roles that aggregate or are aggregated matter: most control planes store none.
    if (isInitial && !hasText(bytes, '"aggregationRule"') && !hasText(bytes, '/aggregate-to-')) return;
    ask({ cluster, name });
  }

  async reconcile(request: Request, context: ControllerContext): Promise<void> {
    const { client, signal } = context;
    const { items } = await client.list(ClusterRole, { signal });
    const uids = new Map(items.map(({ metadata }) => [metadata.name!, metadata.uid]));
    const roles = new Map(items.map((item) => [item.metadata.name!, readClusterRole(item)]));
    const slicer = new Slicer(this.#clock);
    const { outdated, refused } = await inSlices(slicer, new RoleAggregation().update(roles));
    for (const { role, rules } of outdated) {
      // By its uid: apply creates an object that does not exist, and a role that was deleted just now must not come back.
      const metadata = { name: role.name, uid: uids.get(role.name)! };
      // Without rules the field is no longer owned: the server removes it.
      const wanted = { metadata, ...(rules.length === 0 ? {} : { rules: [...rules] }) };
      await unlessOvertaken(client.apply(ClusterRole, wanted, { fieldManager, force: true, signal }));
    }
    const report = refused
      .map(({ role, reason }) => `not updating the rules of ClusterRole "${role.name}": ${reason}`)
      .join('; ');
    if ((this.#reports.get(request.cluster) ?? '') === report) return;
    if (report === '') this.#reports.delete(request.cluster);
    else {
      this.#reports.set(request.cluster, report);
      await this.#report(refused, uids, context);
    }
  }

  /** Writes one Event for a role, regardless of how often it is rejected. */
  async #report(
    refused: readonly RefusedRole[],
    uids: ReadonlyMap<string, string | undefined>,
    { client, signal, log }: ControllerContext,
  ): Promise<void> {
    const [{ role: first, reason: why }] = refused as [RefusedRole];
    const about = { count: refused.length, first: first.name, reason: why };
    log.warn('not updating the rules of aggregated ClusterRoles: limit exceeded', about);
    const now = new Date(this.#clock.now()).toISOString().replace(/\.\d+Z$/, 'Z');
    for (const { role, reason } of refused.slice(0, eventsMax)) {
      const digest = createHash('sha256').update(role.name).digest('hex').slice(0, 16);
      const event = {
        metadata: { name: `clusterrole-aggregation.${digest}`, namespace: 'default' },
        involvedObject: {
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'ClusterRole',
          name: role.name,
          uid: uids.get(role.name) ?? '',
        },
        type: 'Warning',
        reason: 'AggregationRefused',
        message: `not updating the rules of ClusterRole "${role.name}": ${reason}`,
        source: { component: fieldManager },
        firstTimestamp: now,
        lastTimestamp: now,
        count: 1,
      };
      // It is logged as well: a control plane that forbids Events must not fail the reconcile.
      await client.apply(Event, event, { fieldManager, force: true, signal }).catch(() => undefined);
    }
  }
}
