/**
 * The network of the pods of this machine: addresses, names and forwarded Services. `refresh` is called after each change of a pod or a
 * Service. Services that select a pod of this machine, or are in the namespace of one, have forwarders: the pods of a namespace are
 * expected on this machine, and a name must not resolve to a cluster IP, which leaves the machine, until they exist.
 */

import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Pod, Service } from '@hangar/client/kinds/core-v1';
import { asError } from '@hangar/core';
import type { Clock, Logger } from '@hangar/core';
import { AddressPool } from './addresses.ts';
import { Forwarders } from './forwarders.ts';
import type { WantedForwarder } from './forwarders.ts';
import { tableName } from './hosts.ts';
import { isOwnLoadBalancer, LoadBalancers } from './load-balancers.ts';
import { backendsOf, isForwarded, isHeadless, nameTable, serviceVariables } from './service-table.ts';
import type { LocalPod } from './service-table.ts';

export interface NetworkOptions {
  readonly podNetwork: string;
  readonly serviceNetwork: string;
  /** Of the node; NodePorts and host ports listen on it. */
  readonly hostIP: string;
  /** NodePorts and host ports listen on these addresses, too. */
  readonly externalAddresses?: readonly string[] | undefined;
  /** Addresses of LoadBalancer Services. Undefined: their addresses of `serviceNetwork`. */
  readonly loadBalancerAddresses?: readonly string[] | undefined;
  /** Keeps the addresses of Services over a restart. */
  readonly recordPath: string;
  readonly isForwarding: boolean;
  /** The API server of the management plane, for the variables of the Service `kubernetes`. */
  readonly apiServer: { readonly host: string; readonly port: number } | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  /** How long a connection to a Service waits for a ready pod. Absent: 5 s. */
  readonly backendWaitMs?: number | undefined;
  /** Called while the status of a LoadBalancer Service does not have this address. */
  readonly onLoadBalancer?: (service: Service, address: string) => void;
  /** Called once for a LoadBalancer Service for which no address is free. */
  readonly onNoAddress?: (service: Service, note: string) => void;
  /** Called when a port of a Service, or a host port of a pod, cannot be opened. */
  readonly onPortInUse?: (object: Service | Pod, note: string) => void;
}

const portsOf = ({ spec }: Pod) =>
  [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])].flatMap(({ ports = [] }) => ports);

const keyOf = ({ metadata }: Service): string => `${metadata.namespace}/${metadata.name}`;

export class PodNetwork {
  readonly pods: AddressPool;
  readonly #options: NetworkOptions;
  readonly #serviceAddresses: AddressPool;
  /** Address by namespace and name. */
  readonly #addresses: Map<string, string>;
  readonly #forwarders: Forwarders;
  readonly #loadBalancers: LoadBalancers | undefined;
  #services: readonly Service[] = [];
  #localPods: readonly LocalPod[] = [];
  #names: Map<string, string[]> = new Map();

