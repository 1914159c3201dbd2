/** Checks the parts of a version besides its schema: deprecation, subresources, printer columns, selectable fields. */

import { child, duplicate, index, invalid, required, tooMany, Verbatim } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import { byteLength } from '../../validation/formats.ts';
import type { PrinterColumn, SelectableField, Subresources } from '../custom-resource-definition.ts';
import { isSet } from '../json-schema.ts';
import type { JsonSchema } from '../json-schema.ts';
import { resolveFieldPath } from '../rules/field-path.ts';
import type { InternalVersion } from './internal-spec.ts';

export function deprecationErrors(
  { deprecated, deprecationWarning: text }: InternalVersion,
  path: string,
): FieldError[] {
  if (text === undefined) return [];
  const reasons: string[] = [];
  if (!deprecated) {
    reasons.push('can only be set for deprecated versions');
  } else {
    if (byteLength(text) > 256) reasons.push('must be <= 256 characters long');
    if (text === '') reasons.push('must not be an empty string');
    const at = text.search(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u);
    if (at !== -1) {
      const found = byteLength(text.slice(0, at));
      reasons.push(`must only contain printable UTF-8 characters; non-printable character found at index ${found}`);
    }
  }
  return reasons.map((reason) => invalid(path, new Verbatim(JSON.stringify(text)), reason));
}

export function subresourceErrors(subresources: Subresources | undefined, path: string): FieldError[] {
  const scale = subresources?.scale;
  if (!isSet(scale)) return [];
  const errors: FieldError[] = [];
  const check = (field: keyof typeof scale, parents: readonly string[], detail: string): void => {
    const at = child(path, `scale.${field}`);
    const value = scale[field] ?? '';
    const found = simplePathErrors(value, at);
    if (found.length > 0) errors.push(...found);
    else if (!parents.some((parent) => value.startsWith(parent))) errors.push(invalid(at, value, detail));
  };
  if (!scale.specReplicasPath) errors.push(required(child(path, 'scale.specReplicasPath'), ''));
  else check('specReplicasPath', ['.spec.'], 'should be a json path under .spec');
  if (!scale.statusReplicasPath) errors.push(required(child(path, 'scale.statusReplicasPath'), ''));
  else check('statusReplicasPath', ['.status.'], 'should be a json path under .status');
  if (scale.labelSelectorPath) {
    check('labelSelectorPath', ['.spec.', '.status.'], 'should be a json path under either .spec or .status');
  }
  return errors;
}

function simplePathErrors(path: string, at: string): FieldError[] {
  if (path === '') return [invalid(at, path, 'must not be empty')];
  return path.startsWith('.') ? [] : [invalid(at, path, 'must be a simple json path starting with .')];
}

const columnTypes = ['boolean', 'date', 'integer', 'number', 'string'];
const columnFormats = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];

export function columnErrors(columns: readonly PrinterColumn[], path: string): FieldError[] {
  return columns.flatMap(({ name, type, format, jsonPath }, i) => {
    const at = (field: string): string => child(index(path, i), field);
    const errors: FieldError[] = [];
    const oneOfTypes = `must be one of ${columnTypes.join(',')}`;
    if (!name) errors.push(required(at('name'), ''));
    if (!type) errors.push(required(at('type'), oneOfTypes));
    else if (!columnTypes.includes(type)) errors.push(invalid(at('type'), type, oneOfTypes));
    if (format && !columnFormats.includes(format)) {
      errors.push(invalid(at('format'), format, `must be one of ${columnFormats.join(',')}`));
    }
    if (!jsonPath) errors.push(required(at('JSONPath'), ''));
    else errors.push(...simplePathErrors(jsonPath, at('JSONPath')));
    return errors;
  });
}

const selectableFieldsMax = 8;
const selectableTypes = new Set(['string', 'boolean', 'integer']);

export function selectableErrors(
  fields: readonly SelectableField[],
  schema: JsonSchema,
  path: string,
  allowsTooMany: boolean,
): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [i, { jsonPath }] of fields.entries()) {
    const at = child(index(path, i), 'jsonPath');
    if (!jsonPath) {
      errors.push(required(at, ''));
      continue;
    }
    const found = resolveFieldPath(jsonPath, schema, false);
    if (typeof found === 'string') {
      errors.push(invalid(at, jsonPath, `is an invalid path: ${found}`));
      continue;
    }
    if (found.root === 'metadata') errors.push(invalid(at, jsonPath, 'must not point to fields in metadata'));
    if (!selectableTypes.has(found.schema?.type ?? '')) {
      const detail =
        'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.';
      errors.push(invalid(at, jsonPath, detail));
    }
    if (seen.has(found.text)) errors.push(duplicate(at, jsonPath));
    seen.add(found.text);
  }
  if (seen.size > selectableFieldsMax && !allowsTooMany) errors.push(tooMany(path, seen.size, selectableFieldsMax));
  return errors;
}
