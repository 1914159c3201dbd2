/**
 * Converts types to the schema of a CustomResourceDefinition. Names are expanded: such schemas have no references. Every field must have a
 * description, and every list its list type: otherwise it fails.
 */

import type { Declaration, Member, Place, TypeNode } from './read.ts';
import { applyTags } from './tags.ts';
import type { Schema } from './tags.ts';
import { SourceError } from './tokens.ts';

/** All that are known, by name. */
export type Types = ReadonlyMap<string, Declaration>;

/** Throws `SourceError`. */
export function schemaOfMembers(types: Types, members: readonly Member[], within: readonly string[]): Schema {
  const properties: Record<string, Schema> = {};
  const required: string[] = [];
  for (const member of members) {
    const schema = schemaOfMember(types, member, within);
    properties[member.name] = schema;
    if (!member.isOptional && schema.default === undefined) required.push(member.name);
  }
  return { type: 'object', ...(required.length > 0 ? { required } : {}), properties };
}

function schemaOfMember(types: Types, member: Member, within: readonly string[]): Schema {
  const { type, doc } = member;
  const integer = doc.tags.some(({ name, text }) => name === 'format' && text.startsWith('int'));
  if (type.is === 'number' && !integer) throw failure(member, `${member.name} is a number: say @format int32 or int64`);
  const schema = schemaOf(types, type, member, within);
  const { description: own, ...rest } = schema;
  const description = doc.description || own;
  if (!description) throw failure(member, `${member.name} is not described`);
  const described: Schema = { description, ...rest };
  applyTags(described, doc.tags, member);
  if (described.type === 'array' && !described['x-kubernetes-list-type']) {
    throw failure(member, `${member.name} is a list: say @listType`);
  }
  return described;
}

function schemaOf(types: Types, type: TypeNode, place: Place, within: readonly string[]): Schema {
  switch (type.is) {
    case 'string':
    case 'boolean':
      return { type: type.is };
    case 'number':
      return { type: 'integer' };
    case 'literal':
      return { type: 'string', enum: [type.value] };
    case 'union':
      return isIntOrString(type.of)
        ? { anyOf: [{ type: 'integer' }, { type: 'string' }], 'x-kubernetes-int-or-string': true }
        : { type: 'string', enum: type.of.map((one) => literalOf(one, place)) };
    case 'list': {
      const { description: _, ...items } = schemaOf(types, type.of, place, within);
      return { type: 'array', items };
    }
    case 'record':
      return { type: 'object', additionalProperties: schemaOf(types, type.of, place, within) };
    case 'name':
      return schemaOfName(types, type.name, place, within);
  }
}

function schemaOfName(types: Types, name: string, place: Place, within: readonly string[]): Schema {
  const declaration = types.get(name);
  if (!declaration) throw failure(place, `there is no type ${name}`);
  if (within.includes(name)) throw failure(place, `${name} is part of itself: ${[...within, name].join(' > ')}`);
  const { type, doc } = declaration;
  const inner = [...within, name];
  const members = membersOf(types, declaration);
  const schema = members ? schemaOfMembers(types, members, inner) : schemaOf(types, type!, declaration, inner);
  const described: Schema = doc.description ? { description: doc.description, ...schema } : { ...schema };
  applyTags(described, doc.tags, declaration);
  return described;
}

/** Returns the members of an interface after those of its base. Undefined: an alias. */
function membersOf(types: Types, declaration: Declaration): readonly Member[] | undefined {
  const { name, members, extends: base } = declaration;
  if (!members || base === undefined) return members;
  const inherited = types.get(base);
  if (!inherited?.members)
    throw failure(declaration, `${name} extends ${base}, which is not an interface of these files`);
  return [...membersOf(types, inherited)!, ...members];
}

/** `string | number` is an int-or-string of Kubernetes, such as a quantity. */
const isIntOrString = (types: readonly TypeNode[]): boolean =>
  types.length === 2 && types.some(({ is }) => is === 'string') && types.some(({ is }) => is === 'number');

function literalOf(type: TypeNode, place: Place): string {
  if (type.is !== 'literal') throw failure(place, 'a union may have only words in it');
  return type.value;
}

const failure = ({ file, line }: Place, message: string): SourceError => new SourceError(file, line, message);
