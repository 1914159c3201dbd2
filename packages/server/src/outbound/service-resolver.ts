/**
 * Resolves a reference to a Service to an address. Cluster IPs may not be routable where this server runs, so a ready endpoint is
 * preferred, as with kube-apiserver's `--enable-aggregator-routing`; without any, the cluster IP is used.
 */

import type { KubeObject } from '@hangar/api';
import type { ControlPlane } from '../control-plane.ts';
import { Followed } from '../objects/followed.ts';
import { OutboundError } from './errors.ts';

export interface ServiceReference {
  readonly namespace: string;
  readonly name: string;
  /** Absent: 443. */
  readonly port?: number | undefined;
}

export interface ServiceTarget {
  readonly host: string;
  readonly port: number;
  /** Name that the certificate must be for. */
  readonly serverName: string;
}

interface Service {
  readonly type: string;
  readonly clusterIp: string;
  readonly externalName: string;
  readonly ports: readonly { readonly name?: string; readonly port: number }[];
}

/** Endpoints of an EndpointSlice or of a subset of Endpoints. */
interface Endpoints {
  /** `namespace/name`. */
  readonly service: string;
  readonly ports: readonly { readonly name?: string; readonly port?: number }[];
  readonly addresses: readonly string[];
}

const service: (object: KubeObject) => Service = (object) => {
  const spec = (object['spec'] ?? {}) as Partial<Service> & { clusterIP?: string };
  const { type = 'ClusterIP', clusterIP = '', externalName = '', ports = [] } = spec;
  return { type, clusterIp: clusterIP, externalName, ports };
};

interface Slice extends KubeObject {
  ports?: { name?: string; port?: number }[];
  endpoints?: { addresses?: string[]; conditions?: { ready?: boolean } }[];
}

function endpointsOfSlice(object: KubeObject): readonly Endpoints[] {
  const { metadata, ports = [], endpoints = [] } = object as Slice;
  const name = metadata.labels?.['kubernetes.io/service-name'];
  if (name === undefined) return [];
  const ready = endpoints.filter(({ conditions }) => conditions?.ready !== false);
  const addresses = ready.flatMap((one) => one.addresses?.slice(0, 1) ?? []);
  return [{ service: `${metadata.namespace}/${name}`, ports, addresses }];
}

interface Subsets extends KubeObject {
  subsets?: { ports?: { name?: string; port: number }[]; addresses?: { ip: string }[] }[];
}

function endpointsOfSubsets(object: KubeObject): readonly Endpoints[] {
  const { metadata, subsets = [] } = object as Subsets;
  const owner = `${metadata.namespace}/${metadata.name}`;
  return subsets.map(({ ports = [], addresses = [] }) => ({
    service: owner,
    ports,
    addresses: addresses.map(({ ip }) => ip),
  }));
}

export class ServiceResolver {
  readonly #services: Followed<Service>;
  readonly #slices: Followed<readonly Endpoints[]>;
  readonly #endpoints: Followed<readonly Endpoints[]>;
  readonly #plane: ControlPlane;

  constructor(plane: ControlPlane) {
    this.#plane = plane;
    const core = { group: '', version: 'v1' };
    const slices = { group: 'discovery.k8s.io', version: 'v1', resource: 'endpointslices' };
    this.#services = new Followed(plane, { ...core, resource: 'services' }, service);
    this.#slices = new Followed(plane, slices, endpointsOfSlice);
    this.#endpoints = new Followed(plane, { ...core, resource: 'endpoints' }, endpointsOfSubsets);
  }

  /** Rejects with an OutboundError that names the missing part. */
  async resolve({ namespace, name, port = 443 }: ServiceReference): Promise<ServiceTarget> {
    const serverName = `${name}.${namespace}.svc`;
    const found = (await this.#services.ready()).get(`${namespace}/${name}`);
    if (!found) throw unreachable(`service "${name}" not found`);
    if (found.type === 'ExternalName') return { host: found.externalName, port, serverName };
    const servicePort = found.ports.find((one) => one.port === port);
    if (!servicePort) throw unreachable(`no service port ${port} found for service "${name}"`);
    const endpoint = await this.#endpoint(`${namespace}/${name}`, servicePort.name ?? '');
    if (endpoint) return { ...endpoint, serverName };
    if (found.clusterIp === '' || found.clusterIp === 'None') {
      throw unreachable(`no endpoints available for service "${name}"`);
    }
    return { host: found.clusterIp, port, serverName };
  }

  close(): void {
    for (const one of [this.#services, this.#slices, this.#endpoints]) one.close();
  }

  /** Returns a random ready endpoint. */
  async #endpoint(of: string, portName: string): Promise<{ host: string; port: number } | undefined> {
    for (const source of [this.#slices, this.#endpoints]) {
      const found = [...(await source.ready()).values()].flat().flatMap(({ service: owner, ports, addresses }) => {
        const port = ports.find(({ name = '', port: number }) => name === portName && number !== undefined)?.port;
        return owner === of && port !== undefined ? addresses.map((host) => ({ host, port })) : [];
      });
      if (found.length > 0) return found[Math.floor(this.#plane.random.fraction() * found.length)];
    }
    return undefined;
  }
}

const unreachable = (text: string): OutboundError => new OutboundError('Unreachable', text);
