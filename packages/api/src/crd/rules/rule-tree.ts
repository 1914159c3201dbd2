/**
 * The rules of a whole schema: a tree with only those nodes that have rules or lead to some. Programs are compiled when a
 * value first meets them.
 */

import { escapeName, schemaType } from '@hangar/cel';
import type { StructuralSchema, Type } from '@hangar/cel';
import type { SchemaNode } from '../structural/node.ts';
import { elementType, fieldType } from './child-type.ts';
import { compileRules } from './rule.ts';
import type { CompiledRule } from './rule.ts';

export class RuleNode {
  readonly schema: SchemaNode;
  readonly hasOwnRules: boolean;
  /** Nodes below may have rules. */
  readonly leadsToFields: boolean;
  readonly #isRoot: boolean;
  /** The type of this part of the whole above; only when that is needed anyway. */
  readonly #inherited: (() => Type | undefined) | undefined;
  readonly #properties = new Map<string, RuleNode>();
  #element: RuleNode | undefined;
  #rules: readonly CompiledRule[] | undefined;
  #type: Type | undefined;

  constructor(schema: SchemaNode, isRoot: boolean, inherited?: () => Type | undefined) {
    this.schema = schema;
    this.hasOwnRules = (schema.schema['x-kubernetes-validations']?.length ?? 0) > 0;
    this.leadsToFields = schema.others?.hasRules || [...schema.properties.values()].some((part) => part.hasRules);
    this.#isRoot = isRoot;
    this.#inherited = inherited;
  }

  property(name: string): RuleNode | undefined {
    const known = this.#properties.get(name);
    if (known !== undefined) return known;
    const part = this.schema.properties.get(name);
    if (part === undefined || !part.hasRules || !isVisible(name, part)) return undefined;
    const made = this.#below(part, () => fieldType(this.type, name));
    this.#properties.set(name, made);
    return made;
  }

  get others(): RuleNode | undefined {
    return this.#elementOf(this.schema.others);
  }

  get items(): RuleNode | undefined {
    return this.#elementOf(this.schema.items);
  }

  /** A schema is that of a list or of a map: there is one kind of element. */
  #elementOf(part: SchemaNode | undefined): RuleNode | undefined {
    if (!part?.hasRules) return undefined;
    if (this.#element?.schema === part) return this.#element;
    return (this.#element = this.#below(part, () => elementType(this.type)));
  }

  #below(part: SchemaNode, typeOfPart: () => Type | undefined): RuleNode {
    return new RuleNode(part, part.isEmbedded, this.hasOwnRules || this.#inherited ? typeOfPart : undefined);
  }

  /** The type of `self`; undefined when expressions cannot see such values. */
  get type(): Type | undefined {
    this.#type ??= this.#inherited?.() ?? schemaType(this.schema.schema as StructuralSchema, { root: this.#isRoot });
    return this.#type;
  }

  get rules(): readonly CompiledRule[] {
    if (this.#rules === undefined) {
      const { type } = this;
      this.#rules = type === undefined || !this.hasOwnRules ? [] : compileRules(this.schema.schema, type);
    }
    return this.#rules;
  }
}

/** A property whose values have no type in expressions is not looked into, unless its name cannot be written anyway. */
const isVisible = (name: string, node: SchemaNode): boolean => escapeName(name) === undefined || isTyped(node);

/** Whether `schemaType` would find a type, without building it. */
function isTyped(node: SchemaNode): boolean {
  if (node.schema['x-kubernetes-int-or-string']) return true;
  if (node.type === 'array') return node.items !== undefined && isTyped(node.items);
  if (node.type === 'object') return node.others === undefined || isTyped(node.others);
  return node.type !== '';
}
