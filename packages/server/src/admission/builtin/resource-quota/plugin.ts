/**
 * Charges the quotas of a namespace before an object that is created or grows is stored. The quota controller recalculates usage, which
 * releases the charges of deleted objects and of writes that failed after they were charged.
 */

import type { ControlPlane } from '../../../control-plane.ts';
import { Followed } from '../../../objects/followed.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../../admission.ts';
import { evaluatorFor } from './evaluator-for.ts';
import { Ledger, quotaResource } from './ledger.ts';

export function resourceQuota(plane: ControlPlane): AdmissionPlugin {
  /** Namespaces with quotas. Writes to all other namespaces cost one lookup. */
  let limited: ReadonlySet<string> | undefined;
  const followed = new Followed(
    plane,
    quotaResource,
    ({ metadata }) => metadata.namespace!,
    () => (limited = undefined),
  );
  const ledgers = new Map<string, Ledger>();
  const charged = new WeakSet<object>();

  const isLimited = (namespace: string): boolean | undefined => {
    const { all } = followed;
    if (!all) return undefined;
    if (!limited) {
      limited = new Set(all.values());
      for (const known of ledgers.keys()) if (!limited.has(known)) ledgers.delete(known);
    }
    return limited.has(namespace);
  };

  const charge = async (request: AdmissionRequest): Promise<void> => {
    const { namespace } = request;
    if (isLimited(namespace) === undefined) await followed.ready();
    if (!isLimited(namespace)) return;
    let ledger = ledgers.get(namespace);
    if (!ledger) ledgers.set(namespace, (ledger = new Ledger(plane, namespace)));
    await ledger.charge(request);
    if (request.operation === 'CREATE' && !request.isDryRun) charged.add(request.attemptOf);
  };

  return {
    name: 'ResourceQuota',
    validate(request) {
      const { namespace, operation, resource } = request;
      if (namespace === '' || (operation !== 'CREATE' && operation !== 'UPDATE')) return undefined;
      if (isLimited(namespace) === false || !evaluatorFor(resource)?.handles(request)) return undefined;
      // The request was charged in an earlier attempt: only its name or IP address was already taken.
      if (operation === 'CREATE' && charged.has(request.attemptOf)) return undefined;
      return charge(request);
    },
    close: () => followed.close(),
  };
}
