/** Errors of the search service. */

import { CodedError } from '@hangar/core';

export type SearchErrorCode =
  /** The database of the index failed: the generation must be built again. */
  | 'IndexFailed'
  /** The index is closed. */
  | 'IndexClosed';

export class SearchError extends CodedError<SearchErrorCode> {}
