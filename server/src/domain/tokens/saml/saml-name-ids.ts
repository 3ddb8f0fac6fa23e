import type { Claims } from '../../claims/claims.ts';
import type { NameIdKind } from '../../clients/saml/saml.resource.ts';
import { digest } from '../../kernel/secret.ts';
import type { Executing } from '../../kernel/sql.ts';
import type { Vault } from '../../keys/vault.ts';
import { keyIn } from '../../projects/tenant.ts';
import { nameIdFormats } from '../../saml/names.ts';

/** Scopes of a SAML application. They determine its attributes, in addition to mappings. */
export const samlScope = 'openid profile email groups roles';

export interface NameId {
  format: string;
  value: string;
}

/** A SAML application, as far as NameIDs depend on it. */
export interface NameIdClient {
  id: string;
  project: { id: string };
  samlSalt?: string | null | undefined;
  samlNameIdAttribute?: string | null | undefined;
}

/** A user in a session, as far as NameIDs depend on them. */
export interface NameIdSource {
  userId: string;
  sub: string;
  email: string | null;
  sessionId: string | null;
}

const formats: Record<NameIdKind, string> = {
  persistent: nameIdFormats.persistent,
  pairwise: nameIdFormats.persistent,
  email: nameIdFormats.email,
  transient: nameIdFormats.transient,
  attribute: nameIdFormats.unspecified,
};

/** NameIDs of users at SAML applications. */
export class SamlNameIds {
  constructor(
    private readonly deps: {
      vault: Pick<Vault, 'mac'>;
      claims: Pick<Claims, 'forUserInfo' | 'evenOfInactive'>;
      db: ConstructorParameters<typeof Claims>[0]['db'];
    },
  ) {}

  /** Null: the user has no such value. */
  of(kind: NameIdKind, client: NameIdClient, source: NameIdSource): Promise<NameId | null> {
    return this.made(kind, client, source, () => this.claims(client, source.userId));
  }

  /** Joins: like {@link of}, also for users who have just been deactivated. */
  ofLogout(on: Executing, kind: NameIdKind, client: NameIdClient, source: NameIdSource): Promise<NameId | null> {
    return this.made(kind, client, source, () => this.deps.claims.evenOfInactive(on, asked(client, source.userId)));
  }

  /** The claims that are the attributes of a user. */
  async claims(client: NameIdClient, userId: string): Promise<Record<string, unknown>> {
    return (await this.deps.claims.forUserInfo(this.deps.db.alone, asked(client, userId))) ?? {};
  }

  private async made(
    kind: NameIdKind,
    client: NameIdClient,
    source: NameIdSource,
    claims: () => Promise<Record<string, unknown>>,
  ): Promise<NameId | null> {
    const value = await this.value(kind, client, source, claims);
    return value === null ? null : { format: formats[kind], value };
  }

  private async value(
    kind: NameIdKind,
    client: NameIdClient,
    source: NameIdSource,
    claims: () => Promise<Record<string, unknown>>,
  ): Promise<string | null> {
    const { sub, email, sessionId } = source;
    switch (kind) {
      case 'persistent':
        return sub;
      case 'pairwise':
        return client.samlSalt == null ? null : digest(`${client.samlSalt} ${sub}`);
      case 'email':
        return email;
      case 'transient':
        // The same for the whole session, so that the application can log it out.
        return `_${this.deps.vault.mac('saml-name-id', `${client.id} ${sessionId}`, sub)}`;
      case 'attribute':
        return textOf((await claims())[client.samlNameIdAttribute ?? '']);
    }
  }
}

function asked({ project, id }: NameIdClient, userId: string) {
  return { client: keyIn(project.id, id), userId, scopes: samlScope.split(' ') };
}

/** As service providers accept it. */
function textOf(claim: unknown): string | null {
  const [first] = [claim].flat();
  const isUsable = typeof first === 'string' && first !== '' && first.length <= 256 && !/\p{Cc}/u.test(first);
  return isUsable ? first : null;
}
