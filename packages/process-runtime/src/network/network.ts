/**
 * The network of the pods of this machine: addresses, names and forwarded Services. `refresh` is called after each change of a pod or a
 * Service; forwarders exist only for Services that select a pod of this machine.
 */

import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Service } from '@hangar/client/kinds/core-v1';
import { asError } from '@hangar/core';
import type { Clock, Logger } from '@hangar/core';
import { AddressPool } from './addresses.ts';
import { Forwarder } from './forwarder.ts';
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
  /** Called when a Service that selects pods of this machine has a new address. */
  readonly onServiceAddress?: (service: Service, address: string) => void;
  /** Called when the port of a Service cannot be opened. */
  readonly onPortInUse?: (service: Service, note: string) => void;
}

const keyOf = ({ metadata }: Service): string => `${metadata.namespace}/${metadata.name}`;

export class PodNetwork {
  readonly pods: AddressPool;
  readonly #options: NetworkOptions;
  readonly #serviceAddresses: AddressPool;
  /** Address by namespace and name. */
  readonly #addresses: Map<string, string>;
  readonly #forwarders = new Map<string, Forwarder | 'opening' | 'failed'>();
  #services: readonly Service[] = [];
  #localPods: readonly LocalPod[] = [];
  #names: Map<string, string[]> = new Map();
  #isClosed = false;

  constructor(options: NetworkOptions) {
    this.#options = options;
    this.pods = new AddressPool(options.podNetwork);
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

  async close(): Promise<void> {
    this.#isClosed = true;
    const open = [...this.#forwarders.values()].filter((one) => one instanceof Forwarder);
    this.#forwarders.clear();
    await Promise.all(open.map((forwarder) => forwarder.close()));
  }

  #forward(): void {
    const wanted = new Map<string, { service: Service; host: string; port: number; index: number }>();
    for (const service of this.#services) {
      if (!isForwarded(service) || selectedPods(service, this.#localPods).length === 0) continue;
      const address = this.#assigned(service);
      (service.spec?.ports ?? []).forEach((port, index) => {
        if ((port.protocol ?? 'TCP') !== 'TCP') return;
        wanted.set(`${keyOf(service)} ${address}:${port.port}`, { service, host: address, port: port.port, index });
        const { nodePort } = port;
        if (!nodePort) return;
        const host = this.#options.hostIP;
        wanted.set(`${keyOf(service)} ${host}:${nodePort}`, { service, host, port: nodePort, index });
      });
    }
    this.#closeOthers(wanted);
    for (const [key, { service, host, port, index }] of wanted) {
      if (!this.#forwarders.has(key)) void this.#open(key, service, { host, port, index });
    }
    this.#forget();
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
    this.#options.onServiceAddress?.(service, address);
    return address;
  }

  async #open(
    key: string,
    service: Service,
    { host, port, index }: { host: string; port: number; index: number },
  ): Promise<void> {
    this.#forwarders.set(key, 'opening');
    const name = keyOf(service);
    const backends = () => {
      const current = this.#services.find((one) => keyOf(one) === name);
      const found = current?.spec?.ports?.[index];
      return current && found ? backendsOf(current, found, this.#localPods) : [];
    };
    try {
      const forwarder = await Forwarder.listen({ host, port, backends, clock: this.#options.clock });
      if (this.#isClosed || this.#forwarders.get(key) !== 'opening') return await forwarder.close();
      this.#forwarders.set(key, forwarder);
    } catch (error) {
      // Another process has the port. The next attempt follows when the Service is recreated or the runtime restarts.
      this.#forwarders.set(key, 'failed');
      const note = `failed to listen on ${host}:${port}: ${asError(error).message}`;
      this.#options.log.warn('failed to forward a Service', { service: name, error: note });
      this.#options.onPortInUse?.(service, note);
    }
  }

  #closeOthers(wanted: ReadonlyMap<string, unknown>): void {
    for (const [key, forwarder] of this.#forwarders) {
      if (wanted.has(key)) continue;
      this.#forwarders.delete(key);
      if (forwarder instanceof Forwarder) void forwarder.close();
    }
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
