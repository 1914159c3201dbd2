/**
 * Every error that this package throws on bad input. Test the `code`.
 *
 * | code              | meaning                                                                              |
 * |-------------------|--------------------------------------------------------------------------------------|
 * | MalformedProtobuf | truncated, a wrong wire type, a bad length, text that is not UTF-8, too many objects  |
 * | MalformedJson     | not JSON, or text that is not UTF-8                                                  |
 * | MalformedYaml     | not YAML, more than one document, or aliases that multiply                           |
 * | TooDeep           | more nesting than `limits.ts` allows                                                 |
 * | TooLarge          | more values than `limits.ts` allows                                                  |
 * | Busy              | too many large documents are being parsed                                            |
 * | TooManyDefaults   | the defaults of a custom resource's schema add more than it allows                   |
 * | InvalidValue      | well-formed, but not a value of the field's type                                     |
 * | UnknownKind       | a kind that is not built in, or that protobuf does not carry                         |
 */

import { CodedError } from '@hangar/core';

export type ApiErrorCode =
  | 'MalformedProtobuf'
  | 'MalformedJson'
  | 'MalformedYaml'
  | 'TooDeep'
  | 'TooLarge'
  | 'Busy'
  | 'TooManyDefaults'
  | 'InvalidValue'
  | 'UnknownKind';

export class ApiError extends CodedError<ApiErrorCode> {}

export const invalidValue = (message: string): ApiError => new ApiError('InvalidValue', message);
