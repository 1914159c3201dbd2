/**
 * Secrets of type kubernetes.io/service-account-token: filled with a token of the account in their annotation, the CA and the namespace;
 * filled again when a field is removed or the CA changes; deleted with the account. When such a secret is deleted, the reference of the
 * account to it is removed.
 *
 *     secret delivered ────────────────────────┐
 *     account deleted or created: its secrets ─┴──▶ request ──▶ delete, or fill
 */

import { find } from '@hangar/client';
import { Secret, ServiceAccount } from '@hangar/client/kinds/core-v1';
import type { Request } from '@hangar/runtime';
import type { Ask, Change, ControllerContext, ControllerWorld, FleetController, ResourceId } from '../contract.ts';
import { AuthorityNotes, isAuthorityCheck } from '../shared/authority-notes.ts';
import { ClusterNotes } from '../shared/cluster-notes.ts';
import { unlessOvertaken } from '../shared/refusals.ts';
import { hasText, isCore } from '../shared/resources.ts';
import { filled } from './filled.ts';
import { removeReference } from './references.ts';
import { SecretIndex } from './secret-index.ts';
import { accountOf, isComplete, tokenType } from './token-secret.ts';

/** Objects of the initial delivery. */
interface Told {
  /** `namespace/name/uid` of accounts. */
  readonly accounts: Set<string>;
  /** Secrets with their account. */
  readonly secrets: { readonly namespace: string; readonly name: string; readonly account: string }[];
}

/** Marks a request for a reference to a deleted secret. It is not valid in the name of a secret. */
const referenceMark = '#';

export class TokenSecretsController implements FleetController {
  readonly name = 'token-secrets';
  readonly isHome = true;
  readonly #keysOf: ControllerWorld['keysOf'];
  readonly #index = new SecretIndex();
  readonly #told = new ClusterNotes<Told>(() => ({ accounts: new Set(), secrets: [] }));
  readonly #authorities: AuthorityNotes;

  constructor({ keysOf }: Pick<ControllerWorld, 'keysOf'>) {
    this.#keysOf = keysOf;
    this.#authorities = new AuthorityNotes(keysOf);
  }

  wants(id: ResourceId): boolean {
    return isCore(id, 'secrets') || isCore(id, 'serviceaccounts');
  }

  changed(change: Change, ask: Ask): void {
    if (change.resource === 'serviceaccounts') this.#accountChanged(change, ask);
    else if (change.type === 'delete') this.#secretDeleted(change, ask);
    else if (hasText(change.bytes, tokenType)) this.#secretChanged(change, ask);
  }

  #accountChanged(change: Change, ask: Ask): void {
    const { cluster, namespace, name } = change;
    if (change.isInitial && change.type === 'put') {
      this.#told.of(cluster).accounts.add(`${namespace}/${name}/${change.object().metadata.uid}`);
      return;
    }
    for (const secret of this.#index.of(cluster, namespace, name)) ask({ cluster, namespace, name: secret });
  }

  #secretChanged(change: Change, ask: Ask): void {
    const { cluster, namespace, name } = change;
    const secret = change.object() as unknown as Secret;
    const account = accountOf(secret);
    if (secret.type !== tokenType || !account) return;
    this.#index.put(cluster, { namespace, name }, account.name);
    if (!change.isInitial || !isComplete(secret)) {
      ask({ cluster, namespace, name });
      return;
    }
    this.#told.of(cluster).secrets.push({ namespace, name, account: `${namespace}/${account.name}/${account.uid}` });
    const authority = Buffer.from(secret.data?.['ca.crt'] ?? '', 'base64').toString();
    this.#authorities.note(cluster, { namespace, name }, authority);
  }

  #secretDeleted({ cluster, namespace, name }: Change, ask: Ask): void {
    const account = this.#index.delete(cluster, { namespace, name });
    if (account !== undefined) ask({ cluster, namespace, name: `${account}${referenceMark}${name}` });
  }

  synced(ask: Ask): void {
    for (const [cluster, told] of this.#told.takeAll()) askForOrphans(cluster, told, ask);
    this.#authorities.askAll(ask);
  }

  clusterTold(cluster: string, ask: Ask): void {
    const told = this.#told.take(cluster);
    if (told) askForOrphans(cluster, told, ask);
    this.#authorities.askFor(cluster, ask);
  }

  reset(): void {
    this.#told.takeAll();
    this.#index.clear();
    this.#authorities.clear();
  }

  clusterGone(cluster: string): void {
    this.#told.take(cluster);
    this.#index.forget(cluster);
    this.#authorities.forget(cluster);
  }

  async reconcile(request: Request, context: ControllerContext): Promise<void> {
    if (isAuthorityCheck(request)) return this.#authorities.check(request.cluster, context.ask);
    const [account, gone] = request.name.split(referenceMark);
    if (gone !== undefined) return removeReference(request.namespace!, { account: account!, secret: gone }, context);
    return this.#reconcileSecret(request, context);
  }

  async #reconcileSecret({ cluster, namespace, name }: Request, { client, signal }: ControllerContext): Promise<void> {
    const secret = await find(client, Secret, { namespace, name }, { signal });
    const wanted = secret?.type === tokenType ? accountOf(secret) : undefined;
    if (!secret || !wanted || secret.metadata.deletionTimestamp !== undefined) return;
    const account = await find(client, ServiceAccount, { namespace, name: wanted.name }, { signal });
    if (!account || (wanted.uid !== '' && wanted.uid !== account.metadata.uid)) {
      const { uid } = secret.metadata;
      await unlessOvertaken(client.delete(Secret, { namespace, name }, { preconditions: { uid: uid! }, signal }));
      return;
    }
    const revised = filled(secret, account, await this.#keysOf(cluster));
    if (revised) await unlessOvertaken(client.update(Secret, revised, { signal }));
  }
}

/** Accounts of the base layer are not delivered: the reconcile reads them from the server. */
function askForOrphans(cluster: string, { accounts, secrets }: Told, ask: Ask): void {
  for (const { namespace, name, account } of secrets) if (!accounts.has(account)) ask({ cluster, namespace, name });
}
