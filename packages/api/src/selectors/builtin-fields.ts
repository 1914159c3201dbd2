/** The fields by which built-in kinds can be selected, and their readers. */

import type { JsonObject } from '../object.ts';
import { isObject } from '../object.ts';
import { quote } from '../status/field-error.ts';

/** Returns the text that a selector compares; empty for an unset field. */
export type FieldReader = (object: JsonObject) => string;

export interface SelectableKind {
  /** By label, including `metadata.name` and `metadata.namespace` if they are supported. */
  readonly fields: Readonly<Record<string, FieldReader>>;
  /** Returns the message for an unsupported label. */
  refusal(label: string): string;
}

/** Reads the value at a path of keys as Go prints it. */
export const fieldAt =
  (path: readonly string[], zero = ''): FieldReader =>
  (object) => {
    let value: unknown = object;
    for (const key of path) value = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
    if (value === undefined || value === null) return zero;
    return typeof value === 'object' ? JSON.stringify(value) : String(value as string);
  };

const at = (path: string, zero = ''): FieldReader => fieldAt(path.split('.'), zero);

/** Labels that are their own paths. */
const paths = (...labels: readonly string[]): Record<string, FieldReader> =>
  Object.fromEntries(labels.map((label) => [label, at(label)]));

const name = paths('metadata.name');
export const nameAndNamespace: Readonly<Record<string, FieldReader>> = paths('metadata.name', 'metadata.namespace');

const unsupported = (label: string): string => `field label not supported: ${label}`;
const kind = (fields: Record<string, FieldReader>, refusal = unsupported): SelectableKind => ({ fields, refusal });

/** Kinds without their own selectable fields. */
export const plainKind: SelectableKind = kind(
  nameAndNamespace,
  (label) => `${quote(label)} is not a known field selector: only "metadata.name", "metadata.namespace"`,
);

const firstOf =
  (...readers: readonly FieldReader[]): FieldReader =>
  (object) => {
    for (const read of readers) {
      const value = read(object);
      if (value !== '') return value;
    }
    return '';
  };

function firstPodIP(object: JsonObject): string {
  const { status } = object;
  const addresses = isObject(status) ? status['podIPs'] : undefined;
  const first: unknown = Array.isArray(addresses) ? addresses[0] : undefined;
  return isObject(first) ? at('ip')(first) : '';
}

const pod = kind({
  ...nameAndNamespace,
  ...paths('spec.nodeName', 'spec.restartPolicy', 'spec.schedulerName', 'spec.serviceAccountName'),
  ...paths('status.phase', 'status.nominatedNodeName'),
  'spec.host': at('spec.nodeName'),
  'spec.hostNetwork': at('spec.hostNetwork', 'false'),
  'status.podIP': firstOf(at('status.podIP'), firstPodIP),
  // Supported, but always empty: kube-apiserver compares with the empty text.
  'status.podIPs': () => '',
});

const references = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'];

const coreEvent = kind({
  ...nameAndNamespace,
  ...paths(...references.map((field) => `involvedObject.${field}`)),
  ...paths('reason', 'reportingComponent', 'type'),
  source: firstOf(at('source.component'), at('reportingComponent')),
});

const event = kind({
  ...nameAndNamespace,
  ...paths(...references.map((field) => `regarding.${field}`)),
  ...paths('reason', 'reportingController', 'type'),
});

const signed = kind({ ...name, ...paths('spec.signerName') });
const podCertificate = kind({ ...name, ...paths('spec.signerName', 'spec.podName', 'spec.nodeName') });
const resourceSlice = (version: string): SelectableKind =>
  kind(
    { ...name, ...paths('spec.nodeName', 'spec.driver') },
    (label) => `field label not supported for resource.k8s.io/${version}, Kind=ResourceSlice: ${label}`,
  );

/** By `apiVersion/Kind`; every other kind is a `plainKind`. */
export const builtinFieldSelectors: Readonly<Record<string, SelectableKind>> = {
  'v1/Pod': pod,
  'v1/Node': kind({ ...name, 'spec.unschedulable': at('spec.unschedulable', 'false') }),
  'v1/ReplicationController': kind({ ...nameAndNamespace, 'status.replicas': at('status.replicas', '0') }),
  'v1/Event': coreEvent,
  'v1/Namespace': kind({ ...name, ...paths('status.phase') }),
  'v1/Secret': kind({ ...nameAndNamespace, ...paths('type') }),
  'v1/Service': kind({ ...nameAndNamespace, ...paths('spec.clusterIP', 'spec.type') }),
  'events.k8s.io/v1/Event': event,
  'batch/v1/Job': kind(
    { ...nameAndNamespace, 'status.successful': at('status.succeeded', '0') },
    (label) => `field label ${quote(label)} not supported for Job`,
  ),
  'certificates.k8s.io/v1/CertificateSigningRequest': signed,
  'certificates.k8s.io/v1alpha1/ClusterTrustBundle': signed,
  'certificates.k8s.io/v1beta1/ClusterTrustBundle': signed,
  'certificates.k8s.io/v1beta1/PodCertificateRequest': podCertificate,
  'resource.k8s.io/v1/ResourceSlice': resourceSlice('v1'),
  'resource.k8s.io/v1beta1/ResourceSlice': resourceSlice('v1beta1'),
  'resource.k8s.io/v1beta2/ResourceSlice': resourceSlice('v1beta2'),
};
