/** The metadata of every object: its validation, immutable fields, and generated names. */

export { generateName } from './generate-name.ts';
export { fieldManagerErrors, managedFieldsErrors } from './managed-fields.ts';
export {
  annotationErrors,
  carryOverMetadata,
  labelErrors,
  validateMetadata,
  validateMetadataUpdate,
} from './validate.ts';
export type { CreationRules, MetadataRules, UpdateRules } from './validate.ts';
