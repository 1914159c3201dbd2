/**
 * Errors of connecting to a cluster. The codes are also reasons of states.
 *
 * | code                 | meaning                                                              |
 * |----------------------|----------------------------------------------------------------------|
 * | KubeconfigPending    | there is no kubeconfig, or its Secret is not known                   |
 * | KubeconfigUnreadable | its Secret cannot be read: missing permission, no answer             |
 * | KubeconfigInvalid    | it is invalid, or names files or programs of this machine            |
 * | AddressInvalid       | it is not for the expected address                                   |
 * | NotServed            | the control plane is not, or no longer, served here                  |
 */

import { CodedError } from '@hangar/core';

export type EssentialErrorCode =
  | 'KubeconfigPending'
  | 'KubeconfigUnreadable'
  | 'KubeconfigInvalid'
  | 'AddressInvalid'
  | 'NotServed';

export class EssentialError extends CodedError<EssentialErrorCode> {}
