/**
 * cel: the Common Expression Language as used by Kubernetes. Read `program` for the use of an expression, `types` and `environment` for its
 * declarations, `kubernetes/` for Kubernetes' extensions.
 */

export { CelError } from './errors.ts';
export type { CelErrorCode, Issue } from './errors.ts';
export { environment, method, overload, withVariables } from './environment.ts';
export type { Environment, EnvironmentOptions, Library, Overload } from './environment.ts';
export * from './limits.ts';
export { inSlices, nextInSlice, once, retryInSlice } from './slices.ts';
export { WorkBudget } from './work.ts';
export type { WorkLimits } from './work.ts';
export { compile, Program } from './program.ts';
export type { CelBindings, CompileOptions, EvaluateOptions, Evaluation } from './program.ts';
export type { Expr } from './syntax/ast.ts';
export * from './types.ts';
export { celLibraries } from './library/full.ts';
export { Boxed, Double, Duration, Opaque, Optional, Timestamp, TypeValue, Uint, typeNameOf } from './values/values.ts';
export type { CelInt, CelValue } from './values/values.ts';
export { CelList, ValueList } from './values/list.ts';
export { CelMap, ValueMap } from './values/map.ts';
export { LazyMap } from './values/lazy-map.ts';
export { StructValue } from './values/struct.ts';
export { toJson } from './values/to-json.ts';
export type { Interval } from './cost/interval.ts';
export { Regex } from './regex/cache.ts';
export { RegexError } from './regex/syntax.ts';
export { adapter } from './values/json.ts';
export { parseUrl } from './kubernetes/url-value.ts';
export * from './kubernetes/index.ts';
