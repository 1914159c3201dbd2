/** Processing of objects of built-in kinds between decoding and storing. */

export { builtinStrategy } from './builtin.ts';
export { convert } from './conversion/index.ts';
export { dependentsPolicy, podGracePeriodSeconds } from './deletion.ts';
export type { DependentsPolicy } from './deletion.ts';
export { recordRequester } from './kinds/certificates.ts';
export type { Requester } from './kinds/certificates.ts';
export type { ResetFields, Strategy, SubresourceName } from './contract.ts';
export type { Now } from './rules.ts';
export { applyScale, scaleOf } from './scale.ts';
