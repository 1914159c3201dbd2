/** Served resources, and their discovery documents. Builders are pure; answers are plain JSON objects. */

export { aggregatedDiscovery, aggregatedMediaType } from './aggregated.ts';
export { etagOf, hashOf } from './etag.ts';
export { apiGroup, apiGroupList, apiResourceList, apiVersions } from './groups.ts';
export { builtinServedGroups, isCustomGroup, pathOfVersion } from './model.ts';
export type {
  BuiltinSchema,
  CustomSchema,
  ServedGroup,
  ServedResource,
  ServedSubresource,
  ServedVersion,
} from './model.ts';
export { storageVersionHash } from './storage-version-hash.ts';
