/** Fields of a Service's spec that allocation reads and writes. Empty and absent are equivalent. */

import type { JsonObject, KubeObject } from '@hangar/api';
import type { IpFamily } from './address-range.ts';

export interface ServicePort extends JsonObject {
  port: number;
  protocol?: string;
  nodePort?: number;
}

export interface ServiceSpec extends JsonObject {
  type?: string;
  clusterIP?: string;
  clusterIPs?: string[];
  ipFamilies?: IpFamily[];
  ipFamilyPolicy?: 'SingleStack' | 'PreferDualStack' | 'RequireDualStack';
  selector?: JsonObject;
  ports?: ServicePort[];
  allocateLoadBalancerNodePorts?: boolean;
  externalTrafficPolicy?: string;
  healthCheckNodePort?: number;
}

export const specOf = (service: KubeObject): ServiceSpec => (service['spec'] ??= {}) as ServiceSpec;

export const isExternalName = ({ type }: ServiceSpec): boolean => type === 'ExternalName';
export const isHeadless = ({ clusterIPs }: ServiceSpec): boolean => clusterIPs?.[0] === 'None';
export const hasSelector = ({ selector }: ServiceSpec): boolean => Object.keys(selector ?? {}).length > 0;
export const hasNodePorts = ({ type }: ServiceSpec): boolean => type === 'NodePort' || type === 'LoadBalancer';

/** Ports that do not request a node port get one too. */
export const getsNodePorts = (spec: ServiceSpec): boolean =>
  hasNodePorts(spec) && !(spec.type === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts === false);

export const needsHealthCheckPort = (spec: ServiceSpec): boolean =>
  spec.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local';

export const nodePortsOf = ({ ports }: ServiceSpec): number[] =>
  (ports ?? []).flatMap(({ nodePort }) => (nodePort ? [nodePort] : []));

export const isSameList = (a: readonly string[] = [], b: readonly string[] = []): boolean =>
  a.length === b.length && a.every((one, at) => one === b[at]);