  constructor(options: NetworkOptions) {
    this.#options = options;
    this.pods = new AddressPool(options.podNetwork);
    this.#forwarders = new Forwarders(options.clock, options.backendWaitMs);
    const { loadBalancerAddresses } = options;
    this.#loadBalancers = loadBalancerAddresses && new LoadBalancers(loadBalancerAddresses);
    this.#serviceAddresses = new AddressPool(options.serviceNetwork);
    this.#addresses = readAddresses(options.recordPath);
    for (const [key, address] of this.#addresses) {
      if (!this.#serviceAddresses.reserve(address)) this.#addresses.delete(key);
    }
  }

  /** Names of Services and pods with their addresses. Changed by `refresh`. */
  get names(): ReadonlyMap<string, readonly string[]> {
    return this.#names;
  }

  /** Returns the address of a name that ends with `.svc` or `.svc.cluster.local`. */
  addressOfName(name: string): string | undefined {
    return this.#names.get(tableName(name))?.[0];
  }

  /** Returns the address at which pods reach a Service. */
  addressOf(service: Service): string | undefined {
    const { apiServer } = this.#options;
    if (keyOf(service) === 'default/kubernetes' && apiServer) return apiServer.host;
    if (isHeadless(service)) return undefined;
    const { clusterIP = '' } = service.spec ?? {};
    if (clusterIP.startsWith('127.') || !this.#options.isForwarding) return clusterIP === '' ? undefined : clusterIP;
    return this.#addresses.get(keyOf(service)) ?? (clusterIP === '' ? undefined : clusterIP);
  }

  /** Returns the variables for a pod: Services of its namespace, if wanted, and the Service `kubernetes`. */
  variablesFor(namespace: string, hasServiceLinks: boolean): Record<string, string> {
    const { apiServer } = this.#options;
    const isMaster = ({ metadata }: Service): boolean =>
      metadata.namespace === 'default' && metadata.name === 'kubernetes';
    const visible = this.#services.filter(
      (service) => isMaster(service) || (hasServiceLinks && service.metadata.namespace === namespace),
    );
    const variables = serviceVariables(visible, (service) => this.addressOf(service));
    if (!apiServer) return variables;
    const port = String(apiServer.port);
    return {
      ...variables,
      KUBERNETES_SERVICE_HOST: apiServer.host,
      KUBERNETES_SERVICE_PORT: port,
      KUBERNETES_SERVICE_PORT_HTTPS: port,
    };
  }

  /** Returns true if a name or its addresses changed. */
  refresh(services: readonly Service[], pods: readonly LocalPod[]): boolean {
    this.#services = services;
    this.#localPods = pods;
    if (this.#options.isForwarding) this.#forward();
    const names = nameTable(services, pods, (service) => this.addressOf(service));
    const isChanged = JSON.stringify([...names].sort()) !== JSON.stringify([...this.#names].sort());
    this.#names = names;
    return isChanged;
  }

  close(): Promise<void> {
    return this.#forwarders.close();
  }

  #forward(): void {
    const wanted = new Map<string, WantedForwarder>();
    for (const service of this.#loadBalancers?.assign(this.#services) ?? []) this.#noAddress(service);
    for (const service of this.#services) this.#forwardService(service, wanted);
    for (const local of this.#localPods) this.#forwardHostPorts(local, wanted);
    this.#forwarders.sync(wanted);
    this.#forget();
  }

  #forwardService(service: Service, wanted: Map<string, WantedForwarder>): void {
    if (!isForwarded(service)) return;
    const address = this.#isServed(service) ? this.#assigned(service) : undefined;
    const external = this.#loadBalancers ? this.#loadBalancers.addressOf(service) : address;
    // A client of the Service can need the address before the first pod: the certificate of an API server has it.
    if (isOwnLoadBalancer(service) && external && service.status?.loadBalancer?.ingress?.[0]?.ip !== external) {
      this.#options.onLoadBalancer?.(service, external);
    }
    if (address === undefined) return;
    for (const port of service.spec?.ports ?? []) {
      if ((port.protocol ?? 'TCP') !== 'TCP') continue;
      const backends = () => backendsOf(service, port, this.#localPods);
      const onFailure = (note: string): void => this.#failed(service, note);
      const add = (host: string, number: number): unknown =>
        wanted.set(`${keyOf(service)} ${host}:${number}`, { host, port: number, backends, onFailure });
      add(address, port.port);
      if (external) add(external, port.port);
      if (port.nodePort) for (const host of this.#hostAddresses) add(host, port.nodePort);
    }
  }

  #isServed({ metadata: { namespace }, spec }: Service): boolean {
    return (
      Object.keys(spec?.selector ?? {}).length > 0 &&
      this.#localPods.some(({ pod }) => pod.metadata.namespace === namespace)
    );
  }

  get #hostAddresses(): string[] {
    return [this.#options.hostIP, ...(this.#options.externalAddresses ?? [])];
  }

  #forwardHostPorts({ pod, address }: LocalPod, wanted: Map<string, WantedForwarder>): void {
    if (pod.spec?.hostNetwork) return;
    for (const { hostPort, hostIP, containerPort, protocol = 'TCP' } of portsOf(pod)) {
      if (!hostPort || protocol !== 'TCP') continue;
      for (const host of hostIP ? [hostIP] : this.#hostAddresses) {
        wanted.set(`pod ${pod.metadata.uid} ${host}:${hostPort}`, {
          host,
          port: hostPort,
          backends: () => [{ host: address, port: containerPort }],
          onFailure: (note) => this.#failed(pod, note),
        });
      }
    }
  }

  #noAddress(service: Service): void {
    const note = `Failed to allocate IP for ${JSON.stringify(keyOf(service))}: no address of the pool has all ports of the Service free`;
    this.#options.log.warn('failed to assign an address to a LoadBalancer Service', { service: keyOf(service) });
    this.#options.onNoAddress?.(service, note);
  }

  #failed(object: Service | Pod, note: string): void {
    const { log, onPortInUse } = this.#options;
    const { namespace, name } = object.metadata;
    log.warn('failed to forward a port', { object: `${namespace}/${name}`, error: note });
    onPortInUse?.(object, note);
  }

  #assigned(service: Service): string {
    const { clusterIP = '' } = service.spec ?? {};
    if (clusterIP.startsWith('127.')) return clusterIP;
    const key = keyOf(service);
    const known = this.#addresses.get(key);
    if (known !== undefined) return known;
    const address = this.#serviceAddresses.take();
    this.#addresses.set(key, address);
    this.#save();
    return address;
  }

  /** Releases the addresses of deleted Services. */
  #forget(): void {
    const present = new Set(this.#services.map(keyOf));
    let isChanged = false;
    for (const [key, address] of this.#addresses) {
      if (present.has(key)) continue;
      this.#addresses.delete(key);
      this.#serviceAddresses.release(address);
      isChanged = true;
    }
    if (isChanged) this.#save();
  }

  /** Without the record, the next runtime assigns other addresses. */
  #save(): void {
    const { recordPath, log } = this.#options;
    try {
      mkdirSync(dirname(recordPath), { recursive: true, mode: 0o700 });
      writeFileSync(`${recordPath}.next`, JSON.stringify(Object.fromEntries(this.#addresses)), { mode: 0o600 });
      renameSync(`${recordPath}.next`, recordPath);
    } catch (error) {
      log.warn('failed to write the addresses of Services', { path: recordPath, error: asError(error).message });
    }
  }
}

function readAddresses(path: string): Map<string, string> {
  try {
    return new Map(Object.entries(JSON.parse(readFileSync(path, 'utf8')) as Record<string, string>));
  } catch {
    return new Map();
  }
}
