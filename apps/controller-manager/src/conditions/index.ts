/** Conditions on the objects that clusters are made of: see `condition-writer.ts`. */

export { conditionTypes, fieldManagers } from './condition-of.ts';
export { ConditionWriter } from './condition-writer.ts';
export type { ConditionWriterOptions } from './condition-writer.ts';
