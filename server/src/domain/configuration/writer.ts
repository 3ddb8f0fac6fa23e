import type { AccessRules } from '../access/access-rules.ts';
import { Api } from '../apis/api.entity.ts';
import { ApiGrant } from '../apis/api-grant.entity.ts';
import type { Apis, NewApi } from '../apis/apis.ts';
import type { Claims } from '../claims/claims.ts';
import { Client } from '../clients/client.entity.ts';
import type { Clients } from '../clients/clients.ts';
import type { Domains } from '../domains/domains.ts';
import type { Experiences } from '../experience/experiences.ts';
import { Logo } from '../experience/logo.entity.ts';
import type { Actor } from '../kernel/actor.ts';
import type { Database } from '../kernel/database.ts';
import { found, Refusal, refuse } from '../kernel/problem.ts';
import { digest } from '../kernel/secret.ts';
import type { Project } from '../projects/project.entity.ts';
import type { Projects } from '../projects/projects.ts';
import { keyIn, type TenantKey } from '../projects/tenant.ts';
import { ClientRole } from '../roles/client-role.entity.ts';
import type { Roles } from '../roles/roles.ts';
import type { LogStreams } from '../streams/log-streams.ts';
import type { CustomAttributes } from '../users/custom/custom-attributes.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';
import { writeAccessRule } from './access.ts';
import type { Difference } from './differences.ts';
import type { Kind, WantedProject } from './document.ts';
import { OrganizationWriter, type OrganizationWriterDeps } from './organization-writer.ts';
import { ReceiverWriter } from './receiver-writer.ts';
import type { Values } from './values.ts';

export interface ConfigurationDeps extends OrganizationWriterDeps {
  db: Database;
  projects: Projects;
  clients: Clients;
  roles: Roles;
  accessRules: AccessRules;
  claims: Claims;
  apis: Apis;
  customAttributes: CustomAttributes;
  experiences: Experiences;
  domains: Domains;
  webhooks: Webhooks;
  logStreams: LogStreams;
  issuer: string;
}

/** Secrets of a created resource, shown once. */
export type CreatedSecrets = ApplicationSecrets | { webhook: string; signingSecret: string };

interface ApplicationSecrets {
  application: string;
  clientId: string;
  publishableKey: string;
  secretKey: string | null;
  clientSecret: string | null;
}

interface Target {
  project: Project;
  wanted: WantedProject;
  actor: Actor;
}

/** Writes differences with the services of the admin API. */
export class Writer {
  readonly secrets: CreatedSecrets[] = [];

  constructor(
    private readonly deps: ConfigurationDeps,
    private readonly target: Target,
  ) {}

  async write(difference: Difference): Promise<void> {
    const { kind, keys } = difference;
    try {
      await this.writers[kind](difference);
    } catch (error) {
      if (!(error instanceof Refusal) || error.problem.code !== 'invalid') throw error;
      const { field, reason } = error.problem;
      refuse({ code: 'invalid', field: [kind, ...keys, field].join('.'), reason });
    }
  }

  private readonly writers: Record<Kind, (difference: Difference) => Promise<unknown>> = {
    settings: ({ after }) => this.deps.projects.update(this.projectId, after, this.target.actor),
    sessionPolicy: ({ after }) => this.deps.projects.updateSessionPolicy(this.projectId, after, this.target.actor),
    customAttributes: ({ action, keys: [name = ''], after }) => {
      const { customAttributes } = this.deps;
      const { projectId, target } = this;
      if (action === 'remove') return customAttributes.delete(projectId, name, target.actor);
      if (action === 'update') return customAttributes.update(projectId, name, after, target.actor);
      return customAttributes.create(projectId, after as never, target.actor);
    },
    apis: async ({ action, keys: [identifier = ''], after }) => {
      const { apis } = this.deps;
      const { projectId, target } = this;
      if (action === 'create') return apis.create({ ...(after as unknown as NewApi), projectId }, target.actor);
      const key = await this.apiKey(identifier);
      if (action === 'remove') return apis.delete(key, target.actor);
      return apis.update(key, after, target.actor);
    },
    applications: (difference) => this.application(difference),
    roles: async ({ action, keys: [application = '', key = ''], after }) => {
      const { roles } = this.deps;
      const client = await this.clientKey(application);
      if (action === 'create') return roles.create(client, after as never, this.target.actor);
      const where = { project: this.projectId, client: [this.projectId, client.id] as [string, string], key };
      const role = found(await this.deps.db.reader().findOne(ClientRole, where), 'role');
      if (action === 'remove') return roles.delete(keyIn(this.projectId, role.id), this.target.actor);
      return roles.update(keyIn(this.projectId, role.id), after, this.target.actor);
    },
    claims: async ({ keys: [application = ''], after }) =>
      this.deps.claims.update(await this.clientKey(application), after, this.target.actor),
    apiAccess: async ({ action, keys: [application = '', identifier = ''], after }) => {
      const client = await this.clientKey(application);
      const api = await this.apiKey(identifier);
      const known = action === 'update' ? await this.accessOf(client.id, api.id) : null;
      const { scopes = known?.scopes ?? [], introspects = known?.introspects ?? false } = after as Partial<ApiGrant>;
      return this.deps.apis.grant(client, api.id, { scopes, introspects }, this.target.actor);
    },
    accessRules: async ({ action, keys: [application = '', holder] }) => {
      const { db, accessRules } = this.deps;
      const target = { rules: accessRules, client: await this.clientKey(application), actor: this.target.actor };
      return writeAccessRule(db.reader(), target, { holder, isGiven: action === 'create' });
    },
    branding: (difference) => this.branding(difference),
    domains: (difference) => this.receivers.domain(difference),
    webhooks: async (difference) => {
      const made = await this.receivers.webhook(difference);
      if (made) this.secrets.push({ webhook: made.webhook.url, signingSecret: made.secret });
    },
    logStreams: (difference) => this.receivers.logStream(difference),
    organizationRoles: (difference) => this.organizations.organizationRoles(difference),
    organizations: (difference) => this.organizations.organizations(difference),
    mailDomains: (difference) => this.organizations.mailDomains(difference),
    connections: (difference) => this.organizations.connections(difference),
  };

