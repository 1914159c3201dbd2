/**
 * Node ports of services, and the health check ports of load balancers. All are in one bitmap under one key. Updates of the bitmap are
 * conditional on its revision.
 */

import { decodeProtobuf, internalError, invalid, isProtobuf, UnclassifiedError } from '@hangar/api';
import type { JsonObject, KubeObject } from '@hangar/api';
import { absent, prefixRange } from '@hangar/store';
import type { Revision, Write } from '@hangar/store';
import { collectionPrefix } from '../control-plane.ts';
import type { ControlPlane } from '../control-plane.ts';
import type { AllocationContext } from './allocation.ts';
import { refuse } from './ip-families.ts';
import { defaultPortRange, PortRange } from './port-range.ts';
import { getsNodePorts, hasNodePorts, needsHealthCheckPort, nodePortsOf, specOf } from './service-spec.ts';
import type { ServicePort, ServiceSpec } from './service-spec.ts';

export class NodePorts {
  readonly #context: AllocationContext;
  readonly #range: PortRange;
  readonly #revision: Revision;
  /** Allocated by this operation, in order. */
  readonly #taken: number[] = [];
  readonly #released: number[] = [];

  private constructor(context: AllocationContext, range: PortRange, revision: Revision) {
    this.#context = context;
    this.#range = range;
    this.#revision = revision;
  }

  static async open(context: AllocationContext): Promise<NodePorts> {
    const { plane } = context;
    const { entry } = await plane.store.get(keyOf(plane));
    if (!entry) return new NodePorts(context, await rangeOfServices(plane), absent);
    return new NodePorts(context, decode(entry.value), entry.modRevision);
  }

  /** Allocates ports for a new service. Two ports with one number (TCP and UDP) share a node port. */
  takeFor(service: KubeObject): void {
    const spec = specOf(service);
    if (hasNodePorts(spec)) this.#takeEach(service, spec.ports ?? [], getsNodePorts(spec));
    if (needsHealthCheckPort(spec)) this.#takeHealthCheckPort(spec);
  }

  #takeEach(service: KubeObject, ports: readonly ServicePort[], getsAny: boolean): void {
    const byPort = new Map<number, number>();
    for (const [at, port] of ports.entries()) {
      if (!port.nodePort && !getsAny) continue;
      const shared = byPort.get(port.port);
      if (shared !== undefined) {
        if (!port.nodePort) port.nodePort = shared;
        else if (port.nodePort !== shared) this.#takeAsked(service, at, port.nodePort);
        continue;
      }
      const asked = ports.find((one) => one.port === port.port && one.nodePort)?.nodePort;
      if (asked) this.#takeAsked(service, at, asked);
      port.nodePort = asked ?? this.#takeAny();
      byPort.set(port.port, port.nodePort);
    }
  }

  changeFor(service: KubeObject, old: KubeObject): void {
    const [spec, before] = [specOf(service), specOf(old)];
    if (hasNodePorts(before) && !hasNodePorts(spec)) this.#released.push(...nodePortsOf(before));
    if (hasNodePorts(spec)) this.#changeEach(service, spec, before);
    const [needs, needed] = [needsHealthCheckPort(spec), needsHealthCheckPort(before)];
    if (needs && !needed) this.#takeHealthCheckPort(spec);
    if (needed && !needs) this.#released.push(before.healthCheckNodePort ?? 0);
  }

  #changeEach(service: KubeObject, spec: ServiceSpec, before: ServiceSpec): void {
    const had = new Set(nodePortsOf(before));
    const asked = new Set<number>();
    const seen = new Set<string>();
    for (const [at, port] of (spec.ports ?? []).entries()) {
      if (!port.nodePort && !getsNodePorts(spec)) continue;
      if (!port.nodePort) port.nodePort = this.#takeAny();
      else if (!had.has(port.nodePort) && !asked.has(port.nodePort)) {
        this.#takeAsked(service, at, port.nodePort);
        asked.add(port.nodePort);
      }
      const shown = `{${port.protocol} ${port.nodePort}}`;
      if (seen.has(shown)) throw new UnclassifiedError(`duplicate nodePort: ${shown}`);
      seen.add(shown);
    }
    const has = new Set(nodePortsOf(spec));
    this.#released.push(...[...had].filter((port) => !has.has(port)));
  }

  releaseAll(service: KubeObject): void {
    const spec = specOf(service);
    this.#released.push(...nodePortsOf(spec));
    if (needsHealthCheckPort(spec)) this.#released.push(spec.healthCheckNodePort ?? 0);
  }

  /** Returns the writes since `open`: none, or the bitmap on condition that it is unchanged since it was read. */
  writes(): Write[] {
    if (this.#context.isDryRun || (this.#taken.length === 0 && this.#released.length === 0)) return [];
    for (const port of this.#released) this.#range.release(port);
    return [{ type: 'put', key: keyOf(this.#context.plane), value: encode(this.#range), expected: this.#revision }];
  }

  #takeAsked(service: KubeObject, at: number, port: number): void {
    const why = this.#take(port);
    if (why !== undefined) refuse(service, [invalid(`spec.ports[${at}].nodePort`, port, why)]);
  }

  #takeHealthCheckPort(spec: ServiceSpec): void {
    const asked = spec.healthCheckNodePort;
    const why = asked ? this.#take(asked) : undefined;
    if (why !== undefined) {
      throw internalError(new Error(`failed to allocate requested HealthCheck NodePort ${asked}: ${why}`));
    }
    if (!asked) spec.healthCheckNodePort = this.#takeAny('failed to allocate a HealthCheck NodePort 0');
  }

  #take(port: number): string | undefined {
    // A dry run accepts ports outside the range, as validation does.
    if (this.#context.isDryRun) {
      if (this.#range.has(port) || this.#taken.includes(port)) return alreadyTaken;
    } else {
      const refusal = this.#range.take(port);
      if (refusal === 'taken') return alreadyTaken;
      if (refusal === 'outside') {
        return `provided port is not in the valid range. The range of valid ports is ${this.#range.text}`;
      }
    }
    this.#taken.push(port);
    return undefined;
  }

  #takeAny(problem = 'failed to allocate a nodePort'): number {
    const port = this.#context.isDryRun ? this.#imagined() : this.#range.takeAny(this.#context.plane.random);
    if (port === undefined) throw internalError(new Error(`${problem}: range is full`));
    this.#taken.push(port);
    return port;
  }

  /** Returns an unusable port, which shows that nothing was allocated; kube-apiserver counts in the same way. */
  #imagined(): number {
    return this.#taken.length === 0 ? 32_769 : Math.max(...this.#taken) + 1;
  }
}

