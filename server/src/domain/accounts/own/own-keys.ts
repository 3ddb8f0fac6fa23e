import type { Database } from '../../kernel/database.ts';
import { keyIn } from '../../projects/tenant.ts';
import type { UserKey } from '../../tokens/keys/user-key.entity.ts';
import type { KeyedApi, NewUserKey, UserKeys } from '../../tokens/keys/user-keys.ts';
import { checkFresh, type OwnChange, underLock, type Visitor } from './own-change.ts';

type Deps = Parameters<typeof checkFresh>[0] &
  Parameters<typeof underLock>[0] & {
    db: Database;
    userKeys: Pick<UserKeys, 'apis' | 'create' | 'list' | 'organizations' | 'revoke'>;
  };

/** The API keys of a user, and what new ones can be for. */
export interface OwnKeys {
  keys: UserKey[];
  /** Those that allow keys. */
  apis: KeyedApi[];
  /** The organizations that a key can be for. */
  organizations: { id: string; name: string }[];
}

/** Users' changes to their own API keys (decisions/0423). All methods refuse `unauthenticated` if the session is not live. */
export class OwnUserKeys {
  constructor(private readonly deps: Deps) {}

  async state({ project, user }: Visitor): Promise<OwnKeys> {
    const { db, userKeys } = this.deps;
    const key = keyIn(project.id, user.id);
    const em = db.reader();
    const apis = await userKeys.apis(em, project.id);
    const organizations =
      apis.length > 0 && project.organizationsEnabled ? await userKeys.organizations(db.alone, key) : [];
    return { apis, organizations, keys: await userKeys.list(em, key) };
  }

  /** The token, shown once. Refuses `not-found`, `invalid`, and `forbidden` if the sign-in is not fresh. */
  add({ actor, visitor }: OwnChange, wanted: NewUserKey): Promise<string> {
    return underLock(this.deps, visitor, async (em, user, session) => {
      await checkFresh(this.deps, em, user, session);
      return (await this.deps.userKeys.create(em, user, wanted, actor)).token;
    });
  }

  /** Refuses `not-found`. */
  revoke({ actor, visitor }: OwnChange, id: string): Promise<void> {
    return underLock(this.deps, visitor, (em, user) =>
      this.deps.userKeys.revoke(em, keyIn(visitor.project.id, id), actor, user.id),
    );
  }
}
