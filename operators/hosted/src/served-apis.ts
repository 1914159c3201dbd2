/** The optional APIs of a management cluster: Cluster API, the Gateway API, cert-manager and the kinds of backups. */

import { ControlPlaneBackupSchedule } from '@hangar/backup-operator/api';
import { KindMapper } from '@hangar/client';
import type { CallOptions, Client } from '@hangar/client';
import { clusterApiGroup } from './api/index.ts';
import { Certificate } from './cert-manager/kinds.ts';
import { gatewayGroup } from './gateway/kinds.ts';
import type { TlsRouteVersion } from './gateway/kinds.ts';

/** Versions of the Cluster, the preferred one first. */
const clusterVersions = ['v1beta2', 'v1beta1'] as const;
const tlsRouteVersions: readonly TlsRouteVersion[] = ['v1', 'v1alpha3', 'v1alpha2'];

/** The versions that a management cluster serves. Absent: the API is not installed. */
export interface ServedApis {
  readonly clusterApi?: (typeof clusterVersions)[number] | undefined;
  readonly tlsRouteVersion?: TlsRouteVersion | undefined;
  readonly certManager?: 'on-request' | undefined;
  readonly backups?: true | undefined;
}

/** Returns the newest known versions that the cluster serves, by discovery. */
export async function servedApis(client: Pick<Client, 'raw'>, options?: CallOptions): Promise<ServedApis> {
  const served = new Set(
    (await new KindMapper(client).all(options)).map(({ apiVersion, kind }) => `${apiVersion} ${kind}`),
  );
  return {
    clusterApi: clusterVersions.find((version) => served.has(`${clusterApiGroup}/${version} Cluster`)),
    tlsRouteVersion: tlsRouteVersions.find((version) => served.has(`${gatewayGroup}/${version} TLSRoute`)),
    backups: served.has(`${ControlPlaneBackupSchedule.apiVersion} ${ControlPlaneBackupSchedule.kind}`) || undefined,
    certManager: served.has(`${Certificate.apiVersion} ${Certificate.kind}`) ? 'on-request' : undefined,
  };
}
