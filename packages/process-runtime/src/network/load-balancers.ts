/** Addresses of LoadBalancer Services outside 127.0.0.0/8, from a pool. The status of a Service is the record of its address. */

import type { Service } from '@hangar/client/kinds/core-v1';

/** Class of LoadBalancer Services that the runtime serves, besides those without a class. */
export const loadBalancerClass = 'hangar.dev/process';

export const isOwnLoadBalancer = ({ spec }: Service): boolean =>
  spec?.type === 'LoadBalancer' && (spec.loadBalancerClass ?? loadBalancerClass) === loadBalancerClass;

/** A larger network is not expanded: each address of the pool is an entry. */
const prefixMin = 20;

/** Returns the addresses of a pool: `10.77.3.1`, or all addresses of `10.99.0.0/28`. Throws TypeError. */
export function expandAddresses(pool: readonly string[]): string[] {
  return pool.flatMap((text) => {
    const [address = '', bits] = text.split('/');
    if (bits === undefined) return [address];
    const parts = address.split('.').map(Number);
    const prefix = Number(bits);
    const isValid = parts.length === 4 && parts.every((part) => part >= 0 && part < 256);
    if (!isValid || !(prefix >= prefixMin && prefix <= 32)) {
      throw new TypeError(
        `network ${JSON.stringify(text)} must be an IPv4 network with a prefix of /${prefixMin} to /32`,
      );
    }
    const size = 2 ** (32 - prefix);
    const number = parts.reduce((sum, part) => sum * 256 + part, 0);
    const first = Math.floor(number / size) * size;
    return Array.from({ length: size }, (_, index) =>
      [24, 16, 8, 0].map((shift) => ((first + index) >>> shift) & 255).join('.'),
    );
  });
}

const keyOf = ({ metadata }: Service): string => `${metadata.namespace}/${metadata.name}`;

export class LoadBalancers {
  readonly #pool: readonly string[];
  /** Address by namespace and name. Undefined: no address of the pool has all ports free. */
  #assigned = new Map<string, string | undefined>();

  /** Throws TypeError for an invalid pool. */
  constructor(pool: readonly string[]) {
    this.#pool = expandAddresses(pool);
  }

  addressOf(service: Service): string | undefined {
    return this.#assigned.get(keyOf(service));
  }

  /**
   * Assigns an address to each LoadBalancer Service. Services keep their addresses and share them, unless they have a port in common.
   * Returns the Services that have no address since this call.
   */
  assign(services: readonly Service[]): Service[] {
    const own = services.filter(isOwnLoadBalancer);
    const before = this.#assigned;
    const takenPorts = new Set<string>();
    const assigned = new Map<string, string | undefined>();
    const portsOf = (service: Service, address: string): string[] =>
      (service.spec?.ports ?? []).map(({ port, protocol = 'TCP' }) => `${address} ${protocol} ${port}`);
    const take = (service: Service, address: string | undefined): boolean => {
      if (address === undefined || !this.#pool.includes(address)) return false;
      const ports = portsOf(service, address);
      if (ports.some((port) => takenPorts.has(port))) return false;
      for (const port of ports) takenPorts.add(port);
      assigned.set(keyOf(service), address);
      return true;
    };
    const wantedBy = ({ spec }: Service): string | undefined => spec?.loadBalancerIP || undefined;
    const known = (service: Service): string | undefined =>
      before.get(keyOf(service)) ?? service.status?.loadBalancer?.ingress?.[0]?.ip;
    const unassigned = own.filter((service) => {
      const address = known(service);
      return (wantedBy(service) ?? address) !== address || !take(service, address);
    });
    const failed: Service[] = [];
    for (const service of unassigned) {
      const wanted = wantedBy(service);
      const isFound = wanted === undefined ? this.#pool.some((one) => take(service, one)) : take(service, wanted);
      if (isFound) continue;
      assigned.set(keyOf(service), undefined);
      if (!before.has(keyOf(service)) || before.get(keyOf(service)) !== undefined) failed.push(service);
    }
    this.#assigned = assigned;
    return failed;
  }
}
