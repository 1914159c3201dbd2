/**
 * Everything derived from one schema, shared by all definitions with an equal schema: many tenants install the same ones. Parts are built
 * on first use; an unused schema is garbage collected.
 */

import { createHash } from 'node:crypto';
import type { JsonSchema } from '../json-schema.ts';
import { propertyOf } from '../json-schema.ts';
import { RuleNode } from '../rules/rule-tree.ts';
import { schemaNode } from '../structural/node.ts';
import type { SchemaNode } from '../structural/node.ts';
import { ValuePlan } from '../values/plan.ts';

export class CompiledSchema {
  readonly schema: JsonSchema;
  #node: SchemaNode | undefined;
  #plan: ValuePlan | undefined;
  #statusPlan: ValuePlan | undefined;
  #rules: RuleNode | undefined;

  constructor(schema: JsonSchema) {
    this.schema = schema;
  }

  get node(): SchemaNode {
    return (this.#node ??= schemaNode(this.schema));
  }

  get plan(): ValuePlan {
    return (this.#plan ??= new ValuePlan(this.schema));
  }

  /** Undefined if the schema does not describe the status. */
  get statusPlan(): ValuePlan | undefined {
    const status = propertyOf(this.schema, 'status');
    return (this.#statusPlan ??= status && new ValuePlan(status));
  }

  get rules(): RuleNode | undefined {
    return this.node.hasRules ? (this.#rules ??= new RuleNode(this.node, true)) : undefined;
  }
}

const shared = new Map<string, WeakRef<CompiledSchema>>();
const forgotten = new FinalizationRegistry<string>((id) => {
  if (shared.get(id)?.deref() === undefined) shared.delete(id);
});

export function compiledSchema(schema: JsonSchema): CompiledSchema {
  const id = createHash('sha256').update(JSON.stringify(schema)).digest('base64');
  const found = shared.get(id)?.deref();
  if (found !== undefined) return found;
  const made = new CompiledSchema(schema);
  shared.set(id, new WeakRef(made));
  forgotten.register(made, id);
  return made;
}
