/**
 * Cluster IPs. An address is taken when an IPAddress object with its name exists, so allocating an address means creating that object on
 * condition that it is absent.
 */

import { internalError, invalid } from '@hangar/api';
import type { KubeObject } from '@hangar/api';
import { absent, prefixRange } from '@hangar/store';
import type { Write } from '@hangar/store';
import { make } from '../bootstrap/make.ts';
import { collectionPrefix, objectKey } from '../control-plane.ts';
import type { ControlPlane } from '../control-plane.ts';
import type { Resource } from '../resources/resource.ts';
import { formatAddress, parseAddress } from './address-range.ts';
import type { IpFamily } from './address-range.ts';
import type { AllocationContext } from './allocation.ts';
import { refuse } from './ip-families.ts';
import type { ServiceRanges } from './service-cidrs.ts';
import { specOf } from './service-spec.ts';

const ipAddresses = { group: 'networking.k8s.io', version: 'v1', resource: 'ipaddresses' };

/** Number of addresses that are looked up one by one before all are read: enough unless a range is nearly full. */
const lookupsMax = 8;

export class ClusterIps {
  readonly #context: AllocationContext;
  readonly #ranges: ServiceRanges;
  readonly #addresses: Resource;
  readonly #service: KubeObject;

  constructor(context: AllocationContext, ranges: ServiceRanges, service: KubeObject) {
    this.#context = context;
    this.#ranges = ranges;
    this.#addresses = context.plane.catalogue.find(ipAddresses)!;
    this.#service = service;
  }

  /** Allocates addresses for the families from this index on: the requested ones, and free ones where none is requested. */
  async take(from: number): Promise<Write[]> {
    const spec = specOf(this.#service);
    const asked = [...(spec.clusterIPs ?? [])];
    const families = spec.ipFamilies ?? [];
    while (asked.length < families.length) asked.push('');
    const given = [...asked];
    const writes: Write[] = [];
    for (let at = from; at < families.length; at++) {
      const family = families[at]!;
      if (asked[at] === '') given[at] = await this.#any(family, asked);
      else await this.#check(asked[at]!, family, asked);
      if (!this.#context.isDryRun) writes.push(this.#claim(canonical(given[at]!), family));
    }
    spec.clusterIPs = given;
    spec.clusterIP = given[0]!;
    return writes;
  }

  release(addresses: readonly string[]): Write[] {
    if (this.#context.isDryRun) return [];
    return addresses.map((address) => ({ type: 'delete', key: this.#key(canonical(address)) }));
  }

  async #check(address: string, family: IpFamily, asked: readonly string[]): Promise<void> {
    const parsed = parseAddress(address)!;
    const fail = (why: string): void =>
      refuse(this.#service, [invalid('spec.clusterIPs', asked, `failed to allocate IP ${address}: ${why}`)]);
    if (this.#context.isDryRun) {
      const range = this.#dryRunRange(family);
      if (range?.contains(parsed)) return;
      const text = formatAddress(parsed.value, parsed.family);
      fail(`the provided IP (${text}) is not in the valid range. The range of valid IPs is ${range?.cidr}`);
    }
    if (!this.#ranges.ready.some((range) => range.contains(parsed))) {
      fail('the provided network does not match the current range');
    }
    if (await this.#isTaken(canonical(address))) fail('provided IP is already allocated');
  }

  async #any(family: IpFamily, asked: readonly string[]): Promise<string> {
    const { plane, isDryRun } = this.#context;
    // An unusable address shows that nothing was allocated; kube-apiserver returns it too.
    if (isDryRun) return this.#dryRunRange(family)?.networkAddress ?? asked[0]!;
    let taken: ReadonlySet<string> | undefined;
    let lookups = 0;
    for (const range of this.#ranges.ready) {
      if (range.family !== family) continue;
      for (const address of range.candidates(plane.random)) {
        if (lookups++ === lookupsMax) taken = await this.#takenAddresses();
        if (taken ? !taken.has(address) : !(await this.#isTaken(address))) return address;
      }
    }
    const { name } = this.#service.metadata;
    throw internalError(new Error(`failed to allocate a serviceIP for Service ${JSON.stringify(name)}: range is full`));
  }

  #dryRunRange(family: IpFamily) {
    return this.#ranges.all.find((range) => range.family === family);
  }

  async #isTaken(address: string): Promise<boolean> {
    const { entry } = await this.#context.plane.store.get(this.#key(address));
    return entry !== undefined;
  }

  async #takenAddresses(): Promise<Set<string>> {
    const { plane } = this.#context;
    const prefix = collectionPrefix(plane, this.#addresses, '');
    const { entries } = await plane.store.range(prefixRange(prefix), { keysOnly: true });
    return new Set(entries.map(({ key }) => key.slice(prefix.length)));
  }

  #key(address: string): string {
    return objectKey(this.#context.plane, this.#addresses, '', address);
  }

  #claim(address: string, family: IpFamily): Write {
    const { plane } = this.#context;
    const object = newIpAddress(plane, this.#addresses, address, family, this.#service);
    return { type: 'put', key: this.#key(address), value: this.#addresses.stored.encode(object), expected: absent };
  }
}

function canonical(address: string): string {
  const { value, family } = parseAddress(address)!;
  return formatAddress(value, family);
}

/** Sets the labels by which the controllers of Kubernetes recognize addresses of services. */
function newIpAddress(
  plane: ControlPlane,
  resource: Resource,
  address: string,
  family: IpFamily,
  service: KubeObject,
): KubeObject {
  const { namespace, name } = service.metadata;
  return make(plane, resource, {
    kind: resource.kind,
    apiVersion: resource.apiVersion,
    metadata: {
      name: address,
      labels: {
        'ipaddress.kubernetes.io/ip-family': family,
        'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io',
      },
    },
    spec: { parentRef: { resource: 'services', namespace, name } },
  });
}
