import { systemRandom } from '../src/adapters/system/random.ts';
import { Client } from '../src/domain/clients/client.entity.ts';
import { system } from '../src/domain/kernel/actor.ts';
import type { Project } from '../src/domain/projects/project.entity.ts';
import type { Session } from '../src/domain/sessions/session.entity.ts';
import { User } from '../src/domain/users/user.entity.ts';
import type { Services } from '../src/services.ts';
import type { AdjustableClock } from './clock.ts';

export const redirectUri = 'https://app.example.com/callback';
export const postLogoutRedirectUri = 'https://app.example.com/bye';

/** Creates rows with defaults that a test can override. */
export class Factories {
  private readonly services: Services;
  private readonly clock: AdjustableClock;

  constructor(services: Services, clock: AdjustableClock) {
    this.services = services;
    this.clock = clock;
  }

  project(settings: Parameters<Services['projects']['create']>[0] = { name: 'Example' }): Promise<Project> {
    return this.services.projects.create(settings, system);
  }

  /** A public client with one redirect URI, one post-logout redirect URI and a secret key. */
  async client(project: Project, settings: Partial<Parameters<Services['clients']['create']>[0]> = {}) {
    const { secretKey, ...created } = await this.services.clients.create(
      {
        projectId: project.id,
        name: 'App',
        redirectUris: [redirectUri],
        postLogoutRedirectUris: [postLogoutRedirectUri],
        ...settings,
      },
      system,
    );
    return { ...created, secretKey: String(secretKey) };
  }

  user(project: Project, values: Partial<User> = {}): Promise<User> {
    const name = `${systemRandom.id()}@example.com`;
    const now = this.clock.now();
    return this.services.db.transaction(async (em) => {
      const user = em.create(User, {
        id: systemRandom.id(),
        project: project.id,
        userName: name,
        userNameKey: name,
        email: name,
        emailKey: name,
        attributes: {},
        createdAt: now,
        updatedAt: now,
        ...values,
      });
      return user;
    });
  }

  /** An active session, as after a sign-in; the secret is the cookie value. */
  session(
    project: Project,
    user: User,
    amr = ['swk'],
    currentSecret?: string,
    proof: 'person' | 'device-key' = 'person',
  ): Promise<{ session: Session; secret: string }> {
    const authTime = this.clock.now();
    const freshAt = proof === 'person' ? authTime : undefined;
    const signIn = { project, userId: user.id, amr, authTime, freshAt, currentSecret, actor: system };
    return this.services.db.transaction((em) => this.services.sessions.signIn(em, signIn));
  }

  /** Changes a client directly in the database. */
  disable(client: Client): Promise<void> {
    return this.services.db.transaction(async (em) => {
      (await em.findOneOrFail(Client, { id: client.id })).disabledAt = this.clock.now();
    });
  }
}
