/**
 * The public API of the package.
 *
 *   builtin/   the generated table of Kubernetes' own kinds, and the view on it: resources, structs, fields
 *   protobuf/  application/vnd.kubernetes.protobuf, byte for byte as kube-apiserver writes it
 *   json/      parsing that can name errors and repeated keys; the fast path is JSON.parse
 *   yaml/      YAML as kube-apiserver understands it
 *   fields/    checks an object against its schema; normalises it as the server would
 *   values/    quantities, times, durations
 *   quota/     usage of objects, and how it counts against quotas: a separate entry point
 */

export { builtinGroups, builtinKinds, builtinResource, release } from './builtin/schemas.ts';
export { applyDefaults } from './defaults/index.ts';
export { apiVersionOf, parseApiVersion, schemaOf, schemaOfKind } from './builtin/schemas.ts';
export type {
  BuiltinGroup,
  BuiltinResource,
  Column,
  GroupVersion,
  GroupVersionKind,
  Subresource,
} from './builtin/schemas.ts';
export { StructType, ValueType } from './builtin/types.ts';
export type { Field, ValueKind } from './builtin/types.ts';
export type { Shape, Union } from './builtin/notation.ts';
export { ApiError } from './errors.ts';
export type { ApiErrorCode } from './errors.ts';
export { checkFields } from './fields/check.ts';
export type { CheckOptions, FieldReport } from './fields/check.ts';
export { normalise, normaliseExact, normaliseSharing } from './fields/normalise.ts';
export { restoreProblem } from './fields/restore.ts';
export { parseJson } from './json/parse.ts';
export type { ParsedJson, ParseOptions } from './json/parse.ts';
export type { RepeatedKeys } from './json/slow-parser.ts';
export {
  decodeMessage,
  decodeProtobuf,
  decodeWatchEvent,
  encodeMessage,
  encodeProtobuf,
  encodeWatchFrame,
  isProtobuf,
  openEnvelope,
  protobufListPieces,
  protobufMediaType,
} from './protobuf/envelope.ts';
export type { Envelope, ExpectedKind } from './protobuf/envelope.ts';
export { parseJsonAsYaml, parseYaml } from './yaml/parse.ts';
export { YamlThread } from './yaml/thread.ts';
export type { ParsedYaml, ParseYamlOptions } from './yaml/parse.ts';
export { formatDuration, parseDuration } from './values/duration.ts';
export { canonicalQuantity, formatQuantity, parseQuantity } from './values/quantity.ts';
export type { Quantity } from './values/quantity.ts';
export { formatTime, parseTime } from './values/time.ts';
export type { Instant } from './values/time.ts';
export type { JsonObject, KubeObject, ManagedFieldsEntry, ObjectMeta, OwnerReference } from './object.ts';
export { isObject } from './object.ts';
export * from './status/field-error.ts';
export * from './status/status.ts';
export type { ResetFields, Strategy, SubresourceName } from './strategy/contract.ts';
export * from './validation/formats.ts';
export {
  applyScale,
  builtinStrategy,
  convert,
  dependentsPolicy,
  podGracePeriodSeconds,
  recordRequester,
  scaleOf,
} from './strategy/index.ts';
export type { DependentsPolicy } from './strategy/index.ts';
export * from './apply/index.ts';
export * from './selectors/index.ts';
export * from './metadata/index.ts';
export * from './patch/index.ts';
export type * from './tables/index.ts';
export * from './discovery/index.ts';
export { dumpYaml, dumpYamlInPieces } from './yaml/dump.ts';
export { jsonPieces } from './json/pieces.ts';
export { tooHeavy } from './json/parse.ts';
export { countText, weightOf } from './json/scan.ts';
export { bodyWeightMax } from './limits.ts';
export { LazyList } from './lazy-list.ts';
export { clusterIpErrors } from './validation/others/service-cluster-ips.ts';
export { formatIp, isIpv4, parseIp } from './validation/shared/ip.ts';
export type { Address as IpAddress } from './validation/shared/ip.ts';
export { certificateRequestSubject } from './validation/others/certificate-subject.ts';
export type { CertificateSubject } from './validation/others/certificate-subject.ts';
