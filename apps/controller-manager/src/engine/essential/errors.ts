/**
 * Why a cluster cannot be asked. The codes are also reasons of states.
 *
 * | code                 | meaning                                                              |
 * |----------------------|----------------------------------------------------------------------|
 * | KubeconfigPending    | there is no kubeconfig, or it is not known where it is               |
 * | KubeconfigUnreadable | its Secret cannot be read: a right is missing, nobody answers        |
 * | KubeconfigInvalid    | it says nothing useful, or names files or programs of this machine   |
 * | AddressInvalid       | it is not for the address that is named                              |
 * | NotServed            | the control plane is not served here, or not any more                |
 */

import { CodedError } from '@hangar/core';

export type EssentialErrorCode =
  | 'KubeconfigPending'
  | 'KubeconfigUnreadable'
  | 'KubeconfigInvalid'
  | 'AddressInvalid'
  | 'NotServed';

export class EssentialError extends CodedError<EssentialErrorCode> {}
