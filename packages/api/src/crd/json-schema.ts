/** The schemas inside a CustomResourceDefinition, as they stand in JSON: Kubernetes' `JSONSchemaProps`. */

export interface ValidationRule {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}

export interface JsonSchema {
  readonly id?: string;
  readonly $schema?: string;
  readonly $ref?: string;
  readonly description?: string;
  readonly type?: string;
  readonly format?: string;
  readonly title?: string;
  readonly default?: unknown;
  readonly maximum?: number;
  readonly exclusiveMaximum?: boolean;
  readonly minimum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly maxLength?: number;
  readonly minLength?: number;
  readonly pattern?: string;
  readonly maxItems?: number;
  readonly minItems?: number;
  readonly uniqueItems?: boolean;
  readonly multipleOf?: number;
  readonly enum?: readonly unknown[];
  readonly maxProperties?: number;
  readonly minProperties?: number;
  readonly required?: readonly string[];
  /** A list of schemas is refused by validation. */
  readonly items?: JsonSchema | readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly anyOf?: readonly JsonSchema[];
  readonly not?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly patternProperties?: Readonly<Record<string, JsonSchema>>;
  readonly dependencies?: Readonly<Record<string, JsonSchema | readonly string[]>>;
  readonly additionalItems?: JsonSchema | boolean;
  readonly definitions?: Readonly<Record<string, JsonSchema>>;
  readonly externalDocs?: { readonly description?: string; readonly url?: string };
  readonly example?: unknown;
  readonly nullable?: boolean;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-embedded-resource'?: boolean;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-list-type'?: string;
  readonly 'x-kubernetes-map-type'?: string;
  readonly 'x-kubernetes-validations'?: readonly ValidationRule[];
}

/** Entries in the schema's order; none where the field is absent or null. */
export const entriesOf = <T>(
  record: Readonly<Record<string, T>> | null | undefined,
): readonly (readonly [string, T])[] => (record === null || record === undefined ? [] : Object.entries(record));

/** The schema of items, when there is one and not a list of them. */
export function itemsOf(schema: JsonSchema): JsonSchema | undefined {
  const { items } = schema;
  return items === undefined || items === null || Array.isArray(items) ? undefined : (items as JsonSchema);
}

export function additionalOf(schema: JsonSchema): JsonSchema | undefined {
  const { additionalProperties: additional } = schema;
  return typeof additional === 'object' && additional !== null ? additional : undefined;
}

/** Go's `nil`: absent or null. */
export const isSet = <T>(value: T | null | undefined): value is T => value !== undefined && value !== null;

/** Own properties only: a property may be called `constructor`. */
export function propertyOf(schema: JsonSchema, name: string): JsonSchema | undefined {
  const { properties } = schema;
  return isSet(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
}
