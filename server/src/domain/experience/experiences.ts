import type { EntityManager } from '@mikro-orm/postgresql';
import type { Audit } from '../audit/audit.ts';
import type { Locale } from '../delivery/locale.ts';
import type { MailLook } from '../delivery/templates.ts';
import type { Actor } from '../kernel/actor.ts';
import { type Clock, secondsLater } from '../kernel/clock.ts';
import { type Database } from '../kernel/database.ts';
import { type Page, type PageRequest, pageOf } from '../kernel/page.ts';
import { found, refuse } from '../kernel/problem.ts';
import type { Random } from '../kernel/random.ts';
import { isUuid } from '../kernel/secret.ts';
import { execute, query, sql } from '../kernel/sql.ts';
import type { Limits } from '../limits/limits.ts';
import { Project } from '../projects/project.entity.ts';
import {
  brandIn,
  checkContent,
  type ExperienceContent,
  type ExperienceInput,
  partsOf,
  plainContent,
} from './content.ts';
import { ExperienceDraft } from './experience-draft.entity.ts';
import { ExperienceVersion } from './experience-version.entity.ts';
import { Logo } from './logo.entity.ts';
import { checkLogo } from './logo-file.ts';
import { checkLogoId, isUsedLogo } from './logo-use.ts';
import { mailLookOf } from './mail-look.ts';

/** Published and draft content of a project. */
export interface ExperienceState {
  projectId: string;
  published: ExperienceContent;
  /** 0: nothing was published, the default applies. */
  publishedNumber: number;
  publishedAt: Date | null;
  publishedBy: string | null;
  draft: ExperienceContent;
  draftVersion: number;
  draftUpdatedAt: Date | null;
  draftUpdatedBy: string | null;
}

/** The draft's version that the caller read; refuses `conflict` if it has changed since. */
export interface DraftOf {
  projectId: string;
  expectedVersion?: number | undefined;
}

/** Number of versions that can be restored. */
const versionsKept = 100;
/** An unused logo is deleted after this, since a draft may still use it until then. */
const strayLogoSeconds = 24 * 3600;
const uploads = { name: 'logo-upload', max: 60, windowSeconds: 3600 };

/** Branding of a project's pages and mails: a draft for its admins, and numbered published versions. */
export class Experiences {
  constructor(private readonly deps: { db: Database; clock: Clock; random: Random; audit: Audit; limits: Limits }) {}

  /** The live content. One indexed row, since every page reads it. */
  async published(em: EntityManager, projectId: string): Promise<ExperienceContent> {
    const latest = sql<{ content: ExperienceContent }>`
      select content from experience_versions where project_id = ${projectId} order by number desc limit 1`;
    const [row] = await query(em, latest, { prepare: 'experiences.published' });
    return row ? contentOf(row) : plainContent;
  }

  /** The branding of a project's mails in one language. */
  async mailLook(em: EntityManager, projectId: string, locale: Locale): Promise<MailLook> {
    const [row] = await query(
      em,
      sql<{ name: string; content: ExperienceContent | null }>`
        select name,
          (select content from experience_versions where project_id = p.id order by number desc limit 1) as content
        from projects p where id = ${projectId}`,
      { prepare: 'experiences.mail-look' },
    );
    return mailLookOf(brandIn(contentOf({ content: row?.content ?? plainContent }), row?.name ?? '', locale));
  }

  async state(em: EntityManager, projectId: string): Promise<ExperienceState> {
    const [latest, draft] = [await newest(em, projectId), await draftOf(em, projectId)];
    const published = latest ? contentOf(latest) : plainContent;
    return {
      projectId,
      published,
      publishedNumber: latest?.number ?? 0,
      publishedAt: latest?.publishedAt ?? null,
      publishedBy: latest?.publishedBy ?? null,
      draft: draft?.content ? contentOf({ content: draft.content }) : published,
      draftVersion: draft?.version ?? 0,
      draftUpdatedAt: draft?.updatedAt ?? null,
      draftUpdatedBy: draft?.updatedBy ?? null,
    };
  }

