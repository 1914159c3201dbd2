/** Warnings for accepted pods. */

import type { KubeObject } from '../../../object.ts';
import { child, index, key, quote } from '../../../status/field-error.ts';
import { sortKeys } from '../../../values/key-order.ts';
import { dnsLabelReasons, labelValueReasons } from '../../formats.ts';
import { ipWarnings } from '../../shared/ip.ts';
import { isWhole } from '../../shared/quantities.ts';
import { has, isSet } from '../base/checks.ts';
import type { ResourceList } from '../base/quantities.ts';
import type { Container, NodeSelectorTerm, PodAffinityTerm, PodSpec, PodTemplate } from '../types/pod.ts';
import type { PersistentVolumeClaimSpec } from '../types/volume.ts';
import { appArmorPrefix, seccompContainerPrefix, seccompPodAnnotation } from './annotations.ts';
import type { Visited } from './containers-of.ts';
import { visitContainers } from './containers-of.ts';
import { specOf } from './pod.ts';
import { portWarnings } from './port-warnings.ts';
import { overlapWarnings } from './volume-path-warnings.ts';

export function podWarnings(pod: KubeObject): string[] {
  const reasons = dnsLabelReasons(pod.metadata.name ?? '');
  const name =
    reasons.length > 0
      ? [
          "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; " +
            `a DNS label is recommended: [${reasons.join(' ')}]`,
        ]
      : [];
  return [...name, ...templateWarnings('', { metadata: pod.metadata, spec: specOf(pod) })];
}

/** The names of controllers become part of the names of pods. */
export function makerNameWarnings(name: string): string[] {
  const reasons = dnsLabelReasons(name);
  if (reasons.length === 0) return [];
  return [
    'metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; ' +
      `a DNS label is recommended: [${reasons.join(' ')}]`,
  ];
}

/** `path` is empty for a pod itself. */
export function templateWarnings(path: string, template: PodTemplate): string[] {
  const spec = template.spec ?? {};
  const specPath = child(path, 'spec');
  const containers = visitContainers(spec, specPath);
  return [
    ...nodeLabelWarnings(specPath, spec),
    ...spreadWarnings(child(specPath, 'topologySpreadConstraints'), spec),
    ...annotationWarnings(child(path, 'metadata.annotations'), template),
    ...volumeWarnings(child(specPath, 'volumes'), spec),
    ...overlapWarnings(spec.volumes ?? []),
    ...repetitionWarnings(specPath, spec),
    ...fractionWarnings(child(specPath, 'overhead'), spec.overhead),
    ...profileWarnings(path, template, containers),
    ...portWarnings(containers),
    ...((spec.terminationGracePeriodSeconds ?? 0) < 0
      ? [
          `${child(specPath, 'terminationGracePeriodSeconds')}: must be >= 0; negative values are invalid and will be treated as 1`,
        ]
      : []),
    ...affinityWarnings(child(specPath, 'affinity'), spec),
    ...addressWarnings(specPath, spec),
  ];
}

