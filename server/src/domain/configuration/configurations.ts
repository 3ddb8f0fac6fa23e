import type { EntityManager } from '@mikro-orm/postgresql';
import type { Api } from '../apis/api.entity.ts';
import { ApiGrant } from '../apis/api-grant.entity.ts';
import { Client } from '../clients/client.entity.ts';
import type { ExperienceContent } from '../experience/content.ts';
import { Logo } from '../experience/logo.entity.ts';
import type { Actor } from '../kernel/actor.ts';
import { refuse } from '../kernel/problem.ts';
import { inProject } from '../kernel/scope.ts';
import { digest } from '../kernel/secret.ts';
import { query, sql } from '../kernel/sql.ts';
import { Project, passkeyPolicyOf } from '../projects/project.entity.ts';
import { mfaMethods } from '../projects/project.resource.ts';
import { keyIn } from '../projects/tenant.ts';
import { ClientRole } from '../roles/client-role.entity.ts';
import { ruleHoldersOf } from './access.ts';
import { type Difference, differencesOf } from './differences.ts';
import {
  claimValues,
  clientValues,
  documentKinds,
  type Kind,
  type Part,
  partsOf,
  readProject,
  type WantedProject,
} from './document.ts';
import { readProviders } from './organization-writer.ts';
import { organizationsOf } from './organizations.ts';
import { receiversOf } from './receivers.ts';
import type { Values } from './values.ts';
import { type ConfigurationDeps, type CreatedSecrets, Writer } from './writer.ts';

/** A project's settings as data: read, compared with a document, and written (decisions/0176). */
export class Configurations {
  constructor(private readonly deps: ConfigurationDeps) {}

  /** Validates a document. Refuses `invalid` with the path of the setting. */
  read(document: unknown): WantedProject {
    return readProject(document, this.deps);
  }

  /** The changes that {@link apply} would make. */
  async plan(wanted: WantedProject): Promise<Difference[]> {
    const project = await this.find(wanted.slug);
    if (!project) mustHaveName(wanted);
    return differencesOf(wanted, project ? await this.current(project, namedIn(wanted)) : []);
  }

  /**
   * Applies the wanted settings in one transaction; creates the project if it does not exist. Refuses like the admin
   * API, and then changes nothing.
   *
   * @param prune whether to delete resources that the complete lists lack
   * @param keep called with the secrets of created resources, before the commit: a throw changes nothing
   * @returns the changes
   */
  async apply(
    wanted: WantedProject,
    { prune, actor, keep }: { prune: boolean; actor: Actor; keep?: (secrets: readonly CreatedSecrets[]) => void },
  ): Promise<Difference[]> {
    const { db, projects } = this.deps;
    const known = await this.find(wanted.slug);
    await readProviders(this.deps, wanted, await this.plan(wanted));
    const write = (project: Project) =>
      db.together(async (em) => {
        // One apply at a time.
        await query(em, sql`select 1 from projects where id = ${project.id} for no key update`);
        const all = differencesOf(wanted, await this.current(project, namedIn(wanted)));
        const changes = all.filter(({ action }) => prune || action !== 'remove');
        const writer = new Writer(this.deps, { project, wanted, actor });
        for (const change of changes) await writer.write(change);
        keep?.(writer.secrets);
        return changes;
      });
    if (known) return inProject(known.id, () => write(known));
    return db.together(async () => {
      const settings = mustHaveName(wanted);
      const made = await projects.create({ ...settings, slug: wanted.slug }, actor);
      return [created(wanted, settings), ...(await write(made))];
    });
  }

  /** The whole project as {@link read} reads it, with the bytes of its logos. */
  async document(project: Project): Promise<Values> {
    const parts = await this.current(project);
    const valuesOf = (owner?: Kind, keys: readonly string[] = []): Values =>
      Object.fromEntries(
        partsOf(owner).map(({ kind, isList, isPartial }) => {
          const own = parts.filter((one) => one.kind === kind && keys.every((key, at) => one.keys[at] === key));
          const found = own.map((one) => ({ ...shown(one.values), ...valuesOf(kind, one.keys) }));
          const isLeftOut = isPartial && found.length === 0;
          return [kind, isList && !isLeftOut ? found : found[0]];
        }),
      );
    const values = valuesOf();
    return { slug: project.slug, ...values, branding: await this.withLogos(project, values['branding'] as Values) };
  }

  private async withLogos({ id }: Project, { logo, darkLogo, ...rest }: Values): Promise<Values> {
    const logos = await this.deps.db.reader().find(Logo, { project: id });
    const bytesOf = (wanted: unknown) => logos.find(({ bytes }) => digest(bytes) === wanted)?.bytes ?? null;
    return { ...rest, logo: bytesOf(logo), darkLogo: bytesOf(darkLogo) };
  }

  private find(slug: string): Promise<Project | null> {
    return this.deps.db.reader().findOne(Project, { slug });
  }

