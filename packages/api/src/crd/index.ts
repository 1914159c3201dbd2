/**
 * CustomResourceDefinitions, all pure code: the definitions themselves, and the processing of their custom resources.
 *
 *   structural/  walks guided by a schema: pruning, defaulting, nulls, embedded resources, list types, correlation
 *   values/      checks a value against a schema, with kube-apiserver's messages
 *   rules/       x-kubernetes-validations
 *   resource/    custom resources: strategy, scale, one version ready to serve
 *   definition/  the CustomResourceDefinition object: defaults, validation, conditions, strategy
 */

export { CompiledVersion, compileVersion } from './resource/compiled-version.ts';
export type { Decoding } from './resource/compiled-version.ts';
export { ScaleMapping, unsetReplicas } from './resource/scale.ts';
export type { Scale } from './resource/scale.ts';
export { compareVersions } from './resource/version-order.ts';
export { asDefinition, isTrue } from './custom-resource-definition.ts';
export type * from './custom-resource-definition.ts';
export type { JsonSchema, ValidationRule } from './json-schema.ts';
export { defaultDefinition } from './definition/defaults.ts';
export { validateDefinition, validateDefinitionStatus, validateDefinitionUpdate } from './definition/validate.ts';
export { definitionConditions, noNamesTaken, setCondition, takenNames } from './definition/conditions.ts';
export type { TakenNames } from './definition/conditions.ts';
export { beginTermination, cleanupFinalizer, definitionStrategy } from './definition/strategy.ts';
