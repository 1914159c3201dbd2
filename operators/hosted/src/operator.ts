/** The operator: the controller of HostedControlPlanes on one manager. */

import { configOfKubeconfig, connect, defineKind } from '@hangar/client';
import type { Client } from '@hangar/client';
import { Logger, systemClock, systemRandom } from '@hangar/core';
import type { Clock, Failpoints, Random } from '@hangar/core';
import { kubeconfig } from '@hangar/pki';
import { allTransforms, Manager, withoutLastApplied, withoutManagedFields } from '@hangar/runtime';
import type { LeaderElectionOptions, ListenOptions, MetricsRegistry } from '@hangar/runtime';
import type { WebhookServer } from '@hangar/runtime/webhooks';
import type { ServiceType } from './api/index.ts';
import { clusterApiGroup } from './api/index.ts';
import { addHostedController, hostedCaches } from './control-plane/controller.ts';
import type { HostedControllerOptions } from './control-plane/controller.ts';
import type { CertManagerUse, PlaneAccess } from './control-plane/pass.ts';
import { Writes } from './control-plane/writes.ts';
import { endpointUrl } from './endpoint-url.ts';
import type { EtcdTimes } from './etcd/care.ts';
import { openSession } from './etcd/session.ts';
import type { OpenSession } from './etcd/session.ts';
import { externalAddress } from './front-door/settings.ts';
import type { FrontDoorSettings } from './front-door/settings.ts';
import type { TlsRouteVersion } from './gateway/kinds.ts';
import { apiServiceHost, renderings } from './render/index.ts';
import type { ClusterObject, KonnectivityPolicy, Renderings } from './render/index.ts';

export interface HostedOperatorOptions {
  /** The management cluster. Closed by its creator. */
  readonly management: Client;
  /** The namespace whose control planes are reconciled. Absent: all namespaces. */
  readonly namespace?: string | undefined;
  /** The version of Cluster API that the management cluster serves. Absent: Cluster API is not installed. */
  readonly clusterApi?: 'v1beta1' | 'v1beta2' | undefined;
  /** The version of TLSRoute that the management cluster serves. Absent: the Gateway API is not installed. */
  readonly tlsRouteVersion?: TlsRouteVersion | undefined;
  /** Whether cert-manager issues certificates. Absent: it is not installed. */
  readonly certManager?: CertManagerUse | undefined;
  /**
   * Whether the kinds of backup.hangar.dev are installed: `spec.etcd.backup` becomes a ControlPlaneBackupSchedule, and upgrades of etcd make a
   * backup first. Absent: no.
   */
  readonly backups?: boolean | undefined;
  /** Type of Services of control planes that do not set one. Absent: LoadBalancer. */
  readonly serviceType?: ServiceType | undefined;
  /** Absent: `requested`. */
  readonly konnectivity?: KonnectivityPolicy | undefined;
  /** Absent: control planes cannot be exposed at the front door. */
  readonly frontDoor?: FrontDoorSettings | undefined;
  /** The known renderings, oldest first. Absent: those of this release. */
  readonly renderings?: Renderings | undefined;
  /** Whether the operator reaches API servers by their Service, or by their endpoint from outside the cluster. Absent: by Service. */
  readonly reach?: 'service' | 'endpoint' | undefined;
  /** Opens a client of a control plane. Absent: a connection over TLS. */
  readonly connect?: ((access: PlaneAccess) => Promise<Client>) | undefined;
  /** Observes and changes etcd. Absent: over TLS, as `reach` says. */
  readonly openEtcd?: OpenSession | undefined;
  /** For tests: how often etcd is observed, and when a member is lost. */
  readonly etcdTimes?: EtcdTimes | undefined;
  /** Period and source of measurements of API servers. Absent: every 15 s, from their metrics. */
  readonly autoscaling?: HostedControllerOptions['autoscaling'];
  /** Maximum number of concurrent reconciles. Absent: 10. */
  readonly concurrency?: number | undefined;
  /** Absent: this process works without leader election. */
  readonly leaderElection?: LeaderElectionOptions | undefined;
  /** Runs with the manager, on replicas without leadership as well. Absent: no webhooks. */
  readonly webhooks?: WebhookServer | undefined;
  readonly metrics?: ListenOptions | false | undefined;
  readonly health?: ListenOptions | false | undefined;
  readonly registry?: MetricsRegistry | undefined;
  readonly clock?: Clock | undefined;
  readonly random?: Random | undefined;
  readonly log?: Logger | undefined;
  /** For tests: `hosted.<write>.before` and `.after`. */
  readonly failpoints?: Pick<Failpoints, 'hit'> | undefined;
}

const lean = { transform: allTransforms(withoutManagedFields, withoutLastApplied) };

/** Starts nothing before `run`. The definitions must be installed by then. */
export function hostedOperator(options: HostedOperatorOptions): Manager {
  const {
    management,
    namespace,
    clock = systemClock,
    random = systemRandom,
    leaderElection,
    registry,
    webhooks,
  } = options;
  const {
    metrics = false,
    health = metrics,
    reach = 'service',
    failpoints,
    clusterApi,
    tlsRouteVersion,
    certManager,
  } = options;
  const log = options.log ?? new Logger({ level: 'info', format: 'text', clock });
  const cached = { ...lean, ...(namespace === undefined ? {} : { namespace }) };
  const manager = new Manager({
    client: management,
    cache: {
      defaults: cached,
      byKind: hostedCaches({ tlsRouteVersion, certManager }).map((kind) => ({ ...cached, ...kind })),
    },
    metrics,
    health,
    clock,
    random,
    log,
    ...(leaderElection ? { leaderElection } : {}),
    ...(registry ? { registry } : {}),
    ...(webhooks ? { webhooks } : {}),
  });
  addHostedController(manager, {
    clock,
    random,
    writes: new Writes(failpoints),
    serviceType: options.serviceType ?? 'LoadBalancer',
    konnectivity: options.konnectivity ?? 'requested',
    frontDoor: options.frontDoor,
    renderings: options.renderings ?? renderings,
    connect: options.connect ?? ((access) => overTls(access, reach, options.frontDoor)),
    concurrency: options.concurrency ?? 10,
    openEtcd: options.openEtcd ?? openSession(reach, clock),
    etcdTimes: options.etcdTimes,
    autoscaling: options.autoscaling,
    hasBackups: options.backups === true,
    ...(tlsRouteVersion ? { tlsRouteVersion } : {}),
    ...(certManager ? { certManager } : {}),
    ...(clusterApi ? { clusterKind: clusterKind(clusterApi) } : {}),
  });
  return manager;
}

const clusterKind = (version: string) =>
  defineKind<ClusterObject>({
    apiVersion: `${clusterApiGroup}/${version}`,
    kind: 'Cluster',
    plural: 'clusters',
    isNamespaced: true,
  });

async function overTls(
  { plane, credentials, authority }: PlaneAccess,
  reach: 'service' | 'endpoint',
  frontDoor: FrontDoorSettings | undefined,
): Promise<Client> {
  const service = { server: endpointUrl({ host: apiServiceHost(plane), port: plane.port }) };
  const address = reach === 'service' ? service : externalAddress(plane, frontDoor);
  return connect(
    await configOfKubeconfig(kubeconfig({ name: plane.name, user: 'operator', ...address, authority, credentials })),
  );
}