  /** Newest first. */
  versions(em: EntityManager, projectId: string, page: PageRequest): Promise<Page<ExperienceVersion>> {
    return pageOf(em, ExperienceVersion, { project: projectId }, page);
  }

  /** An earlier version's content. Refuses `not-found`. */
  async contentOf(em: EntityManager, projectId: string, number: number): Promise<ExperienceContent> {
    return contentOf(await versionOf(em, projectId, number));
  }

  /**
   * Saves the draft; users do not see it. Not audited, unlike publishing. Refuses `not-found`, `invalid`, `conflict`.
   */
  saveDraft(of: DraftOf, input: ExperienceInput, actor: Actor): Promise<ExperienceState> {
    const content = checkContent(input);
    return this.deps.db.transaction(async (em) => {
      const draft = await this.lockedDraft(em, of);
      await checkLogos(em, of.projectId, content);
      this.writeDraft(draft, content, actor);
      return this.flushed(em, of.projectId);
    });
  }

  /** Discards the draft. Refuses `not-found`, `conflict`. */
  discardDraft(of: DraftOf, actor: Actor): Promise<ExperienceState> {
    return this.deps.db.transaction(async (em) => {
      this.writeDraft(await this.lockedDraft(em, of), null, actor);
      return this.flushed(em, of.projectId);
    });
  }

  /** Publishes the draft. Does nothing if it equals the published version. Refuses `not-found`, `conflict`. */
  publish(of: DraftOf, actor: Actor): Promise<ExperienceState> {
    return this.deps.db.transaction(async (em) => {
      const draft = await this.lockedDraft(em, of);
      if (draft.content) await this.add(em, of.projectId, contentOf({ content: draft.content }), null, actor);
      this.writeDraft(draft, null, actor);
      return this.flushed(em, of.projectId);
    });
  }

  /** Publishes an earlier version as a new one; 0 is Latchkey's default. Keeps the draft. Refuses `not-found`. */
  revert(projectId: string, number: number, actor: Actor): Promise<ExperienceState> {
    return this.deps.db.transaction(async (em) => {
      await lockProject(em, projectId);
      const content = number === 0 ? plainContent : contentOf(await versionOf(em, projectId, number));
      await checkLogos(em, projectId, content);
      await this.add(em, projectId, content, number, actor);
      return this.flushed(em, projectId);
    });
  }

  /** Stores a logo for use in a draft. Refuses `not-found`, `invalid` (see `checkLogo`), `too-many`. */
  async addLogo(projectId: string, bytes: Uint8Array, actor: Actor): Promise<Logo> {
    const { type, width, height } = checkLogo(bytes);
    const outcome = await this.deps.db.transaction(async (em): Promise<{ wait: number } | { logo: Logo }> => {
      const spent = await this.deps.limits.spend(em, uploads, projectId);
      if (!spent.allowed) return { wait: spent.retryAfterSeconds };
      const project = await lockProject(em, projectId);
      const logo = em.create(Logo, {
        id: this.deps.random.id(),
        project: projectId,
        type,
        width,
        height,
        bytes: Buffer.from(bytes),
        createdAt: this.deps.clock.now(),
      });
      em.persist(logo);
      const detail = { type, width, height, bytes: bytes.length };
      this.deps.audit.record(em, { type: 'logo.uploaded', actor, projectId, subject: project, detail });
      return { logo };
    });
    if ('wait' in outcome) refuse({ code: 'too-many', retryAfterSeconds: outcome.wait });
    return outcome.logo;
  }

  /** A logo by its id, of any project: logos are public. */
  logo(em: EntityManager, id: string): Promise<Logo | null> {
    return isUuid(id) ? em.findOne(Logo, { id }) : Promise.resolve(null);
  }

  /** Deletes logos that no draft, version or application uses. */
  async sweep(em: EntityManager): Promise<void> {
    const until = secondsLater(this.deps.clock.now(), -strayLogoSeconds);
    await execute(em, sql`delete from logos l where l.created_at <= ${until} and not ${isUsedLogo}`);
  }

