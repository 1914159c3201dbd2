/** A tenant of the host as a provisioned control plane: mode Virtual. */

import { find } from '@hangar/client';
import { clusterInfo } from '@hangar/node-objects';
import type { ControlPlane } from '../api/index.ts';
import { issuedPair, Tenant } from '../host/index.ts';
import type { TenantObject } from '../host/index.ts';
import { joinObjects } from '../join/objects.ts';
import { isClaimedBy } from './claim.ts';
import type { ProvisionedPlane } from './provisioned-plane.ts';
import type { Pass, Verdict } from './world.ts';

/** The tenant is claimed by the control plane of the pass. */
export function tenantPlane({ world, path, controlPlane, isMoved }: Pass, tenant: TenantObject): ProvisionedPlane {
  const { host, hostFacts } = world;
  return {
    uid: tenant.metadata.uid!,
    suspension: suspensionOf(path, tenant),
    initialServer: tenant.status?.url,
    includedAddons: [],
    // The host does not see the content of a tenant that has moved.
    reportsChanges: !isMoved,
    resync: isMoved ? addonResyncOf(world, controlPlane) : undefined,
    servingCa: () => host.servingCa(),
    enter: () => host.enter(path),
    issueCertificate: (wanted, options) => issuedPair(host.client, path, wanted, options),
    async nodeObjects({ server, ca, serviceCidr }) {
      const version = await hostFacts.version();
      return { objects: joinObjects({ path, server, version, serviceCidr }), clusterInfo: clusterInfo(server, ca) };
    },
    async verify(signal) {
      const there = await find(host.client, Tenant, { name: path }, { signal });
      const isSame = there?.metadata.uid === tenant.metadata.uid && isClaimedBy(there!, controlPlane);
      return isSame ? undefined : replaced(path);
    },
  };
}

function addonResyncOf({ addonResync }: Pass['world'], { metadata }: ControlPlane): ProvisionedPlane['resync'] {
  const name = metadata.name!;
  return {
    dueAtMs: () => addonResync.dueAtMs(name),
    done: () => addonResync.done(name),
    forget: () => addonResync.forget(name),
  };
}

const replacedLookMs = 1_000;
const replaced = (path: string): Verdict => ({
  type: 'Programmed',
  reason: 'TenantTerminating',
  message: `Tenant "${path}" was deleted or replaced, retrying`,
  lookAgainMs: replacedLookMs,
});

function suspensionOf(path: string, { spec, status }: TenantObject): ProvisionedPlane['suspension'] {
  if (spec?.suspension !== undefined) {
    const answers = spec.suspension === 'ReadOnly' ? 'and answers only reads' : 'and answers no requests';
    return {
      reason: 'Suspended',
      message: `the control plane is suspended ${answers}: remove spec.suspension of ${Tenant.kind} "${path}" to resume it`,
    };
  }
  if (status?.quarantine === undefined) return undefined;
  const { reason, message, until } = status.quarantine;
  const ending = `the quarantine ends at ${until}, or when status.quarantine of ${Tenant.kind} "${path}" is removed`;
  return {
    reason: 'Quarantined',
    message: `the server suspended the control plane (${reason}): ${message}; ${ending}`,
  };
}
