/** One schema prepared for checking values: everything that does not depend on the value is computed once. */

import { Regex } from '@hangar/cel';
import { additionalOf, isSet, itemsOf, propertyOf } from '../json-schema.ts';
import type { JsonSchema } from '../json-schema.ts';
import { Enumeration } from './enumeration.ts';
import { formatCheck, isKnownFormat } from './formats.ts';
import type { NumberBounds } from './numbers.ts';

export interface PlanOptions {
  /** Defaults are checked with the schema as written: unknown formats still change the accepted types, and int-or-string adds no types. */
  readonly asWritten?: boolean;
}

/** Parts below are prepared when the first value needs them: most objects use little of a large schema. */
export class ValuePlan implements NumberBounds {
  /** Empty: any type is accepted. */
  readonly types: readonly string[];
  readonly isNullable: boolean;
  /** As written; empty if Kubernetes does not check it. */
  readonly format: string;
  readonly checkFormat: ((text: string) => boolean) | undefined;
  readonly minimum: number | undefined;
  readonly exclusiveMinimum: boolean;
  readonly maximum: number | undefined;
  readonly exclusiveMaximum: boolean;
  readonly multipleOf: number | undefined;
  readonly numberType: string;
  readonly numberFormat: string;
  readonly hasBounds: boolean;
  readonly minLength: number | undefined;
  readonly maxLength: number | undefined;
  readonly pattern: string;
  readonly minItems: number | undefined;
  readonly maxItems: number | undefined;
  readonly minProperties: number | undefined;
  readonly maxProperties: number | undefined;
  readonly required: readonly string[];
  readonly enumeration: Enumeration | undefined;
  /** `additionalProperties: false`. */
  readonly forbidsOthers: boolean;
  readonly hasAlternatives: boolean;
  readonly #schema: JsonSchema;
  readonly #options: PlanOptions;
  readonly #properties = new Map<string, ValuePlan>();
  #others: ValuePlan | undefined;
  #items: ValuePlan | undefined;
  #alternatives: Alternatives | undefined;

  constructor(schema: JsonSchema, options: PlanOptions = {}) {
    const { asWritten = false } = options;
    const isIntOrString = (schema['x-kubernetes-int-or-string'] ?? false) && !asWritten;
    const type = schema.type ?? '';
    const given = schema.format ?? '';
    const isChecked = given !== '' && (asWritten || isKnownFormat(given, isIntOrString ? '' : type));
    const isNumeric = !isIntOrString && (type === 'integer' || type === 'number');
    this.#schema = schema;
    this.#options = options;
    this.types = isIntOrString ? ['integer', 'string'] : type === '' ? [] : [type];
    this.isNullable = schema.nullable ?? false;
    this.format = isChecked ? given : '';
    this.checkFormat = isChecked ? formatCheck(given) : undefined;
    this.minimum = schema.minimum ?? undefined;
    this.exclusiveMinimum = schema.exclusiveMinimum ?? false;
    this.maximum = schema.maximum ?? undefined;
    this.exclusiveMaximum = schema.exclusiveMaximum ?? false;
    this.multipleOf = schema.multipleOf ?? undefined;
    this.numberType = isNumeric ? type : '';
    this.numberFormat = isNumeric && isKnownFormat(this.format, type) ? this.format : '';
    this.hasBounds = isNumeric || [schema.minimum, schema.maximum, schema.multipleOf].some(isSet);
    this.minLength = schema.minLength ?? undefined;
    this.maxLength = schema.maxLength ?? undefined;
    this.pattern = schema.pattern ?? '';
    this.minItems = schema.minItems ?? undefined;
    this.maxItems = schema.maxItems ?? undefined;
    this.minProperties = schema.minProperties ?? undefined;
    this.maxProperties = schema.maxProperties ?? undefined;
    this.required = schema.required ?? [];
    this.enumeration = schema.enum?.length ? new Enumeration(schema.enum) : undefined;
    this.forbidsOthers = schema.additionalProperties === false;
    this.hasAlternatives =
      isSet(schema.not) || [schema.anyOf, schema.oneOf, schema.allOf].some((parts) => (parts?.length ?? 0) > 0);
  }

  property(name: string): ValuePlan | undefined {
    const known = this.#properties.get(name);
    if (known !== undefined) return known;
    const part = propertyOf(this.#schema, name);
    if (part === undefined) return undefined;
    const made = new ValuePlan(part, this.#options);
    this.#properties.set(name, made);
    return made;
  }

  get others(): ValuePlan | undefined {
    const part = additionalOf(this.#schema);
    return (this.#others ??= part && new ValuePlan(part, this.#options));
  }

  get items(): ValuePlan | undefined {
    const part = itemsOf(this.#schema);
    return (this.#items ??= part && new ValuePlan(part, this.#options));
  }

  get alternatives(): Alternatives {
    return (this.#alternatives ??= this.#planAlternatives());
  }

  #planAlternatives(): Alternatives {
    const { anyOf, oneOf, allOf, not } = this.#schema;
    const plans = (parts: readonly JsonSchema[] | undefined): ValuePlan[] =>
      (parts ?? []).map((part) => new ValuePlan(part, this.#options));
    return {
      anyOf: plans(anyOf),
      oneOf: plans(oneOf),
      allOf: plans(allOf),
      not: isSet(not) ? new ValuePlan(not, this.#options) : undefined,
    };
  }
}

export interface Alternatives {
  readonly anyOf: readonly ValuePlan[];
  readonly oneOf: readonly ValuePlan[];
  readonly allOf: readonly ValuePlan[];
  readonly not: ValuePlan | undefined;
}

/** Patterns are compiled on first use. Bounded: the oldest is dropped. */
const patternsMax = 2000;
const patterns = new Map<string, Regex>();

/** Throws if RE2 refuses the pattern, which validation of the definition has excluded. */
export function compiledPattern(pattern: string): Regex {
  let found = patterns.get(pattern);
  if (found === undefined) {
    found = new Regex(pattern);
    if (patterns.size >= patternsMax) patterns.delete(patterns.keys().next().value!);
    patterns.set(pattern, found);
  }
  return found;
}
