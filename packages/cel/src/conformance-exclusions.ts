/**
 * Conformance tests that do not apply, and the reasons. Kubernetes objects are JSON with a schema: expressions have no protobuf messages,
 * so tests of messages, wrappers, enums and `Any` are out of scope. All other tests must pass.
 */

const messages = 'constructs or selects protobuf messages';
const wrappers = 'protobuf wrapper types';

/** Whole files, or sections as `file/section`. */
export const excludedSections: Readonly<Record<string, string>> = {
  dynamic: 'conversions between protobuf well-known types and CEL values',
  enums: 'protobuf enums',
  proto2: messages,
  proto2_ext: 'protobuf extension fields',
  proto3: messages,
  wrappers,
  'comparisons/eq_wrapper': wrappers,
  'parse/struct_field_names': messages,
  'type_deductions/wrappers': wrappers,
};

/** Single tests in sections that otherwise apply: their expression, variables or result have a protobuf message type. */
export const messageExpression = /TestAllTypes|google\.protobuf\.(?!Timestamp\b|Duration\b)|conformance\.proto[23]/;

/** Their number, section by section. */
export const messageTests: Readonly<Record<string, number>> = {
  'block_ext/basic': 12,
  'comparisons/eq_literal': 3,
  'comparisons/ne_literal': 10,
  'optionals/optionals': 11,
  'parse/comments': 1,
  'parse/nest': 1,
  'parse/repeat': 2,
  'parse/whitespace': 5,
  'string_ext/format_errors': 3,
  'type_deductions/complex_initializers': 1,
  'type_deductions/field_access': 6,
  'type_deductions/flexible_type_parameter_assignment': 3,
  'type_deductions/legacy_nullable_types': 3,
};
