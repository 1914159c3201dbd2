/**
 * Generates TypeScript types from CustomResourceDefinitions, for `hangar-types` and for programs.
 *
 *     const source = definitionTypes(definitionsIn(await readFile('crds.yaml', 'utf8'), 'crds.yaml'));
 */

export { definitionTypes } from './definition-types.ts';
export type { DefinitionTypesOptions } from './definition-types.ts';
export { generate } from './main.ts';
export type { GenerateWorld } from './main.ts';
export { definitionsIn, definitionsOfCluster } from './sources.ts';
