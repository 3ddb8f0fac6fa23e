import type { EntityManager } from '@mikro-orm/postgresql';
import type { Audit } from '../audit/audit.ts';
import { Client } from '../clients/client.entity.ts';
import { startOf } from '../clients/redirect-uri.ts';
import type { Delivery } from '../delivery/delivery.ts';
import { chooseLocale } from '../delivery/locale.ts';
import type { Actor } from '../kernel/actor.ts';
import type { Clock } from '../kernel/clock.ts';
import { type Database, pastDeadlocks } from '../kernel/database.ts';
import { found, refuse } from '../kernel/problem.ts';
import type { Issuers } from '../projects/issuers.ts';
import { Project } from '../projects/project.entity.ts';
import { existing, locked, type TenantKey } from '../projects/tenant.ts';
import { SignUpRequest } from '../signups/sign-up-request.entity.ts';
import { eventOf, type SignUpRequests } from '../signups/sign-up-requests.ts';
import type { User } from '../users/user.entity.ts';
import type { Users } from '../users/users.ts';

/** Decides requests to sign up on behalf of an admin (decisions/0351). Each method is one transaction. */
export class SignUpApprovals {
  constructor(
    private readonly deps: {
      db: Database;
      clock: Clock;
      audit: Audit;
      users: Pick<Users, 'findByAddress' | 'signUp'>;
      signUpRequests: Pick<SignUpRequests, 'remove'>;
      delivery: Pick<Delivery, 'enqueueNotices'>;
      issuers: Pick<Issuers, 'linkOrigin'>;
    },
  ) {}

  /**
   * Creates the user of a request, also of a declined one, and sends a mail with a link to the application. If an account has the
   * address meanwhile, that one. Refuses `not-found`; and `taken` for an address that is reserved for an inactive user, which
   * leaves the request.
   */
  async approve(key: TenantKey, actor: Actor): Promise<User> {
    // Before the lock: a second connection that waits behind it could be the last.
    const origin = await this.deps.issuers.linkOrigin(key.project.id);
    return this.decide(key, async (em, request) => {
      const { id, address } = request;
      const { audit, signUpRequests, users } = this.deps;
      const projectId = key.project.id;
      await signUpRequests.remove(em, key);
      audit.record(em, eventOf('user.approval_given', projectId, id, address, actor));
      const present = await users.findByAddress(em, projectId, address);
      if (present) return present;
      const user = await users.signUp(em, projectId, address, actor);
      await this.announce(em, request, user, origin);
      return user;
    });
  }

  /** Declines a request: until it expires, the address cannot ask again. Refuses `not-found`, also for a declined one. */
  decline(key: TenantKey, actor: Actor): Promise<SignUpRequest> {
    return this.decide(key, async (em, request) => {
      if (request.state !== 'pending') refuse({ code: 'not-found', what: 'sign-up-request' });
      request.state = 'declined';
      this.deps.audit.record(em, eventOf('user.approval_refused', key.project.id, request.id, request.address, actor));
      return request;
    });
  }

  private decide<T>(key: TenantKey, work: (em: EntityManager, request: SignUpRequest) => Promise<T>): Promise<T> {
    const { clock, db } = this.deps;
    return pastDeadlocks(() =>
      db.transaction(async (em) => {
        const request = await existing(em, SignUpRequest, key, 'sign-up-request', locked);
        if (request.expiresAt <= clock.now()) refuse({ code: 'not-found', what: 'sign-up-request' });
        return work(em, request);
      }),
    );
  }

  /** The mail leads back to the application, if it has a start. */
  private async announce(em: EntityManager, request: SignUpRequest, user: User, origin: string): Promise<void> {
    const { clientId, locale } = request;
    const projectId = request.project.id;
    const { clock, delivery } = this.deps;
    const { name: app } = found(await em.findOne(Project, projectId), 'project');
    const to = user.email ?? user.userName;
    const query = new URLSearchParams({ project: projectId, login_hint: to });
    const client = await em.findOne(Client, { project: projectId, id: clientId });
    const url = (client && startOf(client)) ?? `${origin}/account?${query}`;
    const language = chooseLocale(locale, undefined);
    const content = { template: 'sign-up-approved' as const, app, url, at: clock.now().toISOString() };
    const context = { account: user.id, mailbox: to };
    await delivery.enqueueNotices(em, [
      { projectId, channel: 'mail' as const, to, locale: language, content, context },
    ]);
  }
}
