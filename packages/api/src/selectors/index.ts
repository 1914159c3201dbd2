/** Selectors: objects by labels and by fields. */

export { LabelRequirement } from './label-requirement.ts';
export type { LabelOperator, Labels } from './label-requirement.ts';
export { labelSelectorOf, LabelSelector, parseLabelSelector } from './label-selector.ts';
export type { LabelSelectorExpression, LabelSelectorObject } from './label-selector.ts';
export { builtinFieldSelectors } from './builtin-fields.ts';
export type { FieldReader, SelectableKind } from './builtin-fields.ts';
export { FieldSelector, fieldSelectorFor, parseFieldSelector } from './field-selector.ts';
export type { SelectedKind } from './field-selector.ts';
export type { FieldRequirement } from './field-terms.ts';
