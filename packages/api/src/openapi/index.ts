/**
 * OpenAPI documents of the served resources. Everything is built on demand from the served groups; the caller caches the bytes, and drops
 * those of a group-version when that changes.
 */

export { openApiV2 } from './v2.ts';
export { openApiV2Protobuf, openApiV2ProtobufMediaType } from './protobuf-v2.ts';
export { builtinPartOfV2, customPartOfV2, joinedV2 } from './v2-parts.ts';
export type { V2Format, V2Part } from './v2-parts.ts';
export { openApiV3, openApiV3Root, openApiV3Sources } from './v3.ts';
export type { OpenApiV3Source } from './v3.ts';
