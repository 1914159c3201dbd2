/** CEL extensions of Kubernetes. */

export { authorizerType, authorizerValue, requestResourceValue, resourceCheckType } from './authorizer.ts';
export type { AuthorizationAnswer, AuthorizationQuestion, Authorize } from './authorizer.ts';
export { applyConfigurations, applyConfigurationJson } from './apply-configuration.ts';
export { escapeName } from './escape.ts';
export { jsonPatches, jsonPatchType } from './json-patch.ts';
export { kubernetesEnvironment, kubernetesLibraries } from './libraries.ts';
export { maxCardinality, schemaType } from './schema-type.ts';
export type { StructuralSchema } from './schema-type.ts';
