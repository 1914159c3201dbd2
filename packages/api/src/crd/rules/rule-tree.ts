/**
 * The rules of a whole schema: a tree with only those nodes that have rules or lead to some. Programs are compiled when a
 * value first meets them.
 */

import { CelError, escapeName, interruptionsMax, nextInSlice, retryInSlice, schemaType } from '@hangar/cel';
import type { StructuralSchema, Type } from '@hangar/cel';
import { isObject } from '../../object.ts';
import type { SchemaNode } from '../structural/node.ts';
import { elementType, fieldType } from './child-type.ts';
import type { ValidationRule } from '../json-schema.ts';
import { interruptedRule, RuleCompiler } from './rule.ts';
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
  #compiler: RuleCompiler | undefined;
  #isCompiled = false;
  readonly #rules: CompiledRule[] = [];
  /** Number of interrupted compilations of the next rule. */
  #interruptions = 0;
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

  /** All rules of this node and of those below it are compiled. */
  get isCompiled(): boolean {
    return (this.#isCompiled ||= this.#areRulesCompiled && this.#areChildrenCompiled);
  }

  get #areRulesCompiled(): boolean {
    return this.#rules.length === this.#ruleCount || this.type === undefined;
  }

  get #areChildrenCompiled(): boolean {
    const { schema } = this;
    for (const element of [schema.others, schema.items]) {
      if (element?.hasRules && !this.#elementOf(element)!.isCompiled) return false;
    }
    for (const [name, part] of schema.properties) {
      if (part.hasRules && this.property(name)?.isCompiled === false) return false;
    }
    return true;
  }

  get #ruleCount(): number {
    return this.schema.schema['x-kubernetes-validations']?.length ?? 0;
  }

  /**
   * Compiled when they are first needed, in slices where there are any: see `inSlices`. Throws `CelError` with code
   * `Interrupted`; the next call continues with the interrupted rule.
   */
  get rules(): readonly CompiledRule[] {
    const rules = this.schema.schema['x-kubernetes-validations'] ?? [];
    if (this.#rules.length === rules.length) return this.#rules;
    const { type } = this;
    if (type === undefined) return [];
    this.#compiler ??= new RuleCompiler(this.schema.schema, type);
    while (this.#rules.length < rules.length) {
      this.#rules.push(this.#compile(this.#compiler, rules[this.#rules.length]!));
    }
    this.#compiler = undefined;
    return this.#rules;
  }

  /**
   * An interruption is not a property of the rule: a garbage collection or a slow processor causes it, too. The result is
   * shared by all tenants, so it is kept only after `interruptionsMax` interruptions. A budget that earlier rules exhausted
   * does not count.
   */
  #compile(compiler: RuleCompiler, rule: ValidationRule): CompiledRule {
    const budget = nextInSlice();
    let compiled: CompiledRule;
    try {
      compiled = compiler.compile(rule, budget);
    } catch (error) {
      if (!(error instanceof CelError) || budget?.isExhausted) throw error;
      if (++this.#interruptions < interruptionsMax) {
        retryInSlice();
        throw error;
      }
      compiled = interruptedRule(rule, error);
    }
    this.#interruptions = 0;
    return compiled;
  }
}

/**
 * Compiles the rules that a value meets: not while they run, since this may take several slices. Throws `CelError` with code
 * `Interrupted`.
 */
export function compileMetRules(node: RuleNode, value: unknown): void {
  if (value === null || value === undefined || node.isCompiled) return;
  if (node.hasOwnRules) void node.rules;
  if (Array.isArray(value)) {
    for (const item of value) {
      if (node.items === undefined || node.items.isCompiled) return;
      compileMetRules(node.items, item);
    }
  } else if (node.leadsToFields && isObject(value)) {
    for (const [name, part] of Object.entries(value)) {
      const property = node.property(name);
      if (property !== undefined) compileMetRules(property, part);
      if (node.others !== undefined) compileMetRules(node.others, part);
    }
  }
}

/** A property whose values have no type in expressions is skipped, unless its name cannot be written anyway. */
const isVisible = (name: string, node: SchemaNode): boolean => escapeName(name) === undefined || isTyped(node);

/** Reports whether `schemaType` would find a type, without building it. */
function isTyped(node: SchemaNode): boolean {
  if (node.schema['x-kubernetes-int-or-string']) return true;
  if (node.type === 'array') return node.items !== undefined && isTyped(node.items);
  if (node.type === 'object') return node.others === undefined || isTyped(node.others);
  return node.type !== '';
}
