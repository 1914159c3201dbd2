/** The strategy of custom resources of one version, by their schema and subresources. */

import { once } from '@hangar/cel/work';
import type { WorkBudget } from '@hangar/cel';
import { parseApiVersion } from '../../builtin/schemas.ts';
import type { KubeObject } from '../../object.ts';
import { child, invalid, noValue } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import { invalidObject } from '../../status/status.ts';
import type { ResetFields, Strategy, SubresourceName } from '../../strategy/contract.ts';
import { nameIsSubdomain } from '../../validation/formats.ts';
import { boundedErrors } from '../bounded-errors.ts';
import { runRules } from '../rules/evaluate.ts';
import { cloneJson, deepEqual } from '../structural/canonical.ts';
import { Correlation } from '../structural/correlate.ts';
import { defaultsProblem } from '../structural/defaults.ts';
import { embeddedErrors } from '../structural/embedded.ts';
import { listErrors } from '../structural/list-types.ts';
import { valueErrors } from '../values/check.ts';
import { nilPath } from '../values/report.ts';
import type { CompiledSchema } from './compiled-schema.ts';
import { finalizerWarnings } from './finalizer-warnings.ts';
import type { ScaleMapping } from './scale.ts';

export interface ResourceFacts {
  readonly apiVersion: string;
  readonly kind: string;
  /** Undefined if the definition has no schema, which is allowed only for old ones. */
  readonly schema: CompiledSchema | undefined;
  readonly hasStatus: boolean;
  readonly scale: ScaleMapping | undefined;
}

interface Update {
  readonly object: KubeObject;
  readonly old: KubeObject;
  readonly subresource: SubresourceName;
  readonly budget: (() => WorkBudget) | undefined;
}

/** With one of these errors, rules might get an object of another type. */
const blocking: ReadonlySet<string> = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);
const rulesSkipped = invalid(
  nilPath,
  null,
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
);

export class CustomResourceStrategy implements Strategy {
  readonly allowsCreateOnUpdate = false;
  readonly allowsUnconditionalUpdate = false;
  readonly #facts: ResourceFacts;
  /** Errors that validation tolerated, kept for the warnings. */
  readonly #excused = new WeakMap<KubeObject, readonly string[]>();

  constructor(facts: ResourceFacts) {
    this.#facts = facts;
  }

  /** Throws 422 if the defaults are too large, unless the object is being deleted: then it stays without them. */
  applyDefaults(object: KubeObject): void {
    const { schema, kind, apiVersion } = this.#facts;
    if (schema === undefined) return;
    const problem = defaultsProblem(object, schema.node);
    if (problem === undefined || object.metadata.deletionTimestamp !== undefined) return;
    const { group } = parseApiVersion(apiVersion);
    throw invalidObject({ group, kind }, object.metadata.name ?? '', [invalid(nilPath, noValue, problem)]);
  }

