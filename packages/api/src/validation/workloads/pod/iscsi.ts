/** iSCSI volumes and the forms of their names. */

import { child, invalid, required } from '../../../status/field-error.ts';
import type { FieldError } from '../../../status/field-error.ts';
import { checkRange, checkRequired, isSet } from '../base/checks.ts';
import type { IscsiVolume } from '../types/volume.ts';

const forms: Readonly<Record<string, RegExp>> = {
  iqn: /iqn\.\d{4}-\d{2}\.([a-zA-Z0-9\-.]+)(:[^,;*&$|\s]+)$/,
  eui: /^eui.[a-zA-Z0-9]{16}$/,
  naa: /^naa.[a-zA-Z0-9]{32}$/,
};
const kindReason = 'must be valid format starting with iqn, eui, or naa';

function checkName(errors: FieldError[], path: string, name: string): void {
  const form = forms[/^(?:iqn|eui|naa)/.exec(name)?.[0] ?? ''];
  if (!form) errors.push(invalid(path, name, kindReason));
  else if (!form.test(name)) errors.push(invalid(path, name, 'must be valid format'));
}

export function checkIscsi(errors: FieldError[], path: string, iscsi: IscsiVolume): void {
  const { targetPortal, iqn = '', lun = 0, chapAuthDiscovery, chapAuthSession, secretRef, initiatorName } = iscsi;
  checkRequired(errors, child(path, 'targetPortal'), targetPortal);
  if (iqn === '') errors.push(required(child(path, 'iqn'), ''));
  else checkName(errors, child(path, 'iqn'), iqn);
  checkRange(errors, child(path, 'lun'), lun, [0, 255]);
  if ((chapAuthDiscovery || chapAuthSession) && !secretRef) errors.push(required(child(path, 'secretRef'), ''));
  if (isSet(initiatorName)) checkName(errors, child(path, 'initiatorname'), initiatorName);
}
