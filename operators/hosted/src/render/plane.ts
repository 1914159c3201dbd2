/** The input of the rendering: everything that the objects of a control plane depend on, as plain data. */

import type { OwnerReference } from '@hangar/api';
import type { ApiObject } from '@hangar/client';
import { controllerReference } from '@hangar/runtime';
import type { ControlPlaneEndpoint, HostedControlPlane, HostedControlPlaneSpec, ServiceType } from '../api/index.ts';
import { annotations, replicaStateOf } from '../api/index.ts';
import type { ReplicaState } from '../api/index.ts';
import { isPublicAddress } from '../addresses.ts';
import { parseVersion } from './version.ts';
import type { Version } from './version.ts';

/** The fields of a Cluster of Cluster API that matter here. They are the same in v1beta1 and v1beta2. */
export interface ClusterObject extends ApiObject {
  spec?: {
    paused?: boolean;
    clusterNetwork?: {
      apiServerPort?: number;
      services?: { cidrBlocks?: string[] };
      pods?: { cidrBlocks?: string[] };
      serviceDomain?: string;
    };
    controlPlaneEndpoint?: { host?: string; port?: number };
  };
}

/** Networks inside the control plane. */
export interface PlaneNetwork {
  readonly serviceCidrs: readonly string[];
  readonly podCidrs: readonly string[];
  readonly domain: string;
}

export interface Plane {
  /** Prefix of the names of all objects. */
  readonly name: string;
  readonly namespace: string;
  readonly owner: OwnerReference;
  readonly spec: HostedControlPlaneSpec;
  readonly version: Version;
  readonly network: PlaneNetwork;
  readonly exposure: Exposure;
  /** Port of the API server on the Service. */
  readonly port: number;
  /** Type of the Service if the spec has none. */
  readonly serviceType: ServiceType;
  /** Whether the API server reaches nodes through konnectivity agents. */
  readonly hasKonnectivity: boolean;
  /** Size of the volumes of etcd after they have grown by themselves. Absent: they have not. */
  readonly grownEtcdVolumeSize?: string | undefined;
  /** Tag of the image of etcd, as long as it differs from the spec. Absent: that of the spec. */
  readonly etcdTag?: string | undefined;
  /** Smallest capacity of the volumes of etcd. Absent: the requested size. */
  readonly etcdCapacity?: string | undefined;
  /** Issuer of the service account tokens of the tenant that the control plane was made from. Absent: it is not a replica. */
  readonly tenantIssuer?: string | undefined;
  /** CA of the address of that tenant, PEM. */
  readonly tenantServingCa?: string | undefined;
  /** Address for clients. Absent: not known yet. */
  readonly endpoint?: ControlPlaneEndpoint | undefined;
}

/** `always`: every control plane has konnectivity. `requested`: those whose spec has settings of its servers or agents. */
export type KonnectivityPolicy = 'always' | 'requested';

/** How clients reach the API server. A Gateway and the front door route by host name. */
export type Exposure = 'service' | 'gateway' | 'front-door';

/** The default for control planes that set neither a gateway, the front door, a Service nor an endpoint. */
export type DefaultExposure = Exclude<Exposure, 'gateway'>;

export interface PlaneOptions {
  readonly name: string;
  readonly cluster?: ClusterObject | undefined;
  readonly serviceType: ServiceType;
  /** Absent: `requested`. */
  readonly konnectivity?: KonnectivityPolicy | undefined;
  /** Absent: `service`. */
  readonly exposure?: DefaultExposure | undefined;
}

const defaultNetwork = { services: '10.96.0.0/12', pods: '10.244.0.0/16', domain: 'cluster.local' };
const defaultPort = 6443;

/** Throws `InvalidVersion`. */
export function planeOf(hostedControlPlane: HostedControlPlane, options: PlaneOptions): Plane {
  const { name, cluster, serviceType, konnectivity = 'requested' } = options;
  const { spec, metadata } = hostedControlPlane;
  const { clusterNetwork = {}, controlPlaneEndpoint = {} } = cluster?.spec ?? {};
  const { host, port } = controlPlaneEndpoint;
  const ofCluster = host && port ? { host, port } : undefined;
  const endpoint = ofCluster ?? spec.controlPlaneEndpoint;
  const { issuer, servingCa, serviceCidrs } = replicaSettings(hostedControlPlane);
  const exposure = exposureOf(hostedControlPlane, endpoint ? 'service' : (options.exposure ?? 'service'));
  return {
    name,
    namespace: metadata.namespace!,
    owner: controllerReference(hostedControlPlane),
    spec,
    version: parseVersion(spec.version),
    network: {
      serviceCidrs: serviceCidrs ?? orDefault(clusterNetwork.services?.cidrBlocks, defaultNetwork.services),
      podCidrs: orDefault(clusterNetwork.pods?.cidrBlocks, defaultNetwork.pods),
      domain: clusterNetwork.serviceDomain || defaultNetwork.domain,
    },
    exposure,
    port: clusterNetwork.apiServerPort || defaultPort,
    serviceType: spec.service?.type ?? (exposure === 'service' ? serviceType : 'ClusterIP'),
    hasKonnectivity:
      konnectivity === 'always' ||
      spec.konnectivityClient !== undefined ||
      spec.deployment?.apiServer?.konnectivity !== undefined,
    grownEtcdVolumeSize: grownSizeOf(hostedControlPlane),
    ...(issuer === undefined ? {} : { tenantIssuer: issuer }),
    ...(servingCa === undefined ? {} : { tenantServingCa: servingCa }),
    endpoint,
  };
}

/** Nothing is started with a state that cannot be read. */
function replicaSettings(object: HostedControlPlane): Pick<ReplicaState, 'issuer' | 'servingCa' | 'serviceCidrs'> {
  const state = replicaStateOf(object);
  return state === 'malformed' || state === undefined ? {} : state;
}

/** Ignores a value that is not a size. */
function grownSizeOf({ metadata }: HostedControlPlane): string | undefined {
  const size = metadata.annotations?.[annotations.etcdVolumeSize];
  return size !== undefined && /^[1-9]\d{0,14}(Gi|Mi)?$/.test(size) ? size : undefined;
}

function exposureOf({ spec, metadata }: HostedControlPlane, byDefault: DefaultExposure): Exposure {
  if (spec.gateway) return 'gateway';
  if (spec.frontDoor || metadata.annotations?.[annotations.exposure] === 'front-door') return 'front-door';
  return spec.service ? 'service' : byDefault;
}

/** Processes of users other than root cannot listen on lower ports. */
const unprivilegedPortMin = 1024;

/**
 * Returns the port of the API server in its pods. The endpoint of the Service `kubernetes` inside has this port and the advertised
 * address, so it is the port of the control plane's endpoint, which differs from that of the Service with type NodePort.
 */
export const podPortOf = ({ endpoint, port }: Plane): number =>
  endpoint && isPublicAddress(endpoint.host) && endpoint.port >= unprivilegedPortMin ? endpoint.port : port;

const orDefault = (blocks: readonly string[] | undefined, block: string): readonly string[] =>
  blocks === undefined || blocks.length === 0 ? [block] : blocks;
