/** Checks the spec of a definition: group, scope, names, versions and their parts. */

import { once } from '@hangar/cel';
import { child, forbidden, index, invalid, required } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import { dns1035LabelReasons, dnsSubdomainReasons } from '../../validation/formats.ts';
import type { ResourceNames, Subresources } from '../custom-resource-definition.ts';
import { isSet } from '../json-schema.ts';
import type { JsonSchema } from '../json-schema.ts';
import { choiceErrors } from './choice.ts';
import { conversionErrors } from './conversion-rules.ts';
import { defaultErrors } from './default-values.ts';
import { goSchema, goVersion, setFields } from './go-form.ts';
import type { InternalSpec, InternalVersion } from './internal-spec.ts';
import { ExpressionScope } from './rule-rules.ts';
import { schemaErrors } from './schema-rules.ts';
import { structuralErrors } from './structural-rules.ts';
import { columnErrors, deprecationErrors, selectableErrors, subresourceErrors } from './version-rules.ts';
import { someSchema, unsupportedPart } from './unsupported.ts';

/** Problems that an update may keep because they existed before. */
export interface SpecOptions {
  readonly requiresKnownReviewVersion: boolean;
  readonly allowsInvalidCaBundle: boolean;
  /** Versions whose expressions may exceed the current cost limit. */
  readonly unchangedSchemas: ReadonlySet<string>;
  /** Versions, or '' for the top, that may keep too many selectable fields. */
  readonly unchangedSelectable: ReadonlySet<string>;
}

export function specErrors(spec: InternalSpec, path: string, options: SpecOptions): FieldError[] {
  const errors: FieldError[] = [];
  const { versions } = spec;
  errors.push(...groupErrors(spec.group, child(path, 'group')));
  errors.push(...choiceErrors(child(path, 'scope'), spec.scope, ['Cluster', 'Namespaced']));
  const versionsPath = child(path, 'versions');
  if (!isSet(spec.validation?.openAPIV3Schema)) {
    for (const [i, version] of versions.entries()) {
      if (isSet(version.validation?.openAPIV3Schema)) continue;
      errors.push(required(child(index(versionsPath, i), 'schema.openAPIV3Schema'), ''));
    }
  }
  if (
    spec.preservesUnknownFields &&
    schemasOf(spec).some((schema) => someSchema(schema, (one) => isSet(one.default)))
  ) {
    const detail = 'must be false in order to use defaults in the schema';
    errors.push(invalid(child(path, 'preserveUnknownFields'), true, detail));
  }
  for (const [i, version] of versions.entries()) {
    const at = index(versionsPath, i);
    const reasons = dns1035LabelReasons(version.name);
    if (reasons.length > 0) errors.push(invalid(child(at, 'name'), version.name, reasons.join(',')));
    const subresources = versions.some((one) => isSet(one.subresources)) ? version.subresources : spec.subresources;
    errors.push(...versionErrors(version, hasStatus(subresources), at, options));
  }
  errors.push(...versionListErrors(spec, versionsPath));
  if (spec.version !== '') {
    const reasons = dns1035LabelReasons(spec.version);
    if (reasons.length > 0) errors.push(invalid(child(path, 'version'), spec.version, reasons.join(',')));
  }
  const namesPath = child(path, 'names');
  for (const name of ['plural', 'singular', 'kind', 'listKind'] as const) {
    if (!spec.names[name]) errors.push(required(child(namesPath, name), ''));
  }
  errors.push(...namesErrors(spec.names, namesPath));
  const hasAnyStatus = [spec, ...versions].some(({ subresources }) => hasStatus(subresources));
  const isUnchanged = options.unchangedSchemas.has(spec.version);
  errors.push(
    ...validationErrors(spec.validation?.openAPIV3Schema, hasAnyStatus, isUnchanged, child(path, 'validation')),
  );
  errors.push(...subresourceErrors(spec.subresources, child(path, 'subresources')));
  errors.push(...columnErrors(spec.columns ?? [], child(path, 'additionalPrinterColumns')));
  if (spec.selectableFields !== undefined) {
    const at = child(path, 'selectableFields');
    const schema = spec.validation?.openAPIV3Schema;
    if (!isSet(spec.validation)) errors.push(invalid(at, '', 'may only be set when validations.schema is included'));
    else if (isSet(schema)) {
      errors.push(...unsupportedErrors(schema, child(path, 'schema.openAPIV3Schema')));
      errors.push(...selectableErrors(spec.selectableFields, schema, at, options.unchangedSelectable.has('')));
    }
  }
  errors.push(...conversionErrors(spec, child(path, 'conversion'), options));
  return errors;
}

const hasStatus = (subresources: Subresources | undefined): boolean => isSet(subresources?.status);

const schemasOf = (spec: InternalSpec): JsonSchema[] =>
  [spec, ...spec.versions].map(({ validation }) => validation?.openAPIV3Schema).filter(isSet);

function groupErrors(group: string, path: string): FieldError[] {
  if (group === '') return [required(path, '')];
  const reasons = dnsSubdomainReasons(group);
  if (reasons.length > 0) return [invalid(path, group, reasons.join(','))];
  return group.includes('.') ? [] : [invalid(path, group, 'should be a domain with at least one dot')];
}

