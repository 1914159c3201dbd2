/** Conditions of the objects that represent clusters: see `condition-writer.ts`. */

export { conditionTypes, fieldManagers } from './condition-of.ts';
export { ConditionWriter } from './condition-writer.ts';
export type { ConditionWriterOptions } from './condition-writer.ts';
