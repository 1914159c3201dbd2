/**
 * The API server of a control plane, as the steps after its provisioning see it: they do not depend on the mode. A tenant of the host is
 * one implementation (`tenant-plane.ts`), a HostedControlPlane the other (`../dedicated/hosted-plane.ts`).
 */

import type { Client, ClientCertificate, WriteOptions } from '@hangar/client';
import type { WantedPair } from '../host/index.ts';
import type { InsideObject } from './inside-object.ts';
import type { Verdict } from './world.ts';

/** Address and CA for joining nodes. */
export interface NodeObjectsRequest {
  readonly server: string;
  readonly ca: string;
  /** Network of the cluster IPs of services. Absent: not known. */
  readonly serviceCidr?: string | undefined;
}

export interface NodeObjects {
  readonly objects: readonly InsideObject[];
  /** The kubeconfig in kube-public/cluster-info. Undefined: it is not written here. */
  readonly clusterInfo: string | undefined;
}

export interface AddonResyncTimes {
  /** In milliseconds since 1970. */
  dueAtMs(): number;
  /** Called when the addons were applied, or refused. */
  done(): void;
  /** Called when there are no addons. */
  forget(): void;
}

export interface ProvisionedPlane {
  /** Identity of the data. Everything that was written for another uid is outdated. */
  readonly uid: string;
  /** Why the content must not be changed now. Undefined: it is active. */
  readonly suspension: Pick<Verdict, 'reason' | 'message'> | undefined;
  /** The address in cluster-info of a new one. Undefined: not known. */
  readonly initialServer: string | undefined;
  /** Name in the certificate of its addresses. Undefined: their host. */
  readonly tlsServerName?: string | undefined;
  /** Addons that are installed already. */
  readonly includedAddons: readonly string[];
  /** Whether the host reports changes of addons inside. */
  readonly reportsChanges: boolean;
  /** When addons inside are applied again, because changes are not reported. Absent: only with new credentials. */
  readonly resync?: AddonResyncTimes | undefined;
  /** CA of its addresses; PEM. */
  servingCa(): string | Promise<string>;
  /** Returns an administrator's client, which the caller closes. */
  enter(): Promise<Client>;
  /** Issues a client certificate of the control plane's own CA. */
  issueCertificate(wanted: WantedPair, options: WriteOptions): Promise<ClientCertificate>;
  /** Returns the objects that joining nodes expect. */
  nodeObjects(request: NodeObjectsRequest): Promise<NodeObjects>;
  /** Reads from the server itself, not from a cache. Returns why it no longer belongs to the control plane. */
  verify(signal: AbortSignal): Promise<Verdict | undefined>;
}