function versionErrors(
  version: InternalVersion,
  isStatusEnabled: boolean,
  path: string,
  options: SpecOptions,
): FieldError[] {
  const schema = version.validation?.openAPIV3Schema;
  const isUnchanged = options.unchangedSchemas.has(version.name);
  const errors = [
    ...deprecationErrors(version, child(path, 'deprecationWarning')),
    ...validationErrors(schema, isStatusEnabled, isUnchanged, child(path, 'schema')),
    ...subresourceErrors(version.subresources, child(path, 'subresources')),
    ...columnErrors(version.columns ?? [], child(path, 'additionalPrinterColumns')),
  ];
  if (version.selectableFields === undefined) return errors;
  const at = child(path, 'selectableFields');
  if (!isSet(schema)) {
    return [...errors, invalid(at, '', 'may only be set when `version.schema.openAPIV3Schema` is not included')];
  }
  return [
    ...errors,
    ...unsupportedErrors(schema, child(path, 'schema.openAPIV3Schema')),
    ...selectableErrors(version.selectableFields, schema, at, options.unchangedSelectable.has(version.name)),
  ];
}

function unsupportedErrors(schema: JsonSchema, path: string): FieldError[] {
  const problem = unsupportedPart(schema);
  return problem === undefined ? [] : [invalid(path, '', problem)];
}

function versionListErrors({ versions, hasVersionList }: InternalSpec, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const shown = (): unknown => (hasVersionList ? versions.map(goVersion) : null);
  if (new Set(versions.map(({ name }) => name)).size < versions.length) {
    errors.push(invalid(path, shown(), 'must contain unique version names'));
  }
  if (versions.filter(({ storage }) => storage).length !== 1) {
    const detail = 'must have exactly one version marked as storage version';
    errors.push(invalid(path, shown(), detail));
  }
  return errors;
}

export function namesErrors(names: ResourceNames, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const check = (at: string, value: string | undefined, isCased = false): void => {
    if (!value) return;
    const reasons = dns1035LabelReasons(isCased ? value.toLowerCase() : value).join(',');
    if (reasons === '') return;
    const detail = isCased ? `may have mixed case, but should otherwise match: ${reasons}` : reasons;
    errors.push(invalid(at, value, detail));
  };
  const { shortNames, categories } = names;
  const checkAll = (values: readonly string[] | null | undefined, at: string): void => {
    for (const [i, value] of (values ?? []).entries()) {
      const reasons = dns1035LabelReasons(value);
      if (reasons.length > 0) errors.push(invalid(index(at, i), value, reasons.join(',')));
    }
  };
  check(child(path, 'plural'), names.plural);
  check(child(path, 'singular'), names.singular);
  check(child(path, 'kind'), names.kind, true);
  check(child(path, 'listKind'), names.listKind, true);
  checkAll(shortNames, child(path, 'shortNames'));
  if (names.kind && names.kind === names.listKind) {
    errors.push(invalid(child(path, 'listKind'), names.listKind, 'kind and listKind may not be the same'));
  }
  checkAll(categories, child(path, 'categories'));
  return errors;
}

/** Fields allowed at the root beside a status that is validated separately. */
const allowedAtRoot =
  'Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations'.split(
    ' ',
  );

function validationErrors(
  schema: JsonSchema | undefined,
  isStatusEnabled: boolean,
  isUnchanged: boolean,
  parent: string,
): FieldError[] {
  if (!isSet(schema)) return [];
  const path = child(parent, 'openAPIV3Schema');
  const errors: FieldError[] = isStatusEnabled ? rootErrors(schema, path) : [];
  if (schema.nullable) errors.push(forbidden(child(path, 'nullable'), 'nullable cannot be true at the root'));
  const unsupported = once(() => unsupportedPart(schema));
  let scope: ExpressionScope | undefined;
  if (unsupported === undefined) {
    const structural = once(() => structuralErrors(schema, path));
    const hasDefaults = once(() => someSchema(schema, (one) => isSet(one.default)));
    const defaults =
      structural.length > 0 || !hasDefaults ? [] : defaultErrors(schema, path, { mayMultiply: isUnchanged });
    errors.push(...structural, ...defaults);
    // Expressions are checked only if the types of their values are known.
    if (structural.length + defaults.length === 0) scope = ExpressionScope.root(schema, !isUnchanged);
  }
  errors.push(...schemaErrors(schema, path, scope));
  // Usually the errors above are more specific.
  if (errors.length === 0 && unsupported !== undefined) errors.push(invalid(path, '', unsupported));
  return [...errors, ...(scope?.total.errors(path) ?? [])];
}

function rootErrors(schema: JsonSchema, path: string): FieldError[] {
  for (const field of setFields(schema)) {
    if (field === 'Type' && schema.type !== 'object') {
      const detail =
        'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
      return [invalid(child(path, 'type'), schema.type, detail)];
    }
    if (!allowedAtRoot.includes(field)) {
      const detail = `only [${allowedAtRoot.join(' ')}] fields are allowed at the root of the schema if the status subresource is enabled`;
      return [invalid(path, goSchema(schema), detail)];
    }
  }
  return [];
}
