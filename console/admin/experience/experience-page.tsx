import { Alert, Badge, Button, NativeSelect, Stack, TextInput } from '@mantine/core';
import { useMemo, useState } from 'react';
import { useAccess } from '../access.tsx';
import { part, usePrefetch, useQuery } from '../api.ts';
import {
  ExperienceOf,
  type ExperienceOfQuery,
  ExperiencePage,
  ExperienceVersions,
  SaveExperienceDraft,
} from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { type Project, useProject } from '../projects/project.tsx';
import { SecondaryButton } from '../ui/buttons.tsx';
import { ShowGraphql } from '../ui/code/show-graphql.tsx';
import { LoadError } from '../ui/feedback/errors.tsx';
import { PageSkeleton } from '../ui/feedback/skeleton.tsx';
import { ViewerNotice } from '../ui/feedback/viewer-notice.tsx';
import { optionsOf } from '../ui/forms/options.ts';
import { type Change, ChangesBar } from '../ui/forms/save-bar.tsx';
import { Page, Section } from '../ui/layout/page.tsx';
import { ColorField } from './color-field.tsx';
import { changesBetween, contentOf, inputOf, type Language, languages } from './content.ts';
import styles from './experience-page.module.css';
import { LogoField } from './logo-field.tsx';
import { Preview } from './preview.tsx';
import { MailTexts, PageTexts } from './texts-form.tsx';
import { type ExperienceDraft, useExperienceDraft } from './use-experience-draft.ts';
import { Versions } from './versions.tsx';

/** Branding of the hosted pages and mails of a project. */
export function Component() {
  const project = useProject();
  usePrefetch(ExperiencePage, { projectId: project.id }, [
    part(ExperienceOf, { projectId: project.id }),
    part(ExperienceVersions, { projectId: project.id }),
  ]);
  const { data, failure, reload } = useQuery(ExperienceOf, { projectId: project.id });
  if (!data)
    return failure ? <LoadError failure={failure} subject={t('experience')} retry={reload} /> : <PageSkeleton />;
  return <Experience project={project} data={data} />;
}

function Experience({ project, data }: { project: Project; data: ExperienceOfQuery }) {
  const { experience } = data;
  const { mayChange } = useAccess(project.id);
  const draft = useExperienceDraft(project.id, experience, mayChange);
  const [language, setLanguage] = useState<Language>('en');
  const published = useMemo(() => contentOf(experience.published), [experience.published]);
  const changes = changesBetween(published, draft.content);
  const form = { draft, experience, language };
  return (
    <Page
      title={t('Branding')}
      lead={t('Name, logo, color and texts of sign-in pages and mails. Changes are live once published.')}
      badges={<DraftBadge draft={draft} isLive={experience.publishedNumber > 0} changes={changes} />}
    >
      {!mayChange && <ViewerNotice project={project} />}
      {draft.failure?.code === 'conflict' && <Conflict />}
      <div className={styles.columns}>
        <Stack gap="lg">
          <NameAndColor draft={draft} project={project} />
          <Logos draft={draft} projectId={project.id} />
          <Section
            title={t('Texts and links')}
            lead={t('Empty fields use the default text. Links and footer fall back to English.')}
            actions={
              <NativeSelect
                aria-label={t('Language of the texts')}
                data={optionsOf(languages)}
                value={language}
                onChange={(event) => setLanguage(event.currentTarget.value as Language)}
              />
            }
          >
            <PageTexts {...form} />
          </Section>
          <Section
            title={t('Mails')}
            lead={t('Subject and first sentence. Codes, warnings and security notices cannot be changed.')}
          >
            <MailTexts {...form} />
          </Section>
        </Stack>
        <div className={styles.side}>
          <Preview
            projectId={project.id}
            app={data.clients.edges[0]?.node.name ?? project.name}
            version={draft.version + experience.publishedNumber * 1e6}
            language={language}
            onLanguage={setLanguage}
          />
        </div>
      </div>
      <Section flush title={t('Versions')} lead={t('Published versions. Reverting publishes a version again.')}>
        <Versions projectId={project.id} draft={draft} published={published} />
      </Section>
      {changes.length > 0 && <Unpublished projectId={project.id} draft={draft} changes={changes} />}
    </Page>
  );
}

function Conflict() {
  return (
    <Alert title={t('Another admin changed this draft')}>
      {t('Your latest edits are not saved.')}{' '}
      <SecondaryButton size="compact-sm" onClick={() => location.reload()}>
        {t('Load their draft')}
      </SecondaryButton>
    </Alert>
  );
}

function NameAndColor({ draft, project: { name } }: { draft: ExperienceDraft; project: Project }) {
  return (
    <Section title={t('Name and color')}>
      <TextInput
        label={t('Display name')}
        description={t('Beside the application’s name. Empty: the project’s, {name}.', { name })}
        placeholder={name}
        maxLength={100}
        {...draft.field('displayName')}
      />
      <ColorField {...draft.field('accent')} />
    </Section>
  );
}

function Logos({ draft, projectId }: { draft: ExperienceDraft; projectId: string }) {
  return (
    <Section
      title={t('Logo')}
      lead={t('PNG, JPEG or WebP, up to 256 KB. Shown 40 pixels high; twice that is sharp everywhere.')}
    >
      <LogoField
        projectId={projectId}
        label={t('Logo')}
        hint={t('Default: the first letter of the name.')}
        ground="light"
        {...draft.field('logoId')}
      />
      <LogoField
        projectId={projectId}
        label={t('Dark mode logo')}
        hint={t('Only needed if the logo is invisible on black.')}
        ground="dark"
        {...draft.field('darkLogoId')}
      />
    </Section>
  );
}

interface DraftProps {
  draft: ExperienceDraft;
  changes: readonly Change[];
}

function DraftBadge({ draft, isLive, changes }: DraftProps & { isLive: boolean }) {
  return (
    <span role="status">
      {draft.state === 'refused' ? (
        <Badge color="bad">{t('Draft not saved')}</Badge>
      ) : draft.state !== 'saved' ? (
        <Badge>{t('Saving the draft…')}</Badge>
      ) : changes.length > 0 ? (
        <Badge color="note">{t('Draft saved, not published')}</Badge>
      ) : (
        <Badge color={isLive ? 'good' : 'neutral'}>{isLive ? t('Live') : t('Default look')}</Badge>
      )}
    </span>
  );
}

/** The changes as an API request, and the bar that publishes them. */
function Unpublished({ projectId, draft, changes }: DraftProps & { projectId: string }) {
  const input = { projectId, expectedVersion: draft.version, ...inputOf(draft.content) };
  return (
    <>
      <div>
        <ShowGraphql operation={SaveExperienceDraft} variables={{ input }} />
      </div>
      {draft.mayChange && <PublishBar draft={draft} changes={changes} />}
    </>
  );
}

function PublishBar({ draft, changes }: DraftProps) {
  return (
    <ChangesBar
      label={t('Draft')}
      title={t('{count, plural, one {# change} other {# changes}} to publish', { count: changes.length })}
      changes={changes}
      failure={draft.failure?.field === undefined ? draft.failure : undefined}
      consequence={t('Live from the next page load. You can revert to the current version.')}
    >
      <SecondaryButton onClick={() => void draft.discard()} disabled={draft.busy}>
        {t('Discard draft')}
      </SecondaryButton>
      <Button onClick={() => void draft.publish()} loading={draft.busy} disabled={draft.state === 'refused'}>
        {t('Publish')}
      </Button>
    </ChangesBar>
  );
}