const alreadyTaken = 'provided port is already allocated';

/**
 * Encodes as kube-apiserver does, with a line feed at the end: it compares the stored bytes at its start, and writes if they differ, which it
 * cannot on a replica.
 */
function encode({ text, data }: PortRange): Uint8Array {
  const allocation: JsonObject = {
    kind: 'RangeAllocation',
    apiVersion: 'v1',
    metadata: {},
    range: text,
    data: Buffer.from(data).toString('base64'),
  };
  return Buffer.from(`${JSON.stringify(allocation)}\n`);
}

/** Returns the write that stores all ports in use. Undefined: they are stored, in the encoding of kube-apiserver. */
export async function nodePortsWrite(plane: ControlPlane): Promise<Write | undefined> {
  const key = keyOf(plane);
  const { entry } = await plane.store.get(key);
  const value = encode(entry ? decode(entry.value) : await rangeOfServices(plane));
  if (entry && Buffer.from(entry.value).equals(value)) return undefined;
  return { type: 'put', key, value, expected: entry?.modRevision ?? absent };
}

function decode(value: Uint8Array): PortRange {
  const allocation = isProtobuf(value) ? decodeProtobuf(value) : JSON.parse(Buffer.from(value).toString());
  const { range, data = '' } = allocation as { range: string; data?: string };
  return new PortRange(range, Buffer.from(data, 'base64'));
}

const keyOf = ({ prefix }: ControlPlane): string => `${prefix}ranges/servicenodeports`;

/** Without a stored bitmap: collects the ports of the stored services. */
async function rangeOfServices(plane: ControlPlane): Promise<PortRange> {
  const range = new PortRange(defaultPortRange);
  const services = plane.catalogue.find({ group: '', version: 'v1', resource: 'services' })!;
  const { entries } = await plane.store.range(prefixRange(collectionPrefix(plane, services, '')));
  for (const entry of entries) {
    const spec = specOf(services.stored.object(entry));
    for (const port of [...nodePortsOf(spec), spec.healthCheckNodePort ?? 0]) range.take(port);
  }
  return range;
}
