/** The strategy of a built-in resource: the common rules, those of the kind from `kinds/`, and its validation. */

import { lazy } from '@hangar/core';
import { apiVersionOf, schemaOf } from '../builtin/schemas.ts';
import type { BuiltinResource } from '../builtin/schemas.ts';
import { applyDefaults } from '../defaults/index.ts';
import type { KubeObject } from '../object.ts';
import type { FieldError } from '../status/field-error.ts';
import { formatTime } from '../values/time.ts';
import type { KindValidation } from '../validation/contract.ts';
import { nameIsSubdomain } from '../validation/formats.ts';
import type { NameRule } from '../validation/formats.ts';
import { validationOf } from '../validation/builtin.ts';
import type { ResetFields, Strategy, SubresourceName } from './contract.ts';
import { kindRules } from './kinds/index.ts';
import { keepMetadata, restore, setGeneration } from './metadata.ts';
import { OlderAutoscalerStrategy } from './older-autoscaler.ts';
import type { KindRules, Now, SubresourceRules } from './rules.ts';
import { equalAt } from '../fields/semantic-equality.ts';

const none: readonly never[] = [];

const systemNow: Now = () => formatTime(Math.floor(Date.now() / 1000), 'second', 0)!;

export class BuiltinStrategy implements Strategy {
  readonly #rules: KindRules;
  readonly #hasStatus: boolean;
  readonly #resource: BuiltinResource;
  readonly #validation: () => KindValidation | undefined;
  readonly #now: Now;
  readonly #name: NameRule;

  constructor(resource: BuiltinResource, now: Now) {
    const apiVersion = apiVersionOf(resource);
    this.#rules = rulesOf(resource);
    this.#hasStatus = resource.subresources.some(({ name }) => name === 'status');
    this.#resource = resource;
    this.#validation = lazy(() => validationOf(`${apiVersion}/${resource.kind}`));
    this.#now = now;
    this.#name = this.#rules.name ?? nameIsSubdomain;
  }

  get allowsCreateOnUpdate(): boolean {
    return this.#rules.createsOnUpdate ?? false;
  }

  get allowsUnconditionalUpdate(): boolean {
    return !(this.#rules.needsResourceVersion ?? false);
  }

  applyDefaults(object: KubeObject): void {
    applyDefaults(object);
  }

  prepareForCreate(object: KubeObject): void {
    const { generation, keepsStatusOnCreate, create } = this.#rules;
    if (this.#hasStatus && !keepsStatusOnCreate) delete object['status'];
    if (generation?.first === 1) object.metadata.generation = 1;
    create?.(object, this.#now);
  }

  prepareForUpdate(object: KubeObject, old: KubeObject, subresource: SubresourceName): void {
    setGeneration(object.metadata, old.metadata.generation ?? 0);
    const special = this.#subresource(subresource);
    if (special) special.update(object, old, this.#now);
    else if (subresource === 'status') this.#prepareStatus(object, old);
    else this.#prepareObject(object, old);
  }

  #prepareObject(object: KubeObject, old: KubeObject): void {
    const { generation, update } = this.#rules;
    if (this.#hasStatus) restore(object, old, 'status');
    update?.(object, old, this.#now);
    if (generation === undefined) return;
    const schema = schemaOf(apiVersionOf(this.#resource), this.#resource.kind)!;
    if (generation.of.some((path) => !equalAt(schema, path, object, old))) {
      object.metadata.generation = (old.metadata.generation ?? 0) + 1;
    }
  }

  #prepareStatus(object: KubeObject, old: KubeObject): void {
    restore(object, old, 'spec');
    keepMetadata(object, old, this.#rules.statusKeeps ?? none);
    this.#rules.updateStatus?.(object, old, this.#now);
  }

  validateCreate(object: KubeObject): FieldError[] {
    return this.#validation()?.create(object) ?? [];
  }

  validateUpdate(object: KubeObject, old: KubeObject, subresource: SubresourceName): FieldError[] {
    return this.#validation()?.update(object, old, subresource) ?? [];
  }

  warningsOnCreate(object: KubeObject): readonly string[] {
    return this.#validation()?.warnings?.(object, undefined) ?? none;
  }

  warningsOnUpdate(object: KubeObject, old: KubeObject): readonly string[] {
    return this.#validation()?.warnings?.(object, old) ?? none;
  }

  validateName(name: string, isPrefix: boolean): readonly string[] {
    return this.#name(name, isPrefix);
  }

  resetFields(subresource: SubresourceName): ResetFields {
    const special = this.#subresource(subresource);
    if (special) return special.resets;
    if (subresource === 'status') return this.#rules.statusResets ?? specReset;
    return this.#rules.resets ?? (this.#hasStatus ? statusReset : none);
  }

  #subresource(name: SubresourceName): SubresourceRules | undefined {
    const { subresources } = this.#rules;
    return subresources && Object.hasOwn(subresources, name) ? subresources[name] : undefined;
  }
}

const specReset: ResetFields = ['spec'];
const statusReset: ResetFields = ['status'];

function rulesOf({ group, kind }: BuiltinResource): KindRules {
  const key = group === '' ? kind : `${group}/${kind}`;
  return (Object.hasOwn(kindRules, key) ? kindRules[key] : undefined) ?? {};
}

/** `now` is the clock for rules that need the time. */
export function builtinStrategy(resource: BuiltinResource, now: Now = systemNow): Strategy {
  const strategy = new BuiltinStrategy(resource, now);
  if (resource.kind !== 'HorizontalPodAutoscaler' || resource.version !== 'v1') return strategy;
  return new OlderAutoscalerStrategy(strategy, new BuiltinStrategy({ ...resource, version: 'v2' }, now));
}
