/**
 * The operator of hosted control planes: a control-plane provider of Cluster API, which also works without Cluster API.
 *
 *   api/      types, kinds and names; the definitions are generated from them
 *   render/   from a control plane to the objects of its components
 */

export * from './api/index.ts';
export { HostedError } from './errors.ts';
export type { HostedErrorCode } from './errors.ts';
export { definitions } from './api/generated/index.ts';
export * from './render/index.ts';