  /**
   * The settings of a project as parts. Built-in applications are left out.
   *
   * @param organizations slugs of those to be read; null: all, unless they are too many for a document
   */
  current(project: Project, organizations: readonly string[] | null = null): Promise<Part[]> {
    if (project.builtIn === 'console') {
      refuse({ code: 'forbidden', reason: 'the project of the admins is not configured by files' });
    }
    return inProject(project.id, async (): Promise<Part[]> => {
      const { db, customAttributes, apis, experiences } = this.deps;
      const em = db.reader();
      const row = await em.findOneOrFail(Project, project.id);
      // In the order of the validator.
      const offeredFactors = mfaMethods.filter((one) => row.offeredFactors.includes(one));
      const settings = { ...row, passkeyPolicy: passkeyPolicyOf(row), offeredFactors };
      const { attributes } = await customAttributes.current(project.id);
      const { published } = await experiences.state(em, project.id);
      const offered = await apis.list(em, project.id);
      return [
        part('settings', [], settings),
        part('sessionPolicy', [], settings),
        ...attributes.map((one) => part('customAttributes', [one.name], one)),
        ...offered.map((one) => part('apis', [one.identifier], one)),
        ...(await this.applications(em, project)),
        { kind: 'branding', keys: [], values: await brandingOf(em, published) },
        ...(await receiversOf(em, project.id, this.deps)).map(({ id, ...one }): Part => ({ ...one, keys: [id] })),
        ...(await organizationsOf(em, project.id, this.deps.connections, organizations)),
      ];
    });
  }

  private async applications(em: EntityManager, project: Project): Promise<Part[]> {
    const clients = await em.find(
      Client,
      { project: project.id, builtIn: null, introducedBy: null },
      { orderBy: { name: 'asc' } },
    );
    const twice = clients.find(({ name }, at) => clients[at + 1]?.name === name);
    if (twice) {
      const reason = `must be unique to be configured by files: two applications are called ${twice.name}`;
      refuse({ code: 'invalid', field: 'applications', reason });
    }
    const parts: Part[] = [];
    for (const client of clients) {
      const { id, name } = client;
      const owned = { project: project.id, client: [project.id, id] as [string, string] };
      const roles = await em.find(ClientRole, owned, { orderBy: { key: 'asc' } });
      const holders = await ruleHoldersOf(em, keyIn(project.id, id));
      const grants = await em.find(ApiGrant, owned, { populate: ['api'] });
      parts.push(
        { kind: 'applications', keys: [name], values: clientValues(client) },
        ...roles.map((role) => part('roles', [name, role.key], role)),
        {
          kind: 'claims',
          keys: [name],
          values: claimValues(await this.deps.claims.settings(em, keyIn(project.id, id))),
        },
        ...grants.map((grant): Part => accessPart(name, grant)),
        ...holders.map((holder): Part => ({ kind: 'accessRules', keys: [name, holder], values: { holder } })),
      );
    }
    return parts;
  }
}

/** The organizations that a document names. */
const namedIn = ({ parts }: WantedProject): string[] =>
  parts.flatMap(({ kind, keys: [slug] }) => (kind === 'organizations' && slug !== undefined ? [slug] : []));

/** Without the digest of its secret. */
function shown({ secret: _, ...values }: Values): Values {
  return values;
}

/** The settings of a new project. Refuses `invalid` without a name. */
function mustHaveName({ parts }: WantedProject): Values & { name: string } {
  const { name, ...settings } = parts.find(({ kind }) => kind === 'settings')?.values ?? {};
  if (typeof name === 'string') return { ...settings, name };
  refuse({ code: 'invalid', field: 'settings.name', reason: 'is required for a new project' });
}

function created(wanted: WantedProject, settings: Values): Difference {
  return { action: 'create', kind: 'settings', keys: [], before: {}, after: { slug: wanted.slug, ...settings } };
}

function part(kind: Kind, keys: string[], row: object): Part {
  const { names } = documentKinds[kind];
  return { kind, keys, values: Object.fromEntries(names.map((name) => [name, (row as Values)[name] ?? null])) };
}

function accessPart(application: string, { api, scopes, introspects }: ApiGrant): Part {
  const { identifier } = api.getEntity() as Api;
  const values = { identifier, scopes: [...scopes].sort(), introspects };
  return { kind: 'apiAccess', keys: [application, identifier], values };
}

async function brandingOf(em: EntityManager, content: ExperienceContent): Promise<Values> {
  const { displayName, accent, texts, logoId, darkLogoId } = content;
  const digestOf = async (id: string | null) => {
    const logo = id === null ? null : await em.findOne(Logo, { id });
    return logo && digest(logo.bytes);
  };
  return { displayName, accent, logo: await digestOf(logoId), darkLogo: await digestOf(darkLogoId), texts };
}