const oldNodeLabels = new Map([
  ['beta.kubernetes.io/arch', 'deprecated since v1.14; use "kubernetes.io/arch" instead'],
  ['beta.kubernetes.io/os', 'deprecated since v1.14; use "kubernetes.io/os" instead'],
  ['failure-domain.beta.kubernetes.io/region', 'deprecated since v1.17; use "topology.kubernetes.io/region" instead'],
  ['failure-domain.beta.kubernetes.io/zone', 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead'],
  ['beta.kubernetes.io/instance-type', 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead'],
  ['app.kubernetes.io/created-by', 'deprecated since v1.9'],
  ['scheduler.alpha.kubernetes.io/preferAvoidPods', 'deprecated since v1.22; use Taints and Tolerations instead'],
  ['node-role.kubernetes.io/master', 'use "node-role.kubernetes.io/control-plane" instead'],
]);

const requiredRules = 'requiredDuringSchedulingIgnoredDuringExecution';
const preferredRules = 'preferredDuringSchedulingIgnoredDuringExecution';

function nodeLabelWarnings(path: string, { nodeSelector, affinity }: PodSpec): readonly string[] {
  if (!nodeSelector && !affinity) return none;
  const at = child(path, 'affinity.nodeAffinity');
  const node = affinity?.nodeAffinity;
  return [
    ...sortKeys(Object.keys(nodeSelector ?? {})).flatMap((name) => {
      const message = oldNodeLabels.get(name);
      return message ? [`${key(child(path, 'nodeSelector'), name)}: ${message}`] : [];
    }),
    ...(node?.[requiredRules]?.nodeSelectorTerms ?? []).flatMap((term, i) =>
      termWarnings(index(child(at, `${requiredRules}.nodeSelectorTerms`), i), term, false),
    ),
    ...(node?.[preferredRules] ?? []).flatMap(({ preference }, i) =>
      termWarnings(child(index(child(at, preferredRules), i), 'preference'), preference ?? {}, true),
    ),
  ];
}

function termWarnings(path: string, { matchExpressions }: NodeSelectorTerm, looksAtValues: boolean): string[] {
  return (matchExpressions ?? []).flatMap(({ key: name = '', values }, i) => {
    const at = index(child(path, 'matchExpressions'), i);
    const message = oldNodeLabels.get(name);
    const invalidValues = looksAtValues ? (values ?? []) : [];
    return [
      ...(message ? [`${child(at, 'key')}: ${name} is ${message}`] : []),
      ...invalidValues.flatMap((value, j) =>
        labelValueReasons(value).map((reason) => `${index(child(at, 'values'), j)}: ${value} is invalid, ${reason}`),
      ),
    ];
  });
}

const nullSelector = 'a null labelSelector results in matching no pod';

const spreadWarnings = (path: string, { topologySpreadConstraints }: PodSpec): string[] =>
  (topologySpreadConstraints ?? []).flatMap(({ topologyKey = '', labelSelector }, i) => {
    const at = index(path, i);
    const message = oldNodeLabels.get(topologyKey);
    return [
      ...(message ? [`${child(at, 'topologyKey')}: ${topologyKey} is ${message}`] : []),
      ...(labelSelector ? [] : [`${child(at, 'labelSelector')}: ${nullSelector}`]),
    ];
  });

const oldAnnotations = [
  ['scheduler.alpha.kubernetes.io/critical-pod', 'non-functional in v1.16+; use the "priorityClassName" field instead'],
  ['security.alpha.kubernetes.io/sysctls', 'non-functional in v1.11+; use the "sysctls" field instead'],
  ['security.alpha.kubernetes.io/unsafe-sysctls', 'non-functional in v1.11+; use the "sysctls" field instead'],
] as const;

function annotationWarnings(path: string, { metadata }: PodTemplate): readonly string[] {
  const annotations = metadata?.annotations;
  if (!annotations) return none;
  return oldAnnotations
    .filter(([name]) => has(annotations, name))
    .map(([name, message]) => `${key(path, name)}: ${message}`);
}

const oldVolumes = [
  { name: 'photonPersistentDisk', message: 'deprecated in v1.11, non-functional in v1.16+' },
  { name: 'gitRepo', message: 'deprecated in v1.11, and disabled by default in v1.33+' },
  { name: 'scaleIO', message: 'deprecated in v1.16, non-functional in v1.22+' },
  { name: 'flocker', message: 'deprecated in v1.22, non-functional in v1.25+' },
  { name: 'storageos', message: 'deprecated in v1.22, non-functional in v1.25+' },
  { name: 'quobyte', message: 'deprecated in v1.22, non-functional in v1.25+' },
  { name: 'glusterfs', message: 'deprecated in v1.25, non-functional in v1.26+' },
  { name: 'ephemeral', message: '' },
  { name: 'cephfs', message: 'deprecated in v1.28, non-functional in v1.31+' },
  { name: 'rbd', message: 'deprecated in v1.28, non-functional in v1.31+' },
] as const;

function volumeWarnings(path: string, { volumes }: PodSpec): string[] {
  const warnings: string[] = [];
  for (const [i, volume] of (volumes ?? []).entries()) {
    for (const { name, message } of oldVolumes) {
      if (!volume[name]) continue;
      const at = child(index(path, i), name === 'storageos' ? 'storageOS' : name);
      const claim = volume.ephemeral?.volumeClaimTemplate;
      if (name !== 'ephemeral') warnings.push(`${at}: ${message}`);
      else if (claim) warnings.push(...claimWarnings(child(at, 'volumeClaimTemplate.spec'), claim.spec ?? {}));
    }
  }
  return warnings;
}

export function claimWarnings(path: string, { resources }: PersistentVolumeClaimSpec): string[] {
  return (['requests', 'limits'] as const).flatMap((kind) =>
    fractionWarnings(child(path, `resources.${kind}`), resources?.[kind], ['storage']),
  );
}

const none: readonly never[] = [];

function fractionWarnings(
  path: string,
  amounts: ResourceList | undefined,
  names: readonly string[] = ['memory', 'ephemeral-storage'],
): readonly string[] {
  if (!amounts) return none;
  return names
    .filter((name) => has(amounts, name) && !isWhole(amounts[name]!))
    .map((name) => `${key(path, name)}: fractional byte value ${quote(amounts[name]!)} is invalid, must be an integer`);
}

function repetitionWarnings(path: string, { hostAliases, imagePullSecrets }: PodSpec): readonly string[] {
  if (!hostAliases && !imagePullSecrets) return none;
  const aliases = (hostAliases ?? []).map(({ ip = '' }) => ip);
  const secrets = (imagePullSecrets ?? []).map(({ name = '' }) => name);
  const at = (i: number): string => child(index(child(path, 'imagePullSecrets'), i), 'name');
  return [
    ...repeated(aliases).map(
      (i) => `${child(index(child(path, 'hostAliases'), i), 'ip')}: duplicate ip ${quote(aliases[i]!)}`,
    ),
    ...repeated(secrets).map((i) => `${at(i)}: duplicate name ${quote(secrets[i]!)}`),
    ...secrets.flatMap((name, i) => (name === '' ? [`${at(i)}: invalid empty name ""`] : [])),
  ];
}

/** Returns the indexes of repeated texts. */
function repeated(texts: readonly string[]): number[] {
  const seen = new Set<string>();
  return texts.flatMap((text, i) => {
    if (seen.has(text)) return [i];
    seen.add(text);
    return [];
  });
}

function profileWarnings(path: string, { metadata, spec = {} }: PodTemplate, containers: readonly Visited[]): string[] {
  const annotations = metadata?.annotations;
  const annotationsPath = child(path, 'metadata.annotations');
  const seccomp = (name: string): string =>
    `${key(annotationsPath, name)}: non-functional in v1.27+; use the "seccompProfile" field instead`;
  const warnings: string[] = [];
  if (!spec.securityContext?.seccompProfile && has(annotations, seccompPodAnnotation)) {
    warnings.push(seccomp(seccompPodAnnotation));
  }
  for (const { container, path: at } of containers) {
    const name = container.name ?? '';
    if (!container.securityContext?.seccompProfile && has(annotations, `${seccompContainerPrefix}${name}`)) {
      warnings.push(seccomp(`${seccompContainerPrefix}${name}`));
    }
    const appArmor = `${appArmorPrefix}${name}`;
    const isTold = path !== '' && !container.securityContext?.appArmorProfile && has(annotations, appArmor);
    if (isTold && !agrees(spec, annotations![appArmor]!)) {
      warnings.push(
        `${key(annotationsPath, appArmor)}: deprecated since v1.30; use the "appArmorProfile" field instead`,
      );
    }
    addContainerWarnings(warnings, at, container);
  }
  return warnings;
}

/** Reports whether the pod's own field has the same value. */
function agrees({ securityContext }: PodSpec, annotation: string): boolean {
  const profile = securityContext?.appArmorProfile;
  if (!profile) return false;
  if (annotation.startsWith('localhost/')) {
    return profile.type === 'Localhost' && profile.localhostProfile === annotation.slice('localhost/'.length);
  }
  const type = annotation === 'unconfined' ? 'Unconfined' : annotation === 'runtime/default' ? 'RuntimeDefault' : '';
  return profile.type === type && !isSet(profile.localhostProfile);
}

const byteResources = ['memory', 'ephemeral-storage'] as const;
const amountKinds = ['limits', 'requests'] as const;

function addContainerWarnings(warnings: string[], path: string, { resources, env }: Container): void {
  if (resources) {
    for (const name of byteResources) {
      for (const kind of amountKinds) {
        const amounts = resources[kind];
        if (!amounts || !has(amounts, name)) continue;
        warnings.push(...fractionWarnings(child(path, `resources.${kind}`), amounts, [name]));
      }
    }
  }
  if (!env || env.length < 2) return;
  const seen = new Set<string>();
  for (let i = 0; i < env.length; i++) {
    const { name = '', value = '', valueFrom } = env[i]!;
    if (!seen.has(name)) {
      seen.add(name);
      continue;
    }
    // A later definition may refer to the earlier one; otherwise it hides it.
    const reference = `$(${name})`;
    if (!valueFrom && value !== reference && value.includes(reference)) continue;
    const at = index(child(path, 'env'), i);
    warnings.push(`${at}: hides previous definition of ${quote(name)}, which may be dropped when using apply`);
  }
}

function affinityWarnings(path: string, { affinity }: PodSpec): readonly string[] {
  if (!affinity) return none;
  const missing = (at: string, term: PodAffinityTerm | undefined): string[] =>
    term?.labelSelector ? [] : [`${child(at, 'labelSelector')}: ${nullSelector}`];
  return (['podAffinity', 'podAntiAffinity'] as const).flatMap((kind) => [
    ...(affinity[kind]?.[requiredRules] ?? []).flatMap((term, i) =>
      missing(index(child(path, `${kind}.${requiredRules}`), i), term),
    ),
    ...(affinity[kind]?.[preferredRules] ?? []).flatMap(({ podAffinityTerm }, i) =>
      missing(child(index(child(path, `${kind}.${preferredRules}`), i), 'podAffinityTerm'), podAffinityTerm),
    ),
  ]);
}

const addressWarnings = (path: string, { dnsConfig, hostAliases }: PodSpec): string[] => [
  ...(dnsConfig?.nameservers ?? []).flatMap((address, i) =>
    ipWarnings(index(child(path, 'dnsConfig.nameservers'), i), address),
  ),
  ...(hostAliases ?? []).flatMap(({ ip = '' }, i) => ipWarnings(child(index(child(path, 'hostAliases'), i), 'ip'), ip)),
];