  private async add(
    em: EntityManager,
    projectId: string,
    content: ExperienceContent,
    revertedTo: number | null,
    actor: Actor,
  ): Promise<void> {
    const latest = await newest(em, projectId);
    const [before, after] = difference(latest ? contentOf(latest) : plainContent, content);
    if (Object.keys(after).length === 0) return;
    const number = (latest?.number ?? 0) + 1;
    em.persist(
      em.create(ExperienceVersion, {
        id: this.deps.random.id(),
        project: projectId,
        number,
        content,
        publishedAt: this.deps.clock.now(),
        publishedBy: actor.name ?? null,
        revertedTo,
      }),
    );
    this.deps.audit.record(em, {
      type: revertedTo === null ? 'experience.published' : 'experience.reverted',
      actor,
      projectId,
      subject: await subjectOf(em, projectId),
      detail: { version: number, ...(revertedTo === null ? {} : { revertedTo }), before, after },
    });
    await em.flush();
    await execute(
      em,
      sql`delete from experience_versions where project_id = ${projectId} and number <= ${number - versionsKept}`,
    );
  }

  private async lockedDraft(em: EntityManager, { projectId, expectedVersion }: DraftOf): Promise<ExperienceDraft> {
    await lockProject(em, projectId);
    const known = await draftOf(em, projectId);
    if (expectedVersion !== undefined && expectedVersion !== (known?.version ?? 0)) {
      refuse({ code: 'conflict', what: 'experience' });
    }
    if (known) return known;
    const draft = em.create(ExperienceDraft, {
      project: projectId,
      content: null,
      version: 0,
      updatedAt: this.deps.clock.now(),
      updatedBy: null,
    });
    em.persist(draft);
    return draft;
  }

  private writeDraft(draft: ExperienceDraft, content: ExperienceContent | null, actor: Actor): void {
    draft.content = content;
    draft.version += 1;
    draft.updatedAt = this.deps.clock.now();
    draft.updatedBy = actor.name ?? null;
  }

  private async flushed(em: EntityManager, projectId: string): Promise<ExperienceState> {
    await em.flush();
    return this.state(em, projectId);
  }
}

/** Serializes changes of one experience without blocking sign-ins, which only reference the project. */
async function lockProject(em: EntityManager, projectId: string): Promise<{ kind: string; id: string; name: string }> {
  const lock = sql<{ id: string; name: string }>`
    select id, name from projects where id = ${projectId} for no key update`;
  const [row] = isUuid(projectId) ? await query(em, lock) : [];
  return { kind: 'project', ...found(row, 'project') };
}

async function subjectOf(em: EntityManager, projectId: string) {
  const { name } = await em.findOneOrFail(Project, projectId);
  return { kind: 'project', id: projectId, name };
}

function newest(em: EntityManager, projectId: string): Promise<ExperienceVersion | null> {
  return em.findOne(ExperienceVersion, { project: projectId }, { orderBy: { number: 'desc' } });
}

function draftOf(em: EntityManager, projectId: string): Promise<ExperienceDraft | null> {
  return em.findOne(ExperienceDraft, { project: projectId });
}

async function versionOf(em: EntityManager, projectId: string, number: number): Promise<ExperienceVersion> {
  return found(await em.findOne(ExperienceVersion, { project: projectId, number }), 'experience');
}

/** Adds defaults for fields that are newer than the version. */
function contentOf({ content }: { content: object }): ExperienceContent {
  return { ...plainContent, ...content };
}

async function checkLogos(em: EntityManager, projectId: string, content: ExperienceContent): Promise<void> {
  for (const field of ['logoId', 'darkLogoId'] as const) await checkLogoId(em, projectId, field, content[field]);
}

/** The parts that differ, before and after. */
function difference(one: ExperienceContent, two: ExperienceContent) {
  const [before, after] = [partsOf(one), partsOf(two)];
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const differing = names.filter((name) => (before[name] ?? null) !== (after[name] ?? null));
  const pick = (parts: typeof before) => Object.fromEntries(differing.map((name) => [name, parts[name] ?? null]));
  return [pick(before), pick(after)] as const;
}
