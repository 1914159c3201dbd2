/** Defaults of the remaining groups. */

import type { JsonObject } from '../object.ts';
import { fill, fillEmpty, isAbsent, isEmpty, objectAt, elementsAt, stringAt, stringsAt, structAt } from './access.ts';
import type { Defaulter, Defaulters } from './plan.ts';

const rbacGroup = 'rbac.authorization.k8s.io';

const httpsPort: Defaulter = (reference) => fill(reference, { port: 443 });
const roleReference: Defaulter = (binding) => fillEmpty(structAt(binding, 'roleRef'), { apiGroup: rbacGroup });
const failClosed: Defaulter = (spec) => fill(spec, { failurePolicy: 'Fail' });

export const otherDefaulters: Defaulters = {
  'admissionregistration/v1.ValidatingWebhook': webhook,
  'admissionregistration/v1.MutatingWebhook': (one) => {
    webhook(one);
    fill(one, { reinvocationPolicy: 'Never' });
  },
  'admissionregistration/v1.Rule': (rule) => fill(rule, { scope: '*' }),
  'admissionregistration/v1.ServiceReference': httpsPort,
  'admissionregistration/v1.ValidatingAdmissionPolicySpec': failClosed,
  'admissionregistration/v1.MutatingAdmissionPolicySpec': failClosed,
  'admissionregistration/v1.MatchResources': matchEverything,
  'apiextensions/v1.CustomResourceDefinition': customResourceDefinition,
  'apiextensions/v1.ServiceReference': httpsPort,
  'apiregistration/v1.ServiceReference': httpsPort,
  'authentication/v1.TokenRequestSpec': (spec) => fill(spec, { expirationSeconds: 3600 }),
  'discovery/v1.EndpointPort': (port) => fill(port, { name: '', protocol: 'TCP' }),
  'flowcontrol/v1.FlowSchemaSpec': (spec) => fillEmpty(spec, { matchingPrecedence: 1000 }),
  'flowcontrol/v1.ExemptPriorityLevelConfiguration': (one) =>
    fill(one, { nominalConcurrencyShares: 0, lendablePercent: 0 }),
  'flowcontrol/v1.LimitedPriorityLevelConfiguration': (one) =>
    fill(one, { nominalConcurrencyShares: 30, lendablePercent: 0 }),
  'flowcontrol/v1.QueuingConfiguration': (one) => fillEmpty(one, { handSize: 8, queues: 64, queueLengthLimit: 50 }),
  'networking/v1.NetworkPolicyPort': (port) => fill(port, { protocol: 'TCP' }),
  'networking/v1.NetworkPolicy': networkPolicy,
  'networking/v1.IngressClass': ingressClass,
  'rbac/v1.ClusterRoleBinding': roleReference,
  'rbac/v1.RoleBinding': roleReference,
  'rbac/v1.Subject': (subject) => {
    if (subject['kind'] === 'User' || subject['kind'] === 'Group') fillEmpty(subject, { apiGroup: rbacGroup });
  },
  'resource/v1.ExactDeviceRequest': deviceCount,
  'resource/v1.DeviceSubRequest': deviceCount,
  'resource/v1.Device': device,
  'scheduling/v1.PriorityClass': (one) => fill(one, { preemptionPolicy: 'PreemptLowerPriority' }),
  'storage/v1.StorageClass': (one) => fill(one, { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' }),
  'storage/v1.CSIDriver': csiDriver,
};

function matchEverything(one: JsonObject): void {
  fill(one, { matchPolicy: 'Equivalent' });
  structAt(one, 'namespaceSelector');
  structAt(one, 'objectSelector');
}

function webhook(one: JsonObject): void {
  fill(one, { failurePolicy: 'Fail', timeoutSeconds: 10 });
  matchEverything(one);
}

function customResourceDefinition(one: JsonObject): void {
  const spec = structAt(one, 'spec');
  const names = structAt(spec, 'names');
  const kind = stringAt(names, 'kind');
  fillEmpty(names, { singular: kind.toLowerCase() });
  if (kind !== '') fillEmpty(names, { listKind: `${kind}List` });
  if (isAbsent(spec['conversion'])) spec['conversion'] = { strategy: 'None' };
  const status = structAt(one, 'status');
  if (!isEmpty(status['storedVersions'])) return;
  const stored = elementsAt(spec, 'versions').find((version) => version['storage'] === true);
  if (stored !== undefined) status['storedVersions'] = [stringAt(stored, 'name')];
}

function networkPolicy(one: JsonObject): void {
  const spec = structAt(one, 'spec');
  if (stringsAt(spec, 'policyTypes').length > 0) return;
  spec['policyTypes'] = isEmpty(spec['egress']) ? ['Ingress'] : ['Ingress', 'Egress'];
}

function ingressClass(one: JsonObject): void {
  const parameters = objectAt(objectAt(one, 'spec'), 'parameters');
  if (parameters !== undefined) fill(parameters, { scope: 'Cluster' });
}

function deviceCount(request: JsonObject): void {
  fillEmpty(request, { allocationMode: 'ExactCount' });
  if (request['allocationMode'] === 'ExactCount') fillEmpty(request, { count: 1 });
}

function device(one: JsonObject): void {
  const mappings = objectAt(one, 'nodeAllocatableResourceMappings') ?? {};
  for (const name of Object.keys(mappings)) {
    const mapping = Object.hasOwn(mappings, name) ? objectAt(mappings, name) : undefined;
    if (mapping !== undefined) fill(mapping, { allocationMultiplier: '1' });
  }
}

function csiDriver(one: JsonObject): void {
  const spec = structAt(one, 'spec');
  fill(spec, {
    attachRequired: true,
    podInfoOnMount: false,
    storageCapacity: false,
    fsGroupPolicy: 'ReadWriteOnceWithFSType',
    requiresRepublish: false,
    seLinuxMount: false,
  });
  if (stringsAt(spec, 'volumeLifecycleModes').length === 0) spec['volumeLifecycleModes'] = ['Persistent'];
}
