/** Parts of a definition as Go prints its internal types in errors: every field, by its Go name, whether set or not. */

import { sorted } from '../structural/canonical.ts';
import type { JsonSchema, ValidationRule } from '../json-schema.ts';
import { isSet } from '../json-schema.ts';
import { sortKeys } from '../../values/key-order.ts';
import type { InternalVersion } from './internal-spec.ts';

type Form = 'text' | 'flag' | 'pointer' | 'json' | 'list' | 'schema' | 'schemas' | 'map' | 'items' | 'orFlag' | 'rules';

/** Go's name, JSON's name, and how it is printed; in Go's order. */
const schemaFields: readonly (readonly [go: string, json: keyof JsonSchema, form: Form])[] = [
  ['ID', 'id', 'text'],
  ['Schema', '$schema', 'text'],
  ['Ref', '$ref', 'pointer'],
  ['Description', 'description', 'text'],
  ['Type', 'type', 'text'],
  ['Nullable', 'nullable', 'flag'],
  ['Format', 'format', 'text'],
  ['Title', 'title', 'text'],
  ['Default', 'default', 'json'],
  ['Maximum', 'maximum', 'pointer'],
  ['ExclusiveMaximum', 'exclusiveMaximum', 'flag'],
  ['Minimum', 'minimum', 'pointer'],
  ['ExclusiveMinimum', 'exclusiveMinimum', 'flag'],
  ['MaxLength', 'maxLength', 'pointer'],
  ['MinLength', 'minLength', 'pointer'],
  ['Pattern', 'pattern', 'text'],
  ['MaxItems', 'maxItems', 'pointer'],
  ['MinItems', 'minItems', 'pointer'],
  ['UniqueItems', 'uniqueItems', 'flag'],
  ['MultipleOf', 'multipleOf', 'pointer'],
  ['Enum', 'enum', 'list'],
  ['MaxProperties', 'maxProperties', 'pointer'],
  ['MinProperties', 'minProperties', 'pointer'],
  ['Required', 'required', 'list'],
  ['Items', 'items', 'items'],
  ['AllOf', 'allOf', 'schemas'],
  ['OneOf', 'oneOf', 'schemas'],
  ['AnyOf', 'anyOf', 'schemas'],
  ['Not', 'not', 'schema'],
  ['Properties', 'properties', 'map'],
  ['AdditionalProperties', 'additionalProperties', 'orFlag'],
  ['PatternProperties', 'patternProperties', 'map'],
  ['Dependencies', 'dependencies', 'json'],
  ['AdditionalItems', 'additionalItems', 'orFlag'],
  ['Definitions', 'definitions', 'map'],
  ['ExternalDocs', 'externalDocs', 'json'],
  ['Example', 'example', 'json'],
  ['XPreserveUnknownFields', 'x-kubernetes-preserve-unknown-fields', 'pointer'],
  ['XEmbeddedResource', 'x-kubernetes-embedded-resource', 'flag'],
  ['XIntOrString', 'x-kubernetes-int-or-string', 'flag'],
  ['XListMapKeys', 'x-kubernetes-list-map-keys', 'list'],
  ['XListType', 'x-kubernetes-list-type', 'pointer'],
  ['XMapType', 'x-kubernetes-map-type', 'pointer'],
  ['XValidations', 'x-kubernetes-validations', 'rules'],
];

/** Go names of the fields that are set, in Go's order. */
export const setFields = (schema: JsonSchema): string[] =>
  schemaFields
    .filter(([, name]) => {
      const value = schema[name];
      return (
        isSet(value) &&
        value !== '' &&
        (value !== false || name.startsWith('x-kubernetes-preserve') || name === 'additionalProperties')
      );
    })
    .map(([go]) => go);

export function goSchema(schema: JsonSchema): object {
  return Object.fromEntries(schemaFields.map(([go, name, form]) => [go, goValue(schema[name], form)]));
}

function goValue(value: unknown, form: Form): unknown {
  switch (form) {
    case 'text':
      return value ?? '';
    case 'flag':
      return value ?? false;
    case 'schema':
      return isSet(value) ? goSchema(value as JsonSchema) : null;
    case 'schemas':
      return isSet(value) ? (value as JsonSchema[]).map(goSchema) : null;
    case 'map':
      return isSet(value) ? goMap(value as Record<string, JsonSchema>) : null;
    case 'items':
      return isSet(value) ? goItems(value as JsonSchema | readonly JsonSchema[]) : null;
    case 'orFlag':
      if (!isSet(value)) return null;
      return typeof value === 'boolean'
        ? { Allows: value, Schema: null }
        : { Allows: true, Schema: goSchema(value as JsonSchema) };
    case 'rules':
      return isSet(value) ? (value as ValidationRule[]).map(goRule) : null;
    default:
      return sorted(value ?? null);
  }
}

const goMap = (map: Readonly<Record<string, JsonSchema>>): object =>
  Object.fromEntries(sortKeys(Object.keys(map)).map((name) => [name, goSchema(map[name]!)]));

export const goItems = (items: JsonSchema | readonly JsonSchema[]): object =>
  Array.isArray(items)
    ? { Schema: null, JSONSchemas: (items as readonly JsonSchema[]).map(goSchema) }
    : { Schema: goSchema(items as JsonSchema), JSONSchemas: null };

export const goRule = (rule: ValidationRule): object => ({
  Rule: rule.rule ?? '',
  Message: rule.message ?? '',
  MessageExpression: rule.messageExpression ?? '',
  Reason: rule.reason ?? null,
  FieldPath: rule.fieldPath ?? '',
  OptionalOldSelf: rule.optionalOldSelf ?? null,
});

export function goVersion(version: InternalVersion): object {
  const { validation, subresources, columns, selectableFields } = version;
  const schema = validation?.openAPIV3Schema;
  const scale = subresources?.scale;
  return {
    Name: version.name,
    Served: version.served,
    Storage: version.storage,
    Deprecated: version.deprecated,
    DeprecationWarning: version.deprecationWarning ?? null,
    Schema: validation ? { OpenAPIV3Schema: schema ? goSchema(schema) : null } : null,
    Subresources: subresources
      ? {
          Status: subresources.status ? {} : null,
          Scale: scale
            ? {
                SpecReplicasPath: scale.specReplicasPath ?? '',
                StatusReplicasPath: scale.statusReplicasPath ?? '',
                LabelSelectorPath: scale.labelSelectorPath ?? null,
              }
            : null,
        }
      : null,
    AdditionalPrinterColumns:
      columns?.map((column) => ({
        Name: column.name ?? '',
        Type: column.type ?? '',
        Format: column.format ?? '',
        Description: column.description ?? '',
        Priority: column.priority ?? 0,
        JSONPath: column.jsonPath ?? '',
      })) ?? null,
    SelectableFields: selectableFields?.map(({ jsonPath }) => ({ JSONPath: jsonPath ?? '' })) ?? null,
  };
}
