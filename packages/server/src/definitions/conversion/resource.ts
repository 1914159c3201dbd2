/** One version of a custom resource whose versions are converted by a webhook. */

import { lazy } from '@hangar/core';
import type { CustomResourceDefinition, DefinitionVersion } from '@hangar/api/crd';
import type { ControlPlane } from '../../control-plane.ts';
import { adapt, CustomServedResource } from '../../resources/custom.ts';
import type { CompiledVersions } from '../../resources/custom.ts';
import type { Resource } from '../../resources/resource.ts';
import { conversionWebhook } from './conversion-webhook.ts';
import { StoredVersions } from './stored-versions.ts';
import { convertingView } from './view.ts';

export class ConvertedResource extends CustomServedResource {
  override readonly convert: NonNullable<Resource['convert']>;
  readonly roundTrip: NonNullable<Resource['roundTrip']>;
  readonly #view: () => ControlPlane;

  constructor(
    plane: ControlPlane,
    definition: CustomResourceDefinition,
    version: DefinitionVersion,
    versions: CompiledVersions,
  ) {
    super(definition, version, versions);
    const webhook = conversionWebhook(definition);
    const { spec } = definition;
    const stores = new StoredVersions({
      plane,
      webhook,
      stored: this.stored,
      apiVersion: this.apiVersion,
      storedApiVersion: `${spec.group}/${spec.versions.find((one) => one.storage)!.name}`,
      adapt: (object) => adapt(versions, object),
    });
    this.convert = async (at, object, apiVersion) => {
      const [converted] = await webhook.convert(at, [object], apiVersion);
      adapt(versions, converted!);
      return converted!;
    };
    this.roundTrip = (value) => stores.roundTrip(value);
    this.#view = lazy(() => convertingView(plane, this, stores));
  }

  /** Created on first use: the control plane may still be opening. */
  override get plane(): ControlPlane {
    return this.#view();
  }
}
