/** The strategy of `autoscaling/v1` autoscalers: that of v2, between two conversions, as the server stores v2. */

import type { KubeObject } from '../object.ts';
import type { FieldError } from '../status/field-error.ts';
import type { ResetFields, Strategy, SubresourceName } from './contract.ts';
import { convert } from './conversion/index.ts';

const v1 = 'autoscaling/v1';
const v2 = 'autoscaling/v2';

export class OlderAutoscalerStrategy implements Strategy {
  readonly allowsCreateOnUpdate: boolean;
  readonly allowsUnconditionalUpdate: boolean;
  readonly #older: Strategy;
  readonly #newer: Strategy;

  constructor(older: Strategy, newer: Strategy) {
    this.allowsCreateOnUpdate = newer.allowsCreateOnUpdate;
    this.allowsUnconditionalUpdate = newer.allowsUnconditionalUpdate;
    this.#older = older;
    this.#newer = newer;
  }

  applyDefaults(object: KubeObject): void {
    this.#older.applyDefaults(object);
    changeAsNewer(object, () => {});
  }

  prepareForCreate(object: KubeObject): void {
    changeAsNewer(object, (newer) => {
      this.#newer.prepareForCreate(newer);
      this.#newer.applyDefaults(newer);
    });
  }

  prepareForUpdate(object: KubeObject, old: KubeObject, subresource: SubresourceName): void {
    changeAsNewer(object, (newer) => {
      this.#newer.prepareForUpdate(newer, convert(old, v2), subresource);
      this.#newer.applyDefaults(newer);
    });
  }

  validateCreate(object: KubeObject): FieldError[] {
    return this.#newer.validateCreate(convert(object, v2));
  }

  validateUpdate(object: KubeObject, old: KubeObject, subresource: SubresourceName): FieldError[] {
    return this.#newer.validateUpdate(convert(object, v2), convert(old, v2), subresource);
  }

  warningsOnCreate(object: KubeObject): readonly string[] {
    return this.#newer.warningsOnCreate(convert(object, v2));
  }

  warningsOnUpdate(object: KubeObject, old: KubeObject): readonly string[] {
    return this.#newer.warningsOnUpdate(convert(object, v2), convert(old, v2));
  }

  validateName(name: string, isPrefix: boolean): readonly string[] {
    return this.#newer.validateName(name, isPrefix);
  }

  resetFields(subresource: SubresourceName): ResetFields {
    return this.#newer.resetFields(subresource);
  }
}

function changeAsNewer(object: KubeObject, change: (newer: KubeObject) => void): void {
  const newer = convert(object, v2);
  change(newer);
  const changed = convert(newer, v1);
  for (const name of Object.keys(object)) if (!Object.hasOwn(changed, name)) delete object[name];
  Object.assign(object, changed);
}
