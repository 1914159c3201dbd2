/** Defaults of pods and pod templates. Those of pods only are in `Pod`. */

import type { JsonObject } from '../object.ts';
import {
  fill,
  fillEmpty,
  has,
  isAbsent,
  isEmpty,
  numberAt,
  objectAt,
  elementsAt,
  put,
  putMissing,
  stringAt,
  structAt,
} from './access.ts';
import { imageTag } from './image.ts';
import type { Defaulters } from './plan.ts';
import { aggregateContainers } from './resource-list.ts';

export const podDefaulters: Defaulters = {
  'core/v1.Pod': pod,
  'core/v1.PodTemplateSpec': (template) => dropInitContainerAnnotations(objectAt(template, 'metadata')),
  'core/v1.PodSpec': podSpec,
  'core/v1.PodStatus': (status) => alignAddresses(status),
  'core/v1.Container': container,
  'core/v1.EphemeralContainer': container,
  'core/v1.Probe': (probe) =>
    fillEmpty(probe, { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 }),
  'core/v1.HTTPGetAction': (action) => fillEmpty(action, { path: '/', scheme: 'HTTP' }),
  'core/v1.ObjectFieldSelector': (selector) => fillEmpty(selector, { apiVersion: 'v1' }),
};

const initContainerAnnotations = [
  'pod.beta.kubernetes.io/init-containers',
  'pod.alpha.kubernetes.io/init-containers',
  'pod.beta.kubernetes.io/init-container-statuses',
  'pod.alpha.kubernetes.io/init-container-statuses',
];

/** Removes the annotations that held init containers before they were fields: old kubelets would still use them. */
function dropInitContainerAnnotations(metadata: JsonObject | undefined): void {
  const annotations = objectAt(metadata, 'annotations');
  if (annotations === undefined) return;
  for (const name of initContainerAnnotations) if (has(annotations, name)) delete annotations[name];
}

function pod(value: JsonObject): void {
  dropInitContainerAnnotations(objectAt(value, 'metadata'));
  const spec = structAt(value, 'spec');
  const containers = [...elementsAt(spec, 'containers'), ...elementsAt(spec, 'initContainers')];
  for (const one of containers) requestLimits(one);
  const resources = objectAt(spec, 'resources');
  if (resources !== undefined) podResources(spec, resources);
  fill(spec, { enableServiceLinks: true });
  if (spec['hostNetwork'] === true) for (const one of containers) bindHostPorts(one);
  if (numberAt(spec, 'terminationGracePeriodSeconds') < 0) spec['terminationGracePeriodSeconds'] = 1;
}

/** Sets missing requests to the limits. */
function requestLimits(one: JsonObject): void {
  const resources = objectAt(one, 'resources');
  const limits = objectAt(resources, 'limits');
  if (resources !== undefined && limits !== undefined) putMissing(structAt(resources, 'requests'), limits);
}

const isHugePages = (name: string): boolean => name.startsWith('hugepages-');

/** Resources of the pod as a whole: missing values come from the containers, then from the pod's limits. */
function podResources(spec: JsonObject, resources: JsonObject): void {
  const requests = objectAt(resources, 'requests') ?? {};
  const limits = objectAt(resources, 'limits') ?? {};
  if (isEmpty(requests) && isEmpty(limits)) return;
  for (const [name, quantity] of aggregateContainers(spec, 'limits')) {
    if (isHugePages(name) && !has(requests, name) && !has(limits, name)) put(limits, name, quantity);
  }
  if (isEmpty(limits)) return;
  resources['limits'] = limits;
  for (const [name, quantity] of aggregateContainers(spec, 'requests')) {
    if ((name === 'cpu' || name === 'memory') && !has(requests, name)) put(requests, name, quantity);
  }
  for (const name of Object.keys(limits)) {
    const isPodLevel = name === 'cpu' || name === 'memory' || isHugePages(name);
    if (isPodLevel && !has(requests, name)) put(requests, name, limits[name]);
  }
  if (!isEmpty(requests)) resources['requests'] = requests;
}

/** In the host's network a port of a container is a port of the host. */
function bindHostPorts(one: JsonObject): void {
  for (const port of elementsAt(one, 'ports'))
    if (isEmpty(port['hostPort'])) port['hostPort'] = numberAt(port, 'containerPort');
}

function podSpec(spec: JsonObject): void {
  fillEmpty(spec, { dnsPolicy: 'ClusterFirst', restartPolicy: 'Always', schedulerName: 'default-scheduler' });
  fill(spec, { terminationGracePeriodSeconds: 30 });
  structAt(spec, 'securityContext');
  // `serviceAccount` is the older name of `serviceAccountName`: the server writes both.
  const account = stringAt(spec, 'serviceAccountName') || stringAt(spec, 'serviceAccount');
  if (account !== '') spec['serviceAccountName'] = spec['serviceAccount'] = account;
}

function container(one: JsonObject): void {
  fillEmpty(one, {
    imagePullPolicy: pullPolicy(stringAt(one, 'image')),
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
  });
}

export const pullPolicy = (image: string): string => (imageTag(image) === 'latest' ? 'Always' : 'IfNotPresent');

/** `podIP` is the first of `podIPs`; if they differ, the older field wins. */
function alignAddresses(status: JsonObject): void {
  const address = stringAt(status, 'podIP');
  const first = elementsAt(status, 'podIPs')[0];
  if (address !== '' && first?.['ip'] !== address) status['podIPs'] = [{ ip: address }];
  else if (first !== undefined && !isAbsent(first['ip'])) status['podIP'] = first['ip'];
}
