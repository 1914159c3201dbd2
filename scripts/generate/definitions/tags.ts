/** Applies tags in doc comments to a schema. A tag that is unknown, or invalid for its type, fails. */

import type { JsonSchema } from '../../../packages/api/src/crd/json-schema.ts';
import type { Tag } from './doc.ts';
import { SourceError } from './tokens.ts';
import type { Place } from './read.ts';

export type Schema = { -readonly [Field in keyof JsonSchema]: JsonSchema[Field] };

/** Tag → the types that may have it, and its field of the schema. */
const numbers: Readonly<Record<string, readonly [field: keyof Schema, type: string]>> = {
  minLength: ['minLength', 'string'],
  maxLength: ['maxLength', 'string'],
  minItems: ['minItems', 'array'],
  maxItems: ['maxItems', 'array'],
  minProperties: ['minProperties', 'object'],
  maxProperties: ['maxProperties', 'object'],
  minimum: ['minimum', 'integer'],
  maximum: ['maximum', 'integer'],
};

/** Changes the schema. Throws `SourceError`. */
export function applyTags(schema: Schema, tags: readonly Tag[], place: Place): void {
  for (const tag of tags) {
    const [first, rest] = tag.name.split('.');
    if (first === 'items' && rest !== undefined) {
      if (!schema.items) throw failure(place, tag, 'is only for lists');
      applyTags(schema.items as Schema, [{ ...tag, name: rest }], place);
    } else applyTag(schema, tag, place);
  }
}

function applyTag(schema: Schema, tag: Tag, place: Place): void {
  const { name, text } = tag;
  const only = (type: string): void => {
    if (schema.type !== type) throw failure(place, tag, `is only for ${type}, this is ${schema.type}`);
  };
  const number = numbers[name];
  if (number) {
    only(number[1]);
    if (!/^-?\d+$/.test(text)) throw failure(place, tag, 'needs a whole number');
    Object.assign(schema, { [number[0]]: Number(text) });
    return;
  }
  switch (name) {
    case 'pattern':
      if (!schema['x-kubernetes-int-or-string']) only('string');
      void new RegExp(text, 'u');
      schema.pattern = text;
      return;
    case 'format':
      only(text.startsWith('int') ? 'integer' : 'string');
      schema.format = text;
      return;
    case 'default':
      schema.default = schema.type === 'string' ? text : JSON.parse(text);
      return;
    case 'listType':
      only('array');
      if (!['map', 'set', 'atomic'].includes(text)) throw failure(place, tag, 'is map, set or atomic');
      schema['x-kubernetes-list-type'] = text;
      return;
    case 'listMapKey':
      only('array');
      schema['x-kubernetes-list-map-keys'] = [...(schema['x-kubernetes-list-map-keys'] ?? []), text];
      return;
    case 'mapType':
      only('object');
      schema['x-kubernetes-map-type'] = text;
      return;
    case 'rule': {
      const [, rule, message] = /^"((?:[^"\\]|\\.)+)"\s+message\s+"([^"]+)"$/.exec(text) ?? [];
      if (!rule || !message) throw failure(place, tag, 'is written: "CEL" message "text"');
      schema['x-kubernetes-validations'] = [...(schema['x-kubernetes-validations'] ?? []), { rule, message }];
      return;
    }
    default:
      throw failure(place, tag, 'means nothing here');
  }
}

const failure = ({ file, line }: Place, { name, text }: Tag, why: string): SourceError =>
  new SourceError(file, line, `@${name} ${text} ${why}`);
