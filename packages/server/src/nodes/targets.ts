/** Finds the objects and addresses that a request to a node, a pod or a service refers to. Errors are those of kube-apiserver. */

import { isIP } from 'node:net';
import { badRequest, notFound, quote, UnclassifiedError } from '@hangar/api';
import type { KubeObject } from '@hangar/api';
import { objectKey } from '../control-plane.ts';
import { groupResource } from '../verbs/call.ts';
import type { Call } from '../verbs/call.ts';
import type { Backend } from './node-connections.ts';

interface Container {
  readonly name: string;
  readonly ports?: readonly { containerPort: number }[];
}

interface PodSpec {
  readonly nodeName?: string;
  readonly containers?: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly ephemeralContainers?: readonly Container[];
}

export const specOf = (pod: KubeObject): PodSpec => (pod['spec'] ?? {}) as PodSpec;

/** Annotation of a Node with the SHA-256 of its kubelet's serving certificate, in hexadecimal, with or without colons. */
export const pinAnnotation = 'hangar.dev/kubelet-certificate-sha256';

/** Port of kubelets that report none. */
const defaultKubeletPort = 10_250;

/** A missing object is reported under the resource of the request, as in kube-apiserver. */
export async function named(call: Call, kind: string, name: string): Promise<KubeObject> {
  const object = await find(call, kind, name);
  if (!object) throw notFound(groupResource(call), name);
  return object;
}

export async function find({ plane, info }: Call, kind: string, name: string): Promise<KubeObject | undefined> {
  const resource = plane.catalogue.find({ group: '', version: 'v1', resource: kind })!;
  const namespace = resource.namespaced ? info.namespace : '';
  const { entry } = await plane.store.get(objectKey(plane, resource, namespace, name));
  return entry && resource.stored.object(entry);
}

/** Returns the container that the query names, or the only one of the pod. */
export function containerOf({ query }: Call, pod: KubeObject): string {
  const { containers = [], initContainers = [], ephemeralContainers = [] } = specOf(pod);
  const { name } = pod.metadata;
  const asked = query.text('container');
  const names = [...initContainers, ...containers, ...ephemeralContainers].map((one) => one.name);
  if (asked !== '') {
    if (!names.includes(asked)) throw badRequest(`container ${asked} is not valid for pod ${name}`);
    return asked;
  }
  if (containers.length > 1) {
    throw badRequest(`a container name must be specified for pod ${name}, choose one of: [${names.join(' ')}]`);
  }
  if (containers.length === 0) throw badRequest(`a container name must be specified for pod ${name}`);
  return containers[0]!.name;
}

interface NodeStatus {
  readonly addresses?: readonly { readonly type: string; readonly address: string }[];
  readonly daemonEndpoints?: { readonly kubeletEndpoint?: { readonly Port?: number } };
  readonly declaredFeatures?: readonly string[];
}

export interface Kubelet extends Backend {
  /** Features that the kubelet declared. */
  readonly features: readonly string[];
}

/** Returns the address of the kubelet that runs on a node. */
export async function kubeletOn(call: Call, nodeName: string): Promise<Kubelet> {
  const node = await named(call, 'nodes', nodeName);
  const { addresses = [], daemonEndpoints, declaredFeatures = [] } = (node['status'] ?? {}) as NodeStatus;
  const pin = node.metadata.annotations?.[pinAnnotation]?.replaceAll(':', '').toLowerCase();
  for (const type of call.plane.nodes.preferredAddressTypes) {
    const host = addresses.find((one) => one.type === type)?.address;
    if (host === undefined) continue;
    const port = daemonEndpoints?.kubeletEndpoint?.Port || defaultKubeletPort;
    return { scheme: 'https', host, port, peer: 'kubelet', pin, features: declaredFeatures };
  }
  const known = addresses.map(({ type, address }) => `{${type} ${address}}`).join(' ');
  throw new UnclassifiedError(`no preferred addresses found; known addresses: [${known}]`);
}

export interface ProxyTarget {
  readonly scheme: 'http' | 'https';
  readonly name: string;
  /** A number, the name of a port, or empty. */
  readonly port: string;
}

/** Parses `name`, `name:port` or `scheme:name:port`. */
export function proxyTarget({ info }: Call, what: string): ProxyTarget {
  const match = /^(?:(https?|):(?=.*:))?([^:]+)(?::([^:]*))?$/.exec(info.name);
  if (!match) throw badRequest(`invalid ${what} request ${quote(info.name)}`);
  return { scheme: match[1] === 'https' ? 'https' : 'http', name: match[2]!, port: match[3] ?? '' };
}

/** Reports whether Go's `IsGlobalUnicast` holds: not loopback, link-local, multicast, unspecified or broadcast. */
export function isGlobalUnicast(address: string): boolean {
  if (isIP(address) === 4)
    return !/^(?:0\.0\.0\.0$|127\.|169\.254\.|22[4-9]\.|23\d\.|255\.255\.255\.255$)/.test(address);
  if (isIP(address) !== 6) return false;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return isGlobalUnicast(mapped);
  return !/^(?:[0:]*:0*[01]?$|fe[89ab][0-9a-f]:|ff[0-9a-f]{2}:)/i.test(address);
}
