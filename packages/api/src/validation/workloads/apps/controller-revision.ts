/** ControllerRevisions: snapshots that never change. */

import { isObject } from '../../../object.ts';
import { invalid, required, Verbatim } from '../../../status/field-error.ts';
import type { FieldError } from '../../../status/field-error.ts';
import type { KindValidation } from '../../contract.ts';
import { checkNotNegative, immutableReason, isSet } from '../base/checks.ts';
import { goJson } from '../base/go-values.ts';

export const controllerRevision: KindValidation = {
  create({ revision, data }) {
    const errors: FieldError[] = [];
    checkNotNegative(errors, 'revision', revision as number | undefined);
    if (!isSet(data)) errors.push(required('data', 'data is mandatory'));
    else if (!isObject(data)) errors.push(required('data', 'data must be a valid JSON object'));
    return errors;
  },
  update({ revision, data }, old) {
    const errors: FieldError[] = [];
    checkNotNegative(errors, 'revision', revision as number | undefined);
    if (JSON.stringify(data) !== JSON.stringify(old['data'])) {
      errors.push(invalid('data', new Verbatim(goJson(data)), immutableReason));
    }
    return errors;
  },
};
