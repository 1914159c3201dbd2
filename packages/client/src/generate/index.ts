/** Types from CustomResourceDefinitions: for `hangar-types`, and for programs that generate. */

export { definitionTypes } from './definition-types.ts';
export type { DefinitionTypesOptions } from './definition-types.ts';
export { generate } from './main.ts';
export type { GenerateWorld } from './main.ts';
export { definitionsIn, definitionsOfCluster } from './sources.ts';
