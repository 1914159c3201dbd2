/** Workloads: what has a pod template. */

import { has, isAbsent, isEmpty, objectAt, put, stringAt, structAt } from '../../defaults/access.ts';
import { schemaOf } from '../../builtin/schemas.ts';
import type { JsonObject, KubeObject } from '../../object.ts';
import { nameIsLabel } from '../../validation/formats.ts';
import { nameIsDeclared } from '../names.ts';
import { dropDisabledPodFields } from '../pod/disabled-fields.ts';
import type { Create, KindRules, Update } from '../rules.ts';
import { equalAt } from '../../fields/semantic-equality.ts';

const ofSpec = { first: 1, of: ['spec'] } as const;

type Path = readonly string[];

const at = (object: JsonObject | undefined, path: Path): JsonObject | undefined =>
  path.reduce<JsonObject | undefined>((value, name) => objectAt(value, name), object);

/** A kind with a pod template at this path; `more` is done besides. */
function templated(path: Path, rules: KindRules = {}): KindRules {
  const drop = (object: KubeObject, old?: KubeObject): void =>
    dropDisabledPodFields(at(object, [...path, 'spec']), at(old, [...path, 'spec']));
  const create: Create = (object, now) => {
    rules.create?.(object, now);
    drop(object);
  };
  const update: Update = (object, old, now) => {
    drop(object, old);
    rules.update?.(object, old, now);
  };
  return { generation: ofSpec, ...rules, create, update };
}

const inSpec: Path = ['spec', 'template'];

export const workloadRules: Readonly<Record<string, KindRules>> = {
  PodTemplate: templated(['template'], { generation: { first: 1, of: ['template'] } }),
  ReplicationController: templated(inSpec, { name: nameIsDeclared }),
  'apps/Deployment': templated(inSpec, {
    // Annotations too: controllers copy them to replica sets.
    generation: { first: 1, of: ['spec', 'metadata.annotations'] },
    statusKeeps: ['labels'],
    statusResets: ['spec', 'metadata.labels'],
  }),
  'apps/ReplicaSet': templated(inSpec),
  'apps/StatefulSet': templated(inSpec, {
    name: nameIsLabel,
    create: (object) => dropMaxUnavailable(object, undefined),
    update: dropMaxUnavailable,
  }),
  'apps/DaemonSet': templated(inSpec, {
    create: (object) => setTemplateGeneration(object, Math.max(templateGeneration(object), 1)),
    update: countTemplates,
    updateStatus: (object, old) => setTemplateGeneration(object, templateGeneration(old)),
  }),
  'batch/Job': templated(inSpec, { create: generateSelector }),
  'batch/CronJob': templated(['spec', 'jobTemplate', 'spec', 'template']),
};

const rollingUpdate: Path = ['spec', 'updateStrategy', 'rollingUpdate'];

/** Rolling several pods at once is a feature that is off. */
function dropMaxUnavailable(object: KubeObject, old: KubeObject | undefined): void {
  const rolling = at(object, rollingUpdate);
  if (rolling !== undefined && isAbsent(at(old, rollingUpdate)?.['maxUnavailable'])) delete rolling['maxUnavailable'];
}

/** Before `generation` counted specs, a field of the daemon set counted templates; an annotation carries it on. */
const templateGenerationKey = 'deprecated.daemonset.template.generation';

function templateGeneration(object: KubeObject): number {
  const text = stringAt(at(object, ['metadata', 'annotations']), templateGenerationKey);
  return /^[+-]?\d{1,19}$/.test(text) ? Number(text) : 0;
}

function setTemplateGeneration({ metadata }: KubeObject, generation: number): void {
  metadata.annotations = { ...metadata.annotations, [templateGenerationKey]: String(generation) };
}

function countTemplates(object: KubeObject, old: KubeObject): void {
  const schema = schemaOf('apps/v1', 'DaemonSet')!;
  const isSame = equalAt(schema, 'spec.template', object, old);
  setTemplateGeneration(object, templateGeneration(old) + (isSame ? 0 : 1));
}

const nameLabels = ['job-name', 'batch.kubernetes.io/job-name'];
const uidLabel = 'batch.kubernetes.io/controller-uid';
const uidLabels = ['controller-uid', uidLabel];

/** A job selects its own pods, by its uid, unless the client sets the selector. */
function generateSelector(object: KubeObject): void {
  const spec = structAt(object, 'spec');
  if (spec['manualSelector'] === true) return;
  const { name = '', uid = '' } = object.metadata;
  const labels = structAt(structAt(structAt(spec, 'template'), 'metadata'), 'labels');
  const missing = (into: JsonObject, keys: readonly string[], value: string): void => {
    for (const key of keys) if (!has(into, key)) put(into, key, value);
  };
  missing(labels, nameLabels, name);
  missing(labels, uidLabels, uid);
  missing(structAt(structAt(spec, 'selector'), 'matchLabels'), [uidLabel], uid);
  const { metadata } = object;
  // Only now the template has labels that the job's own can follow.
  if (isEmpty(metadata.labels)) metadata.labels = labels as Record<string, string>;
  metadata.labels = { ...metadata.labels };
}
