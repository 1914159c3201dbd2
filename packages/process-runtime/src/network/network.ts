/**
 * The network of the pods of this machine: addresses, names and forwarded Services. `refresh` is called after each change of a pod or a
 * Service; forwarders exist only for Services that select a pod of this machine.
 */

import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Pod, Service } from '@hangar/client/kinds/core-v1';
import type { Clock, Logger } from '@hangar/core';
import { AddressPool } from './addresses.ts';
import { Forwarders } from './forwarders.ts';
import type { WantedForwarder } from './forwarders.ts';
import { tableName } from './hosts.ts';
import { backendsOf, isForwarded, isHeadless, nameTable, selectedPods, serviceVariables } from './service-table.ts';
import type { LocalPod } from './service-table.ts';

export interface NetworkOptions {
  readonly podNetwork: string;
  readonly serviceNetwork: string;
  /** Of the node; NodePorts listen on it. */
  readonly hostIP: string;
  /** Keeps the addresses of Services over a restart. */
  readonly recordPath: string;
  readonly isForwarding: boolean;
  /** The API server of the management plane, for the variables of the Service `kubernetes`. */
  readonly apiServer: { readonly host: string; readonly port: number } | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called while the status of a LoadBalancer Service that selects pods of this machine does not have this address. */
  readonly onLoadBalancer?: (service: Service, address: string) => void;
  /** Called when a port of a Service, or a host port of a pod, cannot be opened. */
  readonly onPortInUse?: (object: Service | Pod, note: string) => void;
}

/** Class of LoadBalancer Services that the runtime serves, besides those without a class. */
const loadBalancerClass = 'hangar.dev/process';

const isOwnLoadBalancer = ({ spec }: Service): boolean =>
  spec?.type === 'LoadBalancer' && (spec.loadBalancerClass ?? loadBalancerClass) === loadBalancerClass;

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
  #services: readonly Service[] = [];
  #localPods: readonly LocalPod[] = [];
  #names: Map<string, string[]> = new Map();

  constructor(options: NetworkOptions) {
    this.#options = options;
    this.pods = new AddressPool(options.podNetwork);
    this.#forwarders = new Forwarders(options.clock);
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

  /** Tries ports again that another process had. */
  retryFailed(): void {
    this.#forwarders.retryFailed();
  }

  close(): Promise<void> {
    return this.#forwarders.close();
  }

  #forward(): void {
    const wanted = new Map<string, WantedForwarder>();
    for (const service of this.#services) this.#forwardService(service, wanted);
    for (const local of this.#localPods) this.#forwardHostPorts(local, wanted);
    this.#forwarders.sync(wanted);
    this.#forget();
  }

  #forwardService(service: Service, wanted: Map<string, WantedForwarder>): void {
    if (!isForwarded(service) || selectedPods(service, this.#localPods).length === 0) return;
    const address = this.#assigned(service);
    for (const port of service.spec?.ports ?? []) {
      if ((port.protocol ?? 'TCP') !== 'TCP') continue;
      const backends = () => backendsOf(service, port, this.#localPods);
      const onFailure = (note: string): void => this.#failed(service, note);
      const add = (host: string, number: number): unknown =>
        wanted.set(`${keyOf(service)} ${host}:${number}`, { host, port: number, backends, onFailure });
      add(address, port.port);
      if (port.nodePort) add(this.#options.hostIP, port.nodePort);
    }
    if (isOwnLoadBalancer(service) && service.status?.loadBalancer?.ingress?.[0]?.ip !== address) {
      this.#options.onLoadBalancer?.(service, address);
    }
  }

  #forwardHostPorts({ pod, address }: LocalPod, wanted: Map<string, WantedForwarder>): void {
    if (pod.spec?.hostNetwork) return;
    for (const { hostPort, hostIP, containerPort, protocol = 'TCP' } of portsOf(pod)) {
      if (!hostPort || protocol !== 'TCP') continue;
      const host = hostIP || this.#options.hostIP;
      wanted.set(`pod ${pod.metadata.uid} ${host}:${hostPort}`, {
        host,
        port: hostPort,
        backends: () => [{ host: address, port: containerPort }],
        onFailure: (note) => this.#failed(pod, note),
      });
    }
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

  #save(): void {
    const { recordPath } = this.#options;
    mkdirSync(dirname(recordPath), { recursive: true, mode: 0o700 });
    writeFileSync(`${recordPath}.next`, JSON.stringify(Object.fromEntries(this.#addresses)), { mode: 0o600 });
    renameSync(`${recordPath}.next`, recordPath);
  }
}

function readAddresses(path: string): Map<string, string> {
  try {
    return new Map(Object.entries(JSON.parse(readFileSync(path, 'utf8')) as Record<string, string>));
  } catch {
    return new Map();
  }
}