  prepareForCreate(object: KubeObject): void {
    if (this.#facts.hasStatus) delete object['status'];
    object.metadata.generation = 1;
  }

  prepareForUpdate(object: KubeObject, old: KubeObject, subresource: SubresourceName): void {
    if (subresource === 'status') {
      replaceAllButStatus(object, old);
      return;
    }
    if (this.#facts.hasStatus) {
      if (Object.hasOwn(old, 'status')) object['status'] = old['status'];
      else delete object['status'];
    }
    const { generation } = old.metadata;
    const isChanged = !deepEqual({ ...object, metadata: undefined }, { ...old, metadata: undefined });
    if (isChanged) object.metadata.generation = (generation ?? 0) + 1;
    else if (generation === undefined) delete object.metadata.generation;
    else object.metadata.generation = generation;
  }

  validateCreate(object: KubeObject, budget?: () => WorkBudget): FieldError[] {
    return boundedErrors(this.#createErrors(object, budget));
  }

  validateUpdate(
    object: KubeObject,
    old: KubeObject,
    subresource: SubresourceName,
    budget?: () => WorkBudget,
  ): FieldError[] {
    return boundedErrors(this.#updateErrors({ object, old, subresource, budget }));
  }

  #createErrors(object: KubeObject, budget: (() => WorkBudget) | undefined): FieldError[] {
    const { schema, scale } = this.#facts;
    const wrongKind = this.#typeErrors(object);
    if (wrongKind.length > 0) return wrongKind;
    const errors = schema ? [...once(() => valueErrors(schema.plan, object))] : [];
    if (scale !== undefined) errors.push(...scale.specErrors(object), ...scale.statusErrors(object));
    if (schema === undefined) return errors;
    errors.push(...once(() => embeddedErrors(object, schema.node)), ...once(() => listErrors(object, schema.node)));
    if (schema.rules === undefined) return errors;
    if (isBlocked(errors)) errors.push(rulesSkipped);
    else errors.push(...runRules(schema.rules, object, { budget: budget?.() }).errors);
    return errors;
  }

  #updateErrors({ object, old, subresource, budget }: Update): FieldError[] {
    const { schema, scale } = this.#facts;
    const wrongKind = this.#typeErrors(object);
    if (wrongKind.length > 0) return wrongKind;
    const before = schema && new Correlation(object, old, schema.node);
    const errors = subresource === 'status' ? this.#statusErrors(object, before) : this.#objectErrors(object, before);
    if (scale !== undefined) {
      if (subresource !== 'status') errors.push(...scale.specErrors(object));
      errors.push(...scale.statusErrors(object));
    }
    if (schema === undefined) return errors;
    if (subresource !== 'status') errors.push(...once(() => embeddedErrors(object, schema.node)));
    const repeated = once(() => listErrors(object, schema.node));
    // Lists that were invalid before may stay invalid.
    if (repeated.length > 0 && listErrors(old, schema.node).length === 0) errors.push(...repeated);
    if (schema.rules === undefined) return errors;
    if (isBlocked(errors)) {
      errors.push(rulesSkipped);
    } else {
      const outcome = runRules(schema.rules, object, { old, before, budget: budget?.() });
      errors.push(...outcome.errors);
      if (outcome.warnings.length > 0) this.#excused.set(object, outcome.warnings);
    }
    return errors;
  }

  #objectErrors(object: KubeObject, before: Correlation | undefined): FieldError[] {
    const plan = this.#facts.schema?.plan;
    if (plan === undefined) return [];
    // Most objects are valid, and then no correlation is needed.
    const errors = once(() => valueErrors(plan, object));
    return errors.length === 0 ? [] : [...once(() => valueErrors(plan, object, '', before))];
  }

  #statusErrors(object: KubeObject, before: Correlation | undefined): FieldError[] {
    const plan = this.#facts.schema?.statusPlan;
    if (plan === undefined || !Object.hasOwn(object, 'status')) return [];
    const { status } = object;
    const errors = once(() => valueErrors(plan, status, 'status'));
    return errors.length === 0 ? [] : [...once(() => valueErrors(plan, status, 'status', before?.field('status')))];
  }

  #typeErrors(object: KubeObject): FieldError[] {
    const { kind, apiVersion } = this.#facts;
    const errors: FieldError[] = [];
    if (object.kind !== kind) errors.push(invalid('kind', object.kind, `must be ${kind}`));
    if (object.apiVersion !== apiVersion)
      errors.push(invalid('apiVersion', object.apiVersion, `must be ${apiVersion}`));
    return errors;
  }

  warningsOnCreate(object: KubeObject): readonly string[] {
    return finalizerWarnings(object.metadata.finalizers ?? [], child('metadata', 'finalizers'));
  }

  /** Called after `validateUpdate`, which records the tolerated errors. */
  warningsOnUpdate(object: KubeObject, old: KubeObject): readonly string[] {
    const known = new Set(old.metadata.finalizers);
    const added = (object.metadata.finalizers ?? []).filter((finalizer) => !known.has(finalizer));
    const excused = this.#excused.get(object) ?? [];
    this.#excused.delete(object);
    return [...excused, ...finalizerWarnings(added, child('metadata', 'finalizers'))];
  }

  validateName(name: string, isPrefix: boolean): readonly string[] {
    return nameIsSubdomain(name, isPrefix);
  }

  resetFields(subresource: SubresourceName): ResetFields {
    if (subresource === 'status') return ['metadata', 'spec'];
    return subresource === '' && this.#facts.hasStatus ? ['status'] : [];
  }
}

const isBlocked = (errors: readonly FieldError[]): boolean => errors.some(({ type }) => blocking.has(type));

/** A write to the status keeps everything else, except managedFields. */
function replaceAllButStatus(object: KubeObject, old: KubeObject): void {
  const { managedFields } = object.metadata;
  for (const name of Object.keys(object)) if (name !== 'status') delete object[name];
  const { status: _status, ...rest } = old;
  Object.assign(object, rest, { metadata: cloneJson(old.metadata) });
  if (managedFields === undefined) delete object.metadata.managedFields;
  else object.metadata.managedFields = managedFields;
}