  private get organizations(): OrganizationWriter['writers'] {
    const { project, wanted, actor } = this.target;
    return new OrganizationWriter(this.deps, { projectId: project.id, wanted, actor }).writers;
  }

  private get receivers(): ReceiverWriter {
    const { project, wanted, actor } = this.target;
    return new ReceiverWriter(this.deps, { projectId: project.id, wanted, actor });
  }

  private get projectId(): string {
    return this.target.project.id;
  }

  private async application({ action, keys: [name = ''], after }: Difference): Promise<void> {
    const { clients } = this.deps;
    const { projectId, target } = this;
    if (action === 'remove') return clients.delete(await this.clientKey(name), target.actor);
    if (action === 'update') return void (await clients.update(await this.clientKey(name), after, target.actor));
    const { client, ...secrets } = await clients.create({ ...after, name, projectId }, target.actor);
    this.secrets.push({ application: name, clientId: client.id, ...secrets });
  }

  /** Publishes; an open draft of the console stays. */
  private async branding({ after }: Difference): Promise<void> {
    const { db, experiences } = this.deps;
    const { projectId, target } = this;
    const { published, draft, draftUpdatedAt } = await experiences.state(db.reader(), projectId);
    const input = ({ texts, ...rest }: typeof published) => ({ ...rest, texts: entriesOf(texts) });
    const { logo, darkLogo, texts, ...rest } = after as Values & { texts?: typeof published.texts };
    const next = {
      ...input(published),
      ...rest,
      ...(texts !== undefined && { texts: entriesOf(texts) }),
      ...(logo !== undefined && { logoId: await this.logoId(logo) }),
      ...(darkLogo !== undefined && { darkLogoId: await this.logoId(darkLogo) }),
    };
    await experiences.saveDraft({ projectId }, next, target.actor);
    await experiences.publish({ projectId }, target.actor);
    const isOpen = draftUpdatedAt !== null && JSON.stringify(draft) !== JSON.stringify(published);
    if (isOpen) await experiences.saveDraft({ projectId }, input(draft), target.actor);
  }

  /** The logo with this digest: the project's own, or a new one. */
  private async logoId(wanted: unknown): Promise<string | null> {
    if (typeof wanted !== 'string') return null;
    const { db, experiences } = this.deps;
    const known = await db.reader().find(Logo, { project: this.projectId });
    const same = known.find(({ bytes }) => digest(bytes) === wanted);
    if (same) return same.id;
    const bytes = this.target.wanted.files.get(wanted) ?? new Uint8Array();
    return (await experiences.addLogo(this.projectId, bytes, this.target.actor)).id;
  }

  private accessOf(client: string, api: string): Promise<ApiGrant | null> {
    const id = this.projectId;
    return this.deps.db.reader().findOne(ApiGrant, { project: id, client: [id, client], api: [id, api] });
  }

  private async clientKey(name: string): Promise<TenantKey> {
    const client = await this.deps.db
      .reader()
      .findOne(Client, { project: this.projectId, name, builtIn: null, introducedBy: null });
    return keyIn(this.projectId, found(client, 'client').id);
  }

  private async apiKey(identifier: string): Promise<TenantKey> {
    const api = await this.deps.db.reader().findOne(Api, { project: this.projectId, identifier });
    return keyIn(this.projectId, found(api, 'api').id);
  }
}

function entriesOf(texts: Record<string, Record<string, string> | undefined>) {
  return Object.entries(texts).flatMap(([locale, ofLocale]) =>
    Object.entries(ofLocale ?? {}).map(([key, text]) => ({ locale, key, text })),
  );
}
